//! Which model answers at a port.

use pillion_abi::vcpu::State;
use pillion_vmm_devices::{
    answer::{Access, Answer, Effect, Request},
    apic::{Destination, Kind, Message},
    bus::{Bus, Local},
    ioapic::IoApics,
    ones,
    pci::Filter,
    power::{Fadt, Power},
};
use proptest::prelude::*;

fn fadt() -> Fadt {
    Fadt { pm1a_control: Some(0x604), reset: Some((0x3ec, 6)), command: Some(0xb2), ..Fadt::default() }
}

fn bus(hidden: &[[u32; 2]]) -> Bus<'_> {
    Bus::new(hidden, Filter::new(), Power::new(fadt()), IoApics::new(&Default::default(), 0, false), &[0])
}

fn write(hidden: &[[u32; 2]], port: u16, width: u8, value: u32) -> Answer {
    bus(hidden).write_port(Access { port, width }, value)
}

fn read(hidden: &[[u32; 2]], port: u16, width: u8) -> Answer {
    let mut bus = bus(hidden);
    let _ = bus.pci.write(Access { port: 0xcf8, width: 4 }, 0x8000_1000);
    bus.read_port(Access { port, width })
}

#[test]
fn each_model_has_its_ports() {
    assert_eq!((write(&[], 0x80, 1, 7), read(&[], 0x80, 1)), (Answer::Machine(7), Answer::Machine(0)));
    assert_eq!(
        (write(&[], 0xe9, 1, 0x41), read(&[], 0xe9, 1)),
        (Answer::Effect(Effect::Note(0x41)), Answer::Value(0xe9))
    );
    assert_eq!((write(&[], 0xe8, 2, 0), read(&[], 0xe9, 4)), (Answer::Value(0xffff), Answer::Value(u32::MAX.into())));
    assert_eq!((write(&[], 0xcf9, 1, 6), write(&[], 0x3ec, 1, 6)), (RESET, RESET));
    assert_eq!(write(&[], 0x604, 2, 1), Answer::Machine(1));
    assert_eq!(read(&[], 0xcfe, 2), Answer::Config { address: 0x8000_1000, port: 0xcfe });
    assert_eq!((write(&[], 0xb2, 1, 0), write(&[], 0x3ec, 1, 0)), (Answer::Value(0xff), Answer::Value(0xff)));
}

const RESET: Answer = Answer::Effect(Effect::Request(Request::Reset));

/// A task may have the keyboard's ports, or any of a model's for Linux, which then does not answer.
#[test]
fn what_a_task_has_is_no_models() {
    for port in [0x60, 0x64, 0x92, 0xe9, 0x3ec, 0x604, 0x605, 0xcf8, 0xcf9, 0xcfc, 0xcff] {
        let hidden = [[0x300, 1], [port.into(), 1]];
        for (first, width) in [(port, 1), (port, 2), (port, 4), (port - 1, 2), (port - 3, 4)] {
            let absent = Answer::Value(ones(width));
            for value in [0, 6, 0x20, 0xfe, 0x2000] {
                assert_eq!(write(&hidden, first, width, value), absent, "{first:#x} of {width} <- {value:#x}");
            }
            assert_eq!(read(&hidden, first, width), absent, "{first:#x} of {width}");
        }
    }
}

/// Ports that exit and ports that do not are all ports, each once; a model never sees the latter.
#[test]
fn free_ports_are_all_others() {
    let hidden = [[0x3f8, 8], [0x20, 2], [0x21, 4], [0xfff0, 16]];
    let bus = bus(&hidden);
    let mut free = vec![false; 0x1_0000];
    for (first, count) in bus.free_ports() {
        assert!(free[first as usize..(first + count) as usize].iter_mut().all(|seen| !std::mem::replace(seen, true)));
    }
    for port in 0..=u16::MAX {
        let taken = bus.taken_ports().any(|(first, count)| (first..first + count).contains(&port.into()));
        assert_ne!(free[usize::from(port)], taken, "{port:#x}");
        assert!(taken || bus.read_port(Access { port, width: 1 }) == Answer::Machine(0), "{port:#x}");
    }
}

proptest! {
    #[test]
    fn nothing_hidden_is_reached(
        hidden in prop::collection::vec((0x50_u32..0xd00, 1_u32..9), 0..8),
        accesses in prop::collection::vec((prop_oneof![0x50_u16..0x100, 0x600_u16..0x610, 0xcf0_u16..0xd00], prop_oneof![Just(1_u8), Just(2), Just(4)], any::<u32>()), 1..100),
    ) {
        let hidden: Vec<[u32; 2]> = hidden.into_iter().map(|(first, count)| [first, count]).collect();
        let mut bus = bus(&hidden);
        for (port, width, value) in accesses {
            let access = Access { port, width };
            let reached = hidden.iter().any(|[first, count]| (port..port + u16::from(width)).any(|at| (*first..first + count).contains(&at.into())));
            for answer in [bus.read_port(access), bus.write_port(access, value)] {
                prop_assert!(!reached || matches!(answer, Answer::Value(_)), "{port:#x} of {width}: {answer:?}");
            }
        }
    }
}

/// What one processor's local APIC sends reaches the others where they can be reached now, and each
/// has its own.
#[test]
fn messages_follow_the_local_apics() {
    let ids = [2, 7];
    let mut bus = Bus::new(&[], Filter::new(), Power::new(fadt()), IoApics::new(&Default::default(), 0, false), &ids);
    let mut locals = [Local::new(0, 2), Local::new(1, 7)];
    let state = State::default();
    let mut send = |bus: &mut Bus<'_>, from: usize, command: u64| match bus.write_msr(
        &mut locals[from],
        0x830,
        command,
        0,
        &state,
    ) {
        Ok(Effect::Message(message)) => bus.processors.send(from, message),
        _ => 0,
    };
    assert_eq!((send(&mut bus, 0, 7 << 32 | 0x4500), send(&mut bus, 0, 7 << 32 | 0x4699)), (2, 2));
    assert_eq!((bus.processors.take(1).start, send(&mut bus, 1, 2 << 32 | 0x31)), (Some(0x99), 1));
    assert_eq!(send(&mut bus, 1, 0x8_00f2), 3);
    // A local APIC that is off is not reached.
    bus.write_msr(&mut locals[1], 0x1b, 0xfee0_0100, 0, &state).unwrap();
    let Ok(Effect::Message(all)) = bus.write_msr(&mut locals[0], 0x830, 0x8_00f2, 0, &state) else { panic!() };
    assert_eq!(bus.processors.send(0, all), 1);
    // On in xAPIC mode, it is reached by the logical ID that it was given.
    let to = Destination::Logical(8);
    let logical = Message { kind: Kind::Fixed(0x31), to };
    bus.write_msr(&mut locals[1], 0x1b, 0xfee0_0900, 0, &state).unwrap();
    assert_eq!(bus.processors.send(0, logical), 0);
    bus.write_memory(&mut locals[1], 0xfee0_00d0, 4, 0x0800_0000, 0, &state);
    assert_eq!(bus.processors.send(0, logical), 2);
    assert_eq!(bus.read_msr(&locals[0], 0x802, 0, &state), Ok(2));
}
