//! Ports that reset a PC, switch it off, or change it.

mod common;

use common::at;
use pillion_vmm_devices::answer::{Answer, Effect, Request};
use pillion_vmm_devices::power::{Fadt, Power};
use proptest::prelude::*;

const RESET: Option<Answer> = Some(Answer::Effect(Effect::Request(Request::Reset)));

/// As on QEMU's q35: PM1 at 0x600, timer at 0x608, GPEs at 0x620; but an unusual command port.
fn fadt() -> Fadt {
    Fadt {
        pm1a_control: Some(0x604),
        reset: Some((0xcf9, 0x0f)),
        command: Some(0xbe),
        enable: 2,
        sci: 9,
        pm1a_event: Some(0x600),
        blocks: [(0x600, 4), (0, 0), (0, 0), (0x608, 4), (0x620, 16), (0, 0)],
        ..Fadt::default()
    }
}

#[test]
fn ends_are_recognised() {
    let mut power = Power::new(fadt());
    assert_eq!(
        (power.write(at(0xcf9, 1), 2), power.read(at(0xcf9, 1))),
        (Some(Answer::Value(0)), Some(Answer::Value(2)))
    );
    assert_eq!((power.write(at(0xcf9, 1), 6), power.write(at(0xcf9, 1), 0xf)), (RESET, RESET));
    let off = Some(Answer::Effect(Effect::Request(Request::PowerOff { sleep_type: 0 })));
    assert_eq!((power.write(at(0x604, 2), 0x2001), power.write(at(0x604, 2), 1)), (off, Some(Answer::Machine(1))));
    assert_eq!(
        power.write(at(0x605, 1), 0x34),
        Some(Answer::Effect(Effect::Request(Request::PowerOff { sleep_type: 5 })))
    );
    assert_eq!(
        (power.write(at(0x63, 2), 0xfe00), power.write(at(0x602, 4), 0), power.write(at(0x604, 4), 0)),
        (Some(Answer::Value(0xffff)), Some(Answer::Value(u32::MAX.into())), Some(Answer::Value(u32::MAX.into())))
    );
    assert_eq!((power.read(at(0x604, 2)), power.write(at(0x70, 1), 0)), (Some(Answer::Machine(0)), None));
}

/// The AT's ways to reset: none of them reaches the controller, whatever their intent.
#[test]
fn the_keyboard_controller_keeps_its_lines() {
    let mut power = Power::new(fadt());
    let dropped = Some(Answer::Value(0));
    assert_eq!((power.write(at(0x64, 1), 0xd1), power.write(at(0x60, 1), 0xfe)), (dropped, RESET));
    assert_eq!((power.write(at(0x64, 1), 0xd1), power.write(at(0x60, 1), 0x01)), (dropped, dropped), "line 20 off");
    assert_eq!(power.write(at(0x60, 1), 0xfe), Some(Answer::Machine(0xfe)), "the byte after is the keyboard's");
    assert_eq!(
        (power.write(at(0x64, 1), 0xd1), power.write(at(0x64, 1), 0xd4)),
        (dropped, Some(Answer::Machine(0xd4)))
    );
    assert_eq!(power.write(at(0x60, 1), 0xf4), Some(Answer::Machine(0xf4)), "another command takes its place");
    for command in [0xdd, 0xdf, 0xff, 0xfd, 0xf1, 0xb0, 0xc8, 0x00] {
        assert_eq!(power.write(at(0x64, 1), command), dropped, "{command:#x}");
    }
    for command in (0xf0..=0xff_u32).filter(|command| command & 1 == 0) {
        assert_eq!(power.write(at(0x64, 1), command), RESET, "{command:#x}");
    }
    for command in [0x20, 0x60, 0xa9, 0xaa, 0xad, 0xae, 0xd0] {
        assert_eq!(power.write(at(0x64, 1), command), Some(Answer::Machine(command)));
    }
    // Port A is the model's own register: line 20 is on whatever is written.
    assert_eq!((power.write(at(0x92, 1), 0), power.read(at(0x92, 1))), (dropped, Some(Answer::Value(2))));
    assert_eq!((power.write(at(0x92, 1), 0xc0), power.read(at(0x92, 1))), (dropped, Some(Answer::Value(0xc2))));
    assert_eq!(power.write(at(0x92, 1), 3), RESET);
    // Longer accesses reach several registers.
    for (port, width) in [(0x60, 2), (0x5f, 2), (0x61, 4), (0x64, 2), (0x92, 2), (0x91, 2)] {
        assert_eq!(power.write(at(port, width), 0), Some(Answer::Value(pillion_vmm_devices::ones(width))), "{port:#x}");
    }
}

/// Around the PM1 block only what the FADT names is passed on: not SMI enable (0x630), not the
/// watchdog (0x660), and not a sleep state (0x614).
#[test]
fn the_rest_of_power_management_is_withheld() {
    let mut power = Power::new(fadt());
    for port in [0x606, 0x60c, 0x614, 0x615, 0x61f, 0x630, 0x634, 0x660, 0x668, 0x67f, 0xbe, 0xbf, 0xb2, 0xb3] {
        assert_eq!(
            (power.read(at(port, 1)), power.write(at(port, 1), 0)),
            (Some(Answer::Value(0xff)), Some(Answer::Value(0xff))),
            "{port:#x}"
        );
    }
    for port in [0x600, 0x603, 0x608, 0x60b, 0x620, 0x62f, 0x680, 0x5ff] {
        assert_eq!((power.read(at(port, 1)), power.write(at(port, 1), 0)), (None, None), "{port:#x}");
    }
    assert_eq!(power.write(at(0x62f, 2), 0), Some(Answer::Value(0xffff)), "across the edge");
    let bare = Power::new(Fadt::default());
    assert_eq!((bare.read(at(0x630, 1)), bare.read(at(0, 1))), (None, None));
}

/// Written out from the documents, so that the list is not checked against itself.
const DANGEROUS: [&[u16]; 8] = [
    &[0x2e, 0x2f],          // Super I/O (Winbond W83627HF 4.1, ITE IT8712F 8.1): configuration index and data
    &[0x4e, 0x4f],          // the same, strapped to the other place
    &[0xb2, 0xb3],          // ICH9 13.8.2: APM_CNT, which raises an SMI, and APM_STS
    &[0xe4, 0xe5, 0xe6],    // IPMI 2.0, 11.1: BT_CTRL, buffer, BT_INTMASK
    &[0xca2, 0xca3],        // IPMI 2.0, 9.1: KCS data, command and status
    &[0xc50, 0xc51, 0xc52], // AMD SB7xx register reference 2.3.4: client management index, data, GPM port
    &[0xcd0, 0xcd1],        // AMD SB7xx 2.3.4: PM2 index, data
    &[0xcd4, 0xcd5, 0xcd6, 0xcd7], // AMD SB7xx 2.3.4: BIOS RAM index, data; PM index, data
];
/// Handled by a model: keyboard controller's data and command, port A, reset control.
const MODELLED: [u16; 4] = [0x60, 0x64, 0x92, 0xcf9];

/// Global release requests the firmware's attention with a system management interrupt, and outside
/// ACPI mode all events are such interrupts.
#[test]
fn pm1_control_asks_for_no_management_interrupt() {
    let mut power = Power::new(fadt());
    for (port, width, value, passed) in
        [(0x604, 2, 5, 1), (0x604, 1, 4, 1), (0x604, 2, 0, 1), (0x604, 2, 0x1c07, 0x1c03), (0x605, 1, 0x1c, 0x1c)]
    {
        assert_eq!(power.write(at(port, width), value), Some(Answer::Machine(passed)), "{port:#x} <- {value:#x}");
    }
}

#[test]
fn what_every_chipset_has_is_withheld() {
    let mut power = Power::new(Fadt::default());
    let dangerous = DANGEROUS.concat();
    for port in 0..=u16::MAX {
        let exits = power.ports().any(|(first, count)| (first..first + count).contains(&port.into()));
        assert_eq!(exits, dangerous.contains(&port) || MODELLED.contains(&port), "{port:#x}");
    }
    for port in dangerous {
        for (first, width) in [(port, 1), (port, 2), (port, 4), (port - 1, 2), (port - 3, 4)] {
            let absent = Some(Answer::Value(pillion_vmm_devices::ones(width)));
            assert_eq!((power.read(at(first, width)), power.write(at(first, width), 0)), (absent, absent), "{port:#x}");
        }
    }
}

/// A reset register may be any port, even one of the firmware's or the chipset's. Only the table's
/// value has an effect; no other reaches the machine.
#[test]
fn the_reset_register_opens_nothing() {
    for port in DANGEROUS.concat().into_iter().chain([0x300, 0x604, 0x605, 0x606, 0xbe, 0xcf9]) {
        let mut power = Power::new(Fadt { reset: Some((port, 0x73)), ..fadt() });
        assert_eq!(power.write(at(port, 1), 0x73), RESET, "{port:#x}");
        assert!(!matches!(power.read(at(port, 1)), Some(Answer::Machine(_))), "{port:#x}");
        for value in (0..=0xff).filter(|value| *value != 0x73) {
            assert!(
                matches!(power.write(at(port, 1), value), Some(Answer::Value(_)) | RESET),
                "{port:#x} <- {value:#x}"
            );
        }
    }
    // If the register is the keyboard controller's command port, the controller's own list applies.
    let mut power = Power::new(Fadt { reset: Some((0x64, 0xfe)), ..fadt() });
    assert_eq!((power.write(at(0x64, 1), 0xfe), power.write(at(0x64, 1), 0xae)), (RESET, Some(Answer::Machine(0xae))));
    assert_eq!(power.write(at(0x64, 1), 0xd1), Some(Answer::Value(0)));
}

proptest! {
    /// Whatever the guest does, and however the registers and blocks lie: no reset line and no
    /// address line 20 goes low, no sleep begins, and nothing reaches a withheld port or the reset
    /// register.
    #[test]
    fn nothing_dangerous_is_passed(
        blocks in prop::array::uniform6((0_u16..0x700, 0_u16..40)), event in prop::option::of(0_u16..0x700), control in prop::array::uniform2(prop::option::of(port())),
        reset in prop::option::of((port(), any::<u8>())), command in prop::option::of(port()),
        accesses in prop::collection::vec((port(), prop_oneof![Just(1_u8), Just(2), Just(4)], any::<u32>()), 1..60),
    ) {
        let dangerous = DANGEROUS.concat();
        let mut power = Power::new(Fadt { blocks, pm1a_event: event, pm1a_control: control[0], pm1b_control: control[1], reset, command, ..Fadt::default() });
        let mut after_output_port = false;
        for (port, width, value) in accesses {
            let reaches = |at: u16| (port..port + u16::from(width)).contains(&at);
            let outcome = power.write(at(port, width), value);
            for outcome in [outcome, power.read(at(port, width))] {
                if matches!(outcome, Some(Answer::Machine(_)) | None) {
                    prop_assert!(!dangerous.iter().any(|at| reaches(*at)), "{port:#x}");
                    prop_assert!(!command.is_some_and(reaches));
                    prop_assert!(!reset.is_some_and(|(at, _)| reaches(at) && !MODELLED.contains(&at)));
                    prop_assert!(!reaches(0x92) && !reaches(0xcf9));
                }
            }
            if let Some(Answer::Machine(passed)) = outcome {
                match port {
                    0x64 => prop_assert!(width == 1 && !matches!(passed as u8, 0xd1 | 0xdd | 0xdf | 0xf0..)),
                    0x60 => prop_assert!(width == 1 && !after_output_port),
                    _ => {
                        let mut registers = control.into_iter().flatten();
                        prop_assert!(registers.clone().any(|at| (at..at + 2).contains(&port)), "{port:#x}");
                        let sleeps = |at: u16| reaches(at + 1) && passed >> (8 * (at + 1 - port)) & 1 << 5 != 0;
                        prop_assert!(!registers.any(sleeps), "{port:#x} <- {passed:#x}");
                        let asks = |at: u16| reaches(at) && passed >> (8 * (at - port)) & 5 != 1;
                        prop_assert!(!control.into_iter().flatten().any(asks), "{port:#x} <- {passed:#x}");
                    }
                }
            }
            let exits = power.ports().any(|(first, count)| (first..first + count).contains(&port.into()));
            prop_assert!(!exits || outcome.is_some());
            if outcome == RESET {
                continue;
            }
            if port == 0x64 && width == 1 {
                after_output_port = value as u8 == 0xd1;
            } else if port == 0x60 && width == 1 {
                after_output_port = false;
            }
        }
    }
}

/// A port with something at it, or near one.
fn port() -> impl Strategy<Value = u16> {
    prop_oneof![0x2c_u16..0x34, 0x5c_u16..0x98, 0xb0_u16..0xe8, 0x500_u16..0x780, 0xc4c_u16..0xd00]
}
