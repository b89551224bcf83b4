//! Messages between Linux's processors.

use pillion_vmm_devices::apic::{Address, ApicMode, Destination, Kind, Message};
use pillion_vmm_devices::processors::{MOST, News, Processors};
use proptest::prelude::*;

const IDS: [u32; 3] = [0, 4, 0x1_0021];

fn message(command: u64) -> Option<Message> {
    Message::decode(command, ApicMode::X2apic)
}

fn send(processors: &mut Processors, from: usize, command: u64) -> u8 {
    message(command).map_or(0, |message| processors.send(from, message))
}

fn started() -> Processors {
    let mut processors = Processors::new(&IDS);
    assert_eq!(send(&mut processors, 0, 0xc_4500), 0b110);
    assert_eq!(send(&mut processors, 0, 0xc_4608), 0b110);
    for i in [1, 2] {
        assert_eq!(processors.take(i), News { init: true, start: Some(8), ..News::default() });
    }
    processors
}

/// A line goes to one of those that it names, to one that runs if there is one.
#[test]
fn a_line_has_one_target() {
    let mut processors = Processors::new(&IDS);
    let to = |processors: &Processors, to| processors.target(to);
    assert_eq!(to(&processors, Destination::Physical(4)), 1);
    assert_eq!((to(&processors, Destination::All), to(&processors, Destination::Physical(5))), (0, 0));
    processors.halt(0);
    assert_eq!(to(&processors, Destination::All), 0);
    let mut processors = started();
    assert_eq!(to(&processors, Destination::Logical(0x11)), 0);
    processors.halt(0);
    assert_eq!((to(&processors, Destination::All), to(&processors, Destination::Logical(0x11))), (1, 1));
    assert_eq!((to(&processors, Destination::Physical(0)), to(&processors, Destination::Logical(2))), (0, 0));
}

#[test]
fn commands_are_decoded() {
    let kind = |command| message(command).map(|message| message.kind);
    assert_eq!(
        (kind(0x31), kind(0x131), kind(0x400)),
        (Some(Kind::Fixed(0x31)), Some(Kind::Lowest(0x31)), Some(Kind::Nmi))
    );
    assert_eq!((kind(0x4500), kind(0x500), kind(0xc500)), (Some(Kind::Init), Some(Kind::Init), Some(Kind::Init)));
    assert_eq!((kind(0x8500), kind(0x200), kind(0x700), kind(0x300)), (None, None, None, None));
    assert_eq!(kind(0x4699), Some(Kind::StartUp(0x99)));
    let to = |command, mode| Message::decode(command, mode).unwrap().to;
    let x2 = |command| to(command, ApicMode::X2apic);
    assert_eq!((x2(0x4_0031), x2(0x8_0031), x2(0xc_0031)), (Destination::Own, Destination::All, Destination::Others));
    assert_eq!((x2(0xff << 32), x2(0xff << 32 | 0x800)), (Destination::Physical(0xff), Destination::Logical(0xff)));
    assert_eq!((x2(0xffff_ffff << 32), x2(0xffff_ffff << 32 | 0x800)), (Destination::All, Destination::All));
    let old = |command| to(command, ApicMode::Xapic);
    assert_eq!(
        (old(7 << 56), old(0xff << 56), old(3 << 56 | 0x800)),
        (Destination::Physical(7), Destination::All, Destination::Logical(3))
    );
}

#[test]
fn logical_destinations() {
    let reached = |mode, logical, format, to| {
        Address { id: 9, mode, logical, format }.is_reached(Destination::Logical(to), false)
    };
    let x2 = |to| reached(ApicMode::X2apic, 0x1002_0008, 0, to);
    assert_eq!((x2(0x1002_0008), x2(0x1002_000c), x2(0x1002_0004), x2(8)), (true, true, false, false));
    let flat = |to| reached(ApicMode::Xapic, 0x0400_0000, u32::MAX, to);
    assert_eq!((flat(4), flat(6), flat(3), flat(0)), (true, true, false, false));
    let cluster = |to| reached(ApicMode::Xapic, 0x2400_0000, 0x0fff_ffff, to);
    assert_eq!((cluster(0x24), cluster(0x2f), cluster(0x14), cluster(0x2b)), (true, true, false, false));
    assert!(!Address { id: 9, mode: ApicMode::Disabled, logical: 1, format: 0 }.is_reached(Destination::All, false));
}

/// As Linux does it: INIT, its end, and two start-up messages, of which the second has no effect.
#[test]
fn a_processor_is_started() {
    let mut processors = Processors::new(&IDS);
    assert_eq!(send(&mut processors, 0, 4 << 32 | 0x31), 0, "it waits");
    assert_eq!(send(&mut processors, 0, 4 << 32 | 0xc500), 0b10);
    assert_eq!(send(&mut processors, 0, 4 << 32 | 0x8500), 0);
    assert_eq!(processors.take(1), News { init: true, ..News::default() });
    assert_eq!(send(&mut processors, 0, 4 << 32 | 0x4699), 0b10);
    assert_eq!(send(&mut processors, 0, 4 << 32 | 0x469a), 0);
    assert_eq!(processors.take(1), News { start: Some(0x99), ..News::default() });
    assert_eq!(processors.take(1), News::default());
}

#[test]
fn vectors_are_kept_until_they_are_taken() {
    let mut processors = started();
    assert_eq!(send(&mut processors, 1, 0x8_00f3), 0b111);
    assert_eq!(send(&mut processors, 1, 0xc_0031), 0b101);
    assert_eq!(send(&mut processors, 1, 0x1_0021 << 32 | 0xf3), 0b100);
    assert_eq!(send(&mut processors, 1, 5 << 32 | 0xf3), 0, "nobody");
    assert_eq!(send(&mut processors, 1, 0xc_0142), 0b1, "one of them");
    assert_eq!(processors.take(0).vectors().collect::<Vec<_>>(), [0x31, 0x42, 0xf3]);
    assert_eq!(processors.take(1).vectors().collect::<Vec<_>>(), [0xf3]);
    assert_eq!(processors.take(2).vectors().collect::<Vec<_>>(), [0x31, 0xf3]);
    assert_eq!(processors.take(2), News::default());
    send(&mut processors, 0, 4 << 32 | 0x31);
    send(&mut processors, 0, 4 << 32 | 0x4500);
    assert_eq!(processors.take(1), News { init: true, ..News::default() }, "INIT forgets");
}

#[test]
fn the_last_one_that_halts_is_the_end() {
    assert!(Processors::new(&IDS).halt(0), "the others were never started");
    let mut processors = started();
    assert!(!processors.halt(1) && !processors.halt(0));
    assert_eq!(send(&mut processors, 2, 4 << 32 | 0x4608), 0, "without INIT it stays halted");
    assert_eq!((send(&mut processors, 2, 4 << 32 | 0x4500), send(&mut processors, 2, 4 << 32 | 0x4608)), (2, 2));
    assert!(!processors.halt(2), "1 is about to start");
    assert!(processors.halt(1));
    processors.reset();
    assert_eq!((processors.take(1), send(&mut processors, 0, 0xc_4608)), (News::default(), 0b110));
}

/// NMIs merge, reach whoever was started, and end a halt.
#[test]
fn an_nmi_ends_a_halt() {
    let mut processors = Processors::new(&IDS);
    assert_eq!(send(&mut processors, 0, 4 << 32 | 0x400), 0, "it waits");
    let mut processors = started();
    assert_eq!((send(&mut processors, 0, 0xc_0400), send(&mut processors, 2, 4 << 32 | 0x400)), (0b110, 0b10));
    let nmi = News { nmi: true, ..News::default() };
    assert_eq!((processors.take(1), processors.take(1)), (nmi, News::default()));
    assert_eq!(processors.take_interrupts(2), nmi);
    assert!(!processors.halt(1) && !processors.halt(2));
    assert_eq!(send(&mut processors, 0, 4 << 32 | 0x400), 0b10);
    assert!(!processors.halt(0), "1 is about to handle it");
    assert!(processors.halt(1));
    assert_eq!(send(&mut processors, 0, 0x8_0400), 0b111);
    send(&mut processors, 0, 4 << 32 | 0x4500);
    assert_eq!(processors.take(1), News { init: true, ..News::default() }, "INIT forgets");
}

#[test]
fn nobody_resets_himself() {
    let mut processors = started();
    for command in [4 << 32 | 0x4500, 0x4_4500] {
        assert_eq!(send(&mut processors, 1, command), 0);
    }
    assert_eq!(send(&mut processors, 1, 0x8_4500), 0b101);
}

proptest! {
    /// Whatever is sent, only processors that exist are reached, and what each takes is what was
    /// sent to it, in terms of a list of messages.
    #[test]
    fn any_messages(
        count in 1..=MOST,
        steps in prop::collection::vec((any::<u64>(), 0..MOST, any::<bool>(), 0..8_u64, 0..4_u64), 1..80),
    ) {
        let ids: Vec<u32> = (0..count as u32).map(|i| i * 3).collect();
        let mut processors = Processors::new(&ids);
        let mut sent: Vec<Vec<Kind>> = vec![vec![]; count];
        let mut waits: Vec<bool> = (0..count).map(|i| i != 0).collect();
        for (value, index, takes, mode, shorthand) in steps {
            let from = index % count;
            if takes {
                let news = processors.take(from);
                let mut wanted = News::default();
                for kind in sent[from].drain(..) {
                    match kind {
                        Kind::Init => wanted = News { init: true, ..News::default() },
                        Kind::StartUp(page) => wanted.start = Some(page),
                        Kind::Fixed(v) | Kind::Lowest(v) => wanted.vectors[usize::from(v / 64)] |= 1 << (v % 64),
                        Kind::Nmi => wanted.nmi = true,
                    }
                }
                prop_assert_eq!(news, wanted);
                continue;
            }
            let command = value & 0x0000_0000_0000_c0ff | mode << 8 | shorthand << 18 | (value >> 40 & 31) << 32;
            let Some(message) = message(command) else { continue };
            let reached = processors.send(from, message);
            prop_assert!(u32::from(reached) < 1 << count);
            for i in (0..count).filter(|i| reached >> i & 1 != 0) {
                match message.kind {
                    Kind::Init => { prop_assert!(i != from); waits[i] = true; }
                    Kind::StartUp(_) => { prop_assert!(waits[i]); waits[i] = false; }
                    _ => prop_assert!(!waits[i]),
                }
                sent[i].push(message.kind);
            }
        }
    }
}

/// Of two that reset each other at the same moment, the second one's message was on its way
/// already. If both waited for a start-up message, nobody would be left to send it, and the
/// watchdog does not look at a processor that waits.
#[test]
fn somebody_is_left_when_two_reset_each_other() {
    let mut processors = Processors::new(&IDS[..2]);
    for command in [4 << 32 | 0x4500, 4 << 32 | 0x4608] {
        send(&mut processors, 0, command);
    }
    processors.take(1);
    assert_eq!(send(&mut processors, 0, 4 << 32 | 0x4500), 0b10);
    // 1 was on its way out of the guest with this.
    send(&mut processors, 1, 0x4500);
    let runs = (0..2).any(|index| !processors.clone().halt(index));
    assert!(runs, "nobody runs: Linux is neither there nor restarted");
}
