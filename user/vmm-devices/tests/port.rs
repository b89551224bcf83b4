//! Who answers at a port.

use pillion_vmm_devices::{
    ones,
    pci::Filter,
    port::{Access, Answer, Ports},
    power::{Fadt, Power, Request},
};
use proptest::prelude::*;

fn fadt() -> Fadt {
    Fadt { pm1a_control: Some(0x604), reset: Some((0x3ec, 6)), command: Some(0xb2), ..Fadt::default() }
}

fn write(hidden: &[[u32; 2]], port: u16, width: u8, value: u32) -> Answer {
    let (mut pci, mut power) = (Filter::new(), Power::new(fadt()));
    Ports { hidden, pci: &mut pci, power: &mut power }.write(Access { port, width }, value)
}

fn read(hidden: &[[u32; 2]], port: u16, width: u8) -> Answer {
    let (mut pci, mut power) = (Filter::new(), Power::new(fadt()));
    let _ = pci.write(0xcf8, 4, 0x8000_1000);
    Ports { hidden, pci: &mut pci, power: &mut power }.read(Access { port, width })
}

#[test]
fn each_model_has_its_ports() {
    assert_eq!((write(&[], 0x80, 1, 7), read(&[], 0x80, 1)), (Answer::Machine(7), Answer::Machine(0)));
    assert_eq!((write(&[], 0xe9, 1, 0x41), read(&[], 0xe9, 1)), (Answer::Note(0x41), Answer::Value(0xe9)));
    assert_eq!((write(&[], 0xe8, 2, 0), read(&[], 0xe9, 4)), (Answer::Value(0xffff), Answer::Value(u32::MAX)));
    assert_eq!((write(&[], 0xcf9, 1, 6), write(&[], 0x3ec, 1, 6)), (RESET, RESET));
    assert_eq!(write(&[], 0x604, 2, 1), Answer::Machine(1));
    assert_eq!(read(&[], 0xcfe, 2), Answer::Config { address: 0x8000_1000, port: 0xcfe });
    assert_eq!((write(&[], 0xb2, 1, 0), write(&[], 0x3ec, 1, 0)), (Answer::Value(0xff), Answer::Value(0xff)));
}

const RESET: Answer = Answer::Request(Request::Reset);

/// A task may have the keyboard's ports, or any that a model answers for Linux: then the model does not.
#[test]
fn what_a_task_has_is_no_models() {
    for port in [0x60, 0x64, 0x92, 0xe9, 0x3ec, 0x604, 0x605, 0xcf8, 0xcf9, 0xcfc, 0xcff] {
        let hidden = [[0x300, 1], [port.into(), 1]];
        for (first, width) in [(port, 1), (port, 2), (port, 4), (port - 1, 2), (port - 3, 4)] {
            let absent = Answer::Value(ones(width) as u32);
            for value in [0, 6, 0x20, 0xfe, 0x2000] {
                assert_eq!(write(&hidden, first, width, value), absent, "{first:#x} of {width} <- {value:#x}");
            }
            assert_eq!(read(&hidden, first, width), absent, "{first:#x} of {width}");
        }
    }
}

proptest! {
    #[test]
    fn nothing_hidden_is_reached(
        hidden in prop::collection::vec((0x50_u32..0xd00, 1_u32..9), 0..8),
        accesses in prop::collection::vec((prop_oneof![0x50_u16..0x100, 0x600_u16..0x610, 0xcf0_u16..0xd00], prop_oneof![Just(1_u8), Just(2), Just(4)], any::<u32>()), 1..100),
    ) {
        let hidden: Vec<[u32; 2]> = hidden.into_iter().map(|(first, count)| [first, count]).collect();
        let (mut pci, mut power) = (Filter::new(), Power::new(fadt()));
        let mut ports = Ports { hidden: &hidden, pci: &mut pci, power: &mut power };
        for (port, width, value) in accesses {
            let access = Access { port, width };
            let reached = hidden.iter().any(|[first, count]| (port..port + u16::from(width)).any(|at| (*first..first + count).contains(&at.into())));
            for answer in [ports.read(access), ports.write(access, value)] {
                prop_assert!(!reached || matches!(answer, Answer::Value(_)), "{port:#x} of {width}: {answer:?}");
            }
        }
    }
}
