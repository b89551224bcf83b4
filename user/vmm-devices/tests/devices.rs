//! I/O APICs, PCI configuration and notes.

mod common;

use common::at;
use pillion_abi::boot;
use pillion_abi::vcpu::route;
use pillion_vmm_devices::answer::{Answer, Route};
use pillion_vmm_devices::apic::{Destination, Kind, Message};
use pillion_vmm_devices::ioapic::{IoApic, IoApics};
use pillion_vmm_devices::notes::{LONGEST, Notes};
use pillion_vmm_devices::pci::{ConfigAccess, Filter, Function, Quiesce, Write};
use proptest::prelude::*;

fn set(apic: &mut IoApic, index: u64, value: u64) -> Option<u64> {
    apic.write(0, 4, index);
    apic.write(0x10, 4, value).map(|route| u64::from(route.line) << 32 | route.word())
}

fn get(apic: &mut IoApic, index: u64) -> u64 {
    apic.write(0, 4, index);
    apic.read(0x10, 4)
}

#[test]
fn lines_are_routed() {
    let mut apic = IoApic::new(24, 1 << 9);
    assert_eq!(get(&mut apic, 1), 0x0017_0020);
    assert_eq!(get(&mut apic, 0x10), 0x1_0000);
    assert_eq!(set(&mut apic, 0x18, 0x31), Some(4 << 32 | 0x31));
    assert_eq!(set(&mut apic, 0x18, 0x31), None);
    // Whom it is for is a part of the route, and none of the word.
    apic.write(0, 4, 0x19);
    let to = |route: Option<Route>| route.map(|route| route.to);
    assert_eq!(to(apic.write(0x10, 4, 0x0100_0000)), Some(Destination::Physical(1)));
    assert_eq!(apic.write(0x10, 4, 0x0100_0000), None);
    assert_eq!(to(apic.write(0x10, 4, 0xff00_0000)), Some(Destination::All));
    apic.write(0, 4, 0x18);
    // All ones are everybody, logically as well.
    assert_eq!(apic.write(0x10, 4, 0x831), None);
    apic.write(0, 4, 0x19);
    assert_eq!(to(apic.write(0x10, 4, 0x0600_0000)), Some(Destination::Logical(6)));
    assert_eq!(set(&mut apic, 0x30, 0xa042), Some(16 << 32 | 0x42 | route::LEVEL | route::LOW));
    assert_eq!(apic.level_vectors(), [0, 4, 0, 0]);
    assert_eq!(set(&mut apic, 0x30, 0x1_a042), Some(16 << 32 | 0x42 | route::LEVEL | route::LOW | route::MASKED));
    // ExtINT is not delivered.
    assert_eq!(set(&mut apic, 0x18, 0x731), Some(4 << 32 | 0x31 | route::MASKED));
    // A hidden line stores what is written, masked.
    assert_eq!((set(&mut apic, 0x22, 0x55), get(&mut apic, 0x22)), (None, 0x1_0055));
    assert_eq!((set(&mut apic, 0x40, 0x55), get(&mut apic, 0x40)), (None, 0));
    assert_eq!(apic.write(0x40, 4, 0x42), None);
}

/// A message to the processor whose local APIC has ID 0.
fn to_first(kind: Kind) -> Option<Message> {
    Some(Message { kind, to: Destination::Physical(0) })
}

#[test]
fn the_doorbell_is_one_line_more() {
    let mut apic = IoApic::new(24, u64::MAX).with_doorbell();
    assert_eq!((get(&mut apic, 1), apic.doorbell()), (0x0018_0020, Some(24)));
    assert_eq!(apic.ring(), None, "masked after reset");
    assert_eq!((set(&mut apic, 0x40, 0x1_0055), apic.take_pended()), (None, None));
    assert_eq!((set(&mut apic, 0x40, 0x55), get(&mut apic, 0x40)), (None, 0x55));
    assert_eq!((apic.take_pended(), apic.take_pended()), (to_first(Kind::Fixed(0x55)), None));
    assert_eq!(apic.ring(), to_first(Kind::Fixed(0x55)));
    assert_eq!((set(&mut apic, 0x40, 0x155), apic.ring()), (None, to_first(Kind::Lowest(0x55))));
    assert_eq!((set(&mut apic, 0x40, 0x8055), apic.level_vectors()), (None, [0; 4]));
    apic.ring();
    apic.reset();
    assert_eq!((apic.take_pended(), apic.doorbell(), get(&mut apic, 1)), (None, Some(24), 0x0018_0020));
    assert_eq!((IoApic::new(24, 0).ring(), IoApic::new(24, 0).doorbell()), (None, None));
    assert_eq!(IoApic::new(64, 0).with_doorbell().doorbell(), None);
}

fn controller(address: u64, first: u32, lines: u32) -> boot::IoApic {
    boot::IoApic { address, first, lines }
}

/// As on AMD's machines: 24 lines of the chipset, 32 of the processor; and an I/O APIC too many.
fn machine() -> [boot::IoApic; 8] {
    let mut all = [boot::IoApic::default(); 8];
    all[0] = controller(0xfec0_0000, 0, 24);
    all[1] = controller(0xfec0_1000, 24, 32);
    all[2] = controller(0xfec0_2000, 56, 32);
    all
}

#[test]
fn every_io_apic_is_a_model() {
    let mut all = IoApics::new(&machine(), 1 << 30, true);
    assert_eq!(all.addresses().collect::<Vec<_>>(), [0xfec0_0000, 0xfec0_1000]);
    // After the last line, and not where the second I/O APIC begins.
    assert_eq!(all.doorbell(), Some(56));
    let mut set = |base: u64, index: u64, value: u64| {
        assert_eq!(all.write(base, 4, index), Some(None));
        all.write(base + 0x10, 4, value).unwrap()
    };
    assert_eq!(set(0xfec0_0000, 0x18, 0x31).map(|r| (r.line, r.vector)), Some((4, 0x31)));
    assert_eq!(set(0xfec0_1000, 0x18, 0x32).map(|r| (r.line, r.vector)), Some((28, 0x32)));
    // INIT, SMI and NMI are not routes, and neither is a line of a task.
    for mode in [0x540, 0x240, 0x440] {
        assert!(set(0xfec0_1000, 0x10, mode).is_none_or(|route| route.masked), "{mode:#x}");
    }
    assert_eq!(set(0xfec0_1000, 0x1c, 0x8041), None, "line 30");
    assert_eq!(set(0xfec0_1000, 0x10 + 2 * 32, 0x55), None, "the doorbell");
    assert_eq!((all.ring(), all.routes().count()), (to_first(Kind::Fixed(0x55)), 24 + 32 - 1));
    assert_eq!((all.read(0xfec0_2000, 4), all.write(0xfec0_2010, 4, 0)), (None, None));
    all.reset();
    assert!(all.routes().all(|route| route.masked) && all.doorbell() == Some(56));
}

const fn value(value: u64) -> Option<Answer> {
    Some(Answer::Value(value))
}

#[test]
fn hidden_functions_are_absent() {
    let mut filter = Filter::new();
    let hidden = Function { bus: 0, device: 3, function: 0 };
    assert!(filter.hide(hidden));
    filter.write(at(0xcf8, 4), 0x8000_1810);
    assert_eq!(filter.read(at(0xcf8, 4)), value(0x8000_1810));
    assert_eq!((filter.read(at(0xcfc, 4)), filter.read(at(0xcfe, 2))), (value(u32::MAX.into()), value(0xffff)));
    assert_eq!(filter.write(at(0xcfc, 1), 7), value(0xff));
    filter.write(at(0xcf8, 4), 0x8000_2010);
    assert_eq!(filter.read(at(0xcfe, 2)), Some(Answer::Config { address: 0x8000_2010, port: 0xcfe }));
    assert_eq!(filter.read(at(0xcff, 2)), value(0xffff));
    assert_eq!((filter.read(at(0xcf9, 1)), filter.read(at(0xcf4, 4))), (None, None));
    for (port, width) in [(0xcf6, 4), (0xcf8, 2), (0xcf9, 2), (0xcfa, 4), (0xcfb, 1)] {
        assert_eq!(filter.write(at(port, width), 6), value(pillion_vmm_devices::ones(width)), "{port:#x}");
    }
    filter.write(at(0xcf8, 4), 0x2010);
    assert_eq!(filter.read(at(0xcfc, 1)), value(0xff));
    // Registers from 256 on, in AMD's encoding: without the upper bits they would alias.
    filter.write(at(0xcf8, 4), 0x8100_2010);
    assert_eq!(
        (filter.read(at(0xcfc, 4)), filter.write(at(0xcfc, 4), 0)),
        (value(u32::MAX.into()), value(u32::MAX.into()))
    );
}

/// Device 1 is single and a bus master, device 2 is hidden, device 3 has functions 0, which is no
/// bus master, and 5, device 4 is a bridge. There are also a device on bus 9, and the last two
/// possible functions of the last device, of which one is already quiet.
struct Bus;

impl ConfigAccess for Bus {
    fn read(&mut self, function: Function, register: u8) -> u32 {
        let (header, command) = match (function.bus, function.device, function.function) {
            (0, 1 | 2, _) => (0, 7),
            (0, 3, 0) => (0x80, 3),
            (0, 3, 5) => (0, 6),
            (0, 4, 0) => (1, 7),
            (9, 0, _) => (0, 7),
            (255, 31, 0) => (0x80, 0x403),
            (255, 31, 7) => (0, 4),
            _ => return u32::MAX,
        };
        match register {
            0 => 0x1234_8086,
            4 => command,
            0xc => header << 16,
            _ => 0,
        }
    }
}

#[test]
fn devices_are_quiesced() {
    let mut filter = Filter::new();
    assert!(filter.hide(Function { bus: 0, device: 2, function: 0 }));
    let writes: Vec<_> = Quiesce::new(&filter, Bus)
        .map(|Write { function, value, .. }| (function.bus, function.device, function.function, value))
        .collect();
    // The aliases of hidden device 2 are not touched either.
    let expected = [(0, 1, 0, 0x403), (0, 3, 0, 0x403), (0, 3, 5, 0x402), (9, 0, 0, 0x403), (255, 31, 7, 0x400)];
    assert_eq!(writes, expected);
}

#[test]
fn notes_are_lines() {
    let mut notes = Notes::new();
    let mut lines = Vec::new();
    for byte in b"load net start\r\n\n\"a\\b\xff\n".iter().chain([b'x'; 300].iter()).chain(b"\n") {
        lines.extend(notes.push(*byte).map(String::from));
    }
    assert_eq!(lines, ["load net start", "'a/b?", &"x".repeat(LONGEST)]);
}

proptest! {
    #[test]
    fn any_access_of_the_io_apic(
        lines in any::<u8>(), hidden in any::<u64>(), doorbell in any::<bool>(),
        accesses in prop::collection::vec((0_u64..0x50, 0_u8..9, any::<u64>()), 1..100),
    ) {
        let mut apic = IoApic::new(lines, hidden);
        if doorbell {
            apic = apic.with_doorbell();
        }
        let extra = apic.doorbell();
        for (offset, width, value) in accesses {
            let _ = apic.read(offset, width);
            if let Some(route) = apic.write(offset & !0xf, width, value) {
                prop_assert!(hidden >> route.line & 1 == 0);
                prop_assert!(Some(route.line) != extra, "the machine does not have the doorbell's line");
                prop_assert!(route.masked || route.vector >= 16);
            }
            let _ = apic.level_vectors();
            // A ring is delivered at once or later, exactly once.
            prop_assert!(extra.is_some() || apic.ring().is_none());
            if apic.ring().is_some() {
                prop_assert_eq!(apic.take_pended(), None);
            }
        }
        prop_assert!(extra.is_none_or(|line| apic.route(line.into()).is_none()));
    }

    #[test]
    fn a_hidden_function_is_never_passed(
        hidden in prop::collection::vec((0_u8..3, 0_u8..4, 0_u8..3), 0..40),
        accesses in prop::collection::vec((0xcf0_u16..0xd08, 0_u8..9, any::<u32>(), any::<bool>()), 1..60),
    ) {
        let mut filter = Filter::new();
        for (bus, device, function) in hidden {
            let _ = filter.hide(Function { bus, device, function });
        }
        for (port, width, value, select) in accesses {
            if select {
                filter.write(at(0xcf8, 4), value & 0x0002_1aff | 1 << 31);
            }
            for outcome in [filter.read(at(port, width)), filter.write(at(port, width), value)] {
                if let Some(Answer::Config { address, port }) = outcome {
                    let function = Function {
                        bus: (address >> 16) as u8, device: (address >> 11) as u8 & 31, function: (address >> 8) as u8 & 7,
                    };
                    prop_assert!(!filter.is_hidden(function) && (0xcfc..0xd00).contains(&port));
                }
            }
        }
    }

    #[test]
    fn any_note_is_plain(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        let mut notes = Notes::new();
        for byte in bytes {
            if let Some(line) = notes.push(byte) {
                prop_assert!(!line.is_empty() && line.len() <= LONGEST);
                prop_assert!(line.bytes().all(|b| (b' '..=b'~').contains(&b) && b != b'"' && b != b'\\'));
            }
        }
    }
}
