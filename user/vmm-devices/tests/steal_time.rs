//! The time that tasks take from the guest, as it is told.

mod common;

use common::Ram;
use pillion_vmm_devices::{GeneralProtection, guest_memory::GuestMemory as _, steal_time::StealTime};
use proptest::prelude::*;

const HZ: u64 = 2_000_000_000;
const AT: u64 = 0x1_0040;

fn ram() -> Ram {
    Ram::new(0x1_0000, 0x1000)
}

/// Nanoseconds and version.
fn shown(memory: &Ram) -> (u64, u32) {
    let (mut time, mut version) = ([0; 8], [0; 4]);
    assert!(memory.read(AT, &mut time) && memory.read(AT + 8, &mut version));
    (u64::from_le_bytes(time), u32::from_le_bytes(version))
}

#[test]
fn the_guest_sees_what_it_lost_since_it_asked() {
    let (mut steal, mut memory) = (StealTime::default(), ram());
    steal.tell(5_000_000, HZ, &mut memory);
    assert_eq!((steal.next(HZ), shown(&memory)), (0, (0, 0)), "it is off");
    steal.write(AT | 1, &mut memory).unwrap();
    assert_eq!((steal.read(), steal.next(HZ)), (AT | 1, 1), "the kernel says at once where it begins");
    steal.tell(7_000_000, HZ, &mut memory);
    assert_eq!((shown(&memory).0, steal.next(HZ)), (0, 9_000_000));
    steal.tell(0, HZ, &mut memory);
    assert_eq!((shown(&memory).0, steal.next(HZ)), (0, 9_000_000), "the kernel said nothing");
    steal.tell(10_000_000, HZ, &mut memory);
    assert_eq!((shown(&memory).0, steal.next(HZ)), (1_500_000, 12_000_000));
    steal.tell(9_000_000, HZ, &mut memory);
    assert_eq!((shown(&memory).0, steal.next(HZ)), (1_500_000, 12_000_000), "time lost is never given back");
    assert_eq!(shown(&memory).1 & 1, 0);
}

#[test]
fn what_the_guest_left_there_grows() {
    let (mut steal, mut memory) = (StealTime::default(), ram());
    memory.put(AT, &500_u64.to_le_bytes());
    memory.put(AT + 8, &7_u32.to_le_bytes());
    for life in 1..3 {
        steal.write(AT | 1, &mut memory).unwrap();
        steal.tell(100, HZ, &mut memory);
        steal.tell(300, HZ, &mut memory);
        let (time, version) = shown(&memory);
        assert_eq!((time, version & 1), (500 + life * 100, 0));
        steal.write(0, &mut memory).unwrap();
        steal.tell(1_000_000, HZ, &mut memory);
        assert_eq!((steal.next(HZ), shown(&memory)), (0, (time, version)), "off");
    }
}

#[test]
fn time_off_is_not_lost() {
    let (mut steal, mut memory) = (StealTime::default(), ram());
    steal.write(AT | 1, &mut memory).unwrap();
    steal.tell(100, HZ, &mut memory);
    steal.start();
    assert_eq!(steal.next(HZ), 1);
    steal.tell(1_000_000, HZ, &mut memory);
    steal.tell(1_000_200, HZ, &mut memory);
    assert_eq!(shown(&memory).0, 100);
}

#[test]
fn what_is_not_the_guests_memory_is_refused() {
    let (mut steal, mut memory) = (StealTime::default(), ram());
    steal.write(AT | 1, &mut memory).unwrap();
    for value in [0xffc1, 0x1_1001, !0x3e, AT | 3, AT | 0x20, 2] {
        assert_eq!(steal.write(value, &mut memory), Err(GeneralProtection), "{value:#x}");
        assert_eq!(steal.read(), AT | 1);
    }
    steal.write(0x2_0000, &mut memory).unwrap();
    assert_eq!((steal.read(), steal.next(HZ)), (0x2_0000, 0), "switched off, whatever it names");
}

proptest! {
    /// Whatever the guest names and leaves there, nothing but the two fields changes.
    #[test]
    fn nothing_else_is_written(
        value in prop_oneof![any::<u64>(), 0xff00_u64..0x1_1100], told in any::<[u64; 4]>(), hz in any::<u64>(), fill in any::<u8>(),
    ) {
        let (mut steal, mut memory) = (StealTime::default(), ram());
        memory.bytes.fill(fill);
        let taken = steal.write(value, &mut memory).is_ok() && value & 1 != 0;
        for stolen in told {
            steal.tell(stolen, hz, &mut memory);
            prop_assert_eq!(steal.next(hz) != 0, taken);
        }
        let fields = (value & !1)..(value & !1).saturating_add(12);
        let is_other = |at: &usize| !taken || !fields.contains(&(0x1_0000 + *at as u64));
        prop_assert!((0..memory.bytes.len()).filter(is_other).all(|at| memory.bytes[at] == fill));
    }
}
