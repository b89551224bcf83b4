//! The drawn steps are the same for every caller, cover everything, and leave out what they must.

use pillion_campaign::guest::{self, Class, Step};
use pillion_campaign::{Actor, LIFE, Orders, excluded, task};

/// The steps under test.
fn many() -> impl Iterator<Item = (Class, Step)> {
    (0..400).flat_map(|seed| (0..100).map(move |number| guest::step(seed, LIFE + number)))
}

#[test]
fn a_step_depends_on_seed_and_number_alone() {
    for number in 0..200 {
        assert_eq!(guest::step(7, number), guest::step(7, number));
        assert_eq!(task::step(7, Actor::Task, number), task::step(7, Actor::Task, number));
    }
    assert!((0..100).any(|number| guest::step(7, number) != guest::step(8, number)));
    assert!((0..100).any(|n| task::step(7, Actor::Task, n) != task::step(7, Actor::Skinned, n)));
}

#[test]
fn each_class_is_drawn() {
    for class in Class::ALL {
        assert!(many().any(|(drawn, _)| drawn == class), "{class:?}");
    }
    for class in task::Class::ALL {
        assert!((0..500).any(|n| task::step(1, Actor::Skinned, n).0 == class), "{class:?}");
    }
}

/// Each port of a PC with something behind it is written, and reached in each width from below.
#[test]
fn what_matters_is_reached() {
    let writes = |wanted: u16| {
        let all = (0..4000).flat_map(|seed| (0..100).map(move |number| guest::step(seed, LIFE + number).1));
        all.filter_map(move |step| match step {
            Step::PortOut { port, width, value } if port <= wanted && port + u16::from(width) > wanted => Some(value),
            _ => None,
        })
    };
    for port in [0x20, 0x60, 0x64, 0x70, 0x92, 0xb2, 0xcf8, 0xcf9, 0xcfc, 0x2f8, 0x604, 0xcd6] {
        assert!(writes(port).next().is_some(), "{port:#x}");
    }
    assert!(writes(0x64).any(|value| value & 0xff == 0xfe), "the keyboard controller's reset");
    assert!(writes(0x92).any(|value| value & 3 == 1), "the fast reset");
}

#[test]
fn nothing_that_is_left_out_is_done() {
    for (_, step) in many() {
        assert!(!excluded::step(&step), "{step:x?}");
        if let Step::Flip { register, bits } = step {
            assert_eq!(excluded::control(register, bits), bits);
        }
        if let Step::Config { register, width, value: Some(value), .. } = step {
            assert_eq!(excluded::value(register, width, value.into()), value.into(), "{step:x?}");
        }
    }
}

#[test]
fn the_bus_is_never_taken() {
    for register in 0..8 {
        for width in [1, 2, 4] {
            let value = excluded::value(register, width, u64::MAX) as u32;
            let lies_in = register <= 4 && register + u16::from(width) > 4;
            let bit = if lies_in { value >> (8 * (4 - register)) & 4 } else { 0 };
            assert_eq!(bit, 0, "register {register} of {width}");
        }
    }
}

/// The steps try what the documents promise to withstand: the chipset's own registers, its
/// watchdog, base addresses in the configuration window.
#[test]
fn what_is_promised_is_tried() {
    let tried = |wanted: &dyn Fn(Step) -> bool| {
        (0..4000).flat_map(|seed| (0..100).map(move |number| guest::step(seed, LIFE + number).1)).any(wanted)
    };
    let write = |step, device: u8, registers: std::ops::Range<u16>| {
        let Step::Config { bus: 0, device: d, function: 0, register, value: Some(value), .. } = step else {
            return None;
        };
        (d == device && registers.contains(&register)).then_some(value)
    };
    assert!(tried(&|step| write(step, 0, 0x60..0x68).is_some()), "the window of configuration space");
    assert!(tried(&|step| write(step, 31, 0x40..0x44).is_some()), "the ports of power management");
    assert!(tried(&|step| write(step, 31, 0xf0..0xf4).is_some()), "the chipset's registers in memory");
    assert!(tried(&|step| matches!(step, Step::PortOut { port: 0x660..=0x67f, .. })), "the watchdog");
    let base = |step| (1..32).find_map(|device| write(step, device, 0x10..0x28));
    assert!(tried(&|step| base(step).is_some_and(|value| value >> 28 == 0xb)), "a base address in the window");
}

#[test]
fn orders_restrict_and_nothing_else_changes() {
    let all: Vec<u32> = guest::wanted(Orders::new(5)).collect();
    assert!(all.len() >= 100 && all[0] == LIFE);
    let some: Vec<u32> = guest::wanted(Orders::parse("seed=5 from=1010 to=1020")).collect();
    assert_eq!(some, (1010..1020).collect::<Vec<_>>());
    let listed: Vec<u32> = guest::wanted(Orders::parse("seed=5 only=1003,1001 rubbish classes")).collect();
    assert_eq!(listed, [1001, 1003]);
    let ports = format!("seed=5 classes={}", Class::Ports.bit());
    assert!(guest::wanted(Orders::parse(&ports)).all(|n| guest::step(5, n).0 == Class::Ports));
    assert_eq!(guest::wanted(Orders::parse("seed=5 to=0")).count(), 0);
}
