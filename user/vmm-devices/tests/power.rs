//! Ports by which a PC is reset, switched off, or changed.

use pillion_vmm_devices::power::{Fadt, Outcome, Power, Request, WITHHELD};
use proptest::prelude::*;

const RESET: Outcome = Outcome::Request(Request::Reset);

/// As of QEMU's q35: PM1 at 0x600, timer at 0x608, general-purpose events at 0x620; another command port than is customary.
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
    assert_eq!((power.write(0xcf9, 1, 2), power.read(0xcf9, 1)), (Outcome::Value(0), Outcome::Value(2)));
    assert_eq!((power.write(0xcf9, 1, 6), power.write(0xcf9, 1, 0xf)), (RESET, RESET));
    let off = Outcome::Request(Request::PowerOff { sleep_type: 0 });
    assert_eq!((power.write(0x604, 2, 0x2001), power.write(0x604, 2, 1)), (off, Outcome::Pass(1)));
    assert_eq!(power.write(0x605, 1, 0x34), Outcome::Request(Request::PowerOff { sleep_type: 5 }));
    assert_eq!(
        (power.write(0x63, 2, 0xfe00), power.write(0x602, 4, 0), power.write(0x604, 4, 0)),
        (Outcome::Value(0xffff), Outcome::Value(u32::MAX), Outcome::Value(u32::MAX))
    );
    assert_eq!((power.read(0x604, 2), power.write(0x70, 1, 0)), (Outcome::Pass(0), Outcome::NotMine));
}

/// The ways of an AT: nothing of them reaches the controller, whether they are meant well or not.
#[test]
fn the_keyboard_controller_keeps_its_lines() {
    let mut power = Power::new(fadt());
    let dropped = Outcome::Value(0);
    assert_eq!((power.write(0x64, 1, 0xd1), power.write(0x60, 1, 0xfe)), (dropped, RESET));
    assert_eq!((power.write(0x64, 1, 0xd1), power.write(0x60, 1, 0x01)), (dropped, dropped), "line 20 off");
    assert_eq!(power.write(0x60, 1, 0xfe), Outcome::Pass(0xfe), "the byte after is the keyboard's");
    assert_eq!((power.write(0x64, 1, 0xd1), power.write(0x64, 1, 0xd4)), (dropped, Outcome::Pass(0xd4)));
    assert_eq!(power.write(0x60, 1, 0xf4), Outcome::Pass(0xf4), "another command takes its place");
    for command in [0xdd, 0xdf, 0xff, 0xfd, 0xf1, 0xb0, 0xc8, 0x00] {
        assert_eq!(power.write(0x64, 1, command), dropped, "{command:#x}");
    }
    for command in (0xf0..=0xff_u32).filter(|command| command & 1 == 0) {
        assert_eq!(power.write(0x64, 1, command), RESET, "{command:#x}");
    }
    for command in [0x20, 0x60, 0xa9, 0xaa, 0xad, 0xae, 0xd0] {
        assert_eq!(power.write(0x64, 1, command), Outcome::Pass(command));
    }
    // Port A is a register of the model's: line 20 is on whatever is written.
    assert_eq!((power.write(0x92, 1, 0), power.read(0x92, 1)), (dropped, Outcome::Value(2)));
    assert_eq!((power.write(0x92, 1, 0xc0), power.read(0x92, 1)), (dropped, Outcome::Value(0xc2)));
    assert_eq!(power.write(0x92, 1, 3), RESET);
    // Longer accesses reach several registers.
    for (port, width) in [(0x60, 2), (0x5f, 2), (0x61, 4), (0x64, 2), (0x92, 2), (0x91, 2)] {
        assert_eq!(power.write(port, width, 0), Outcome::Value(pillion_vmm_devices::ones(width) as u32), "{port:#x}");
    }
}

/// Around the PM1 block only what the FADT names is passed on: neither SMI enable (0x630) nor the watchdog (0x660), nor a sleep state (0x614).
#[test]
fn the_rest_of_power_management_is_withheld() {
    let mut power = Power::new(fadt());
    for port in [0x606, 0x60c, 0x614, 0x615, 0x61f, 0x630, 0x634, 0x660, 0x668, 0x67f, 0xbe, 0xbf, 0xb2, 0xb3] {
        assert_eq!(
            (power.read(port, 1), power.write(port, 1, 0)),
            (Outcome::Value(0xff), Outcome::Value(0xff)),
            "{port:#x}"
        );
    }
    for port in [0x600, 0x603, 0x608, 0x60b, 0x620, 0x62f, 0x680, 0x5ff] {
        assert_eq!((power.read(port, 1), power.write(port, 1, 0)), (Outcome::NotMine, Outcome::NotMine), "{port:#x}");
    }
    assert_eq!(power.write(0x62f, 2, 0), Outcome::Value(0xffff), "across the edge");
    let bare = Power::new(Fadt::default());
    assert_eq!((bare.read(0x630, 1), bare.read(0, 1)), (Outcome::NotMine, Outcome::NotMine));
    assert!(WITHHELD.iter().all(|(first, count, why)| first.checked_add(*count).is_some() && !why.is_empty()));
}

proptest! {
    /// Whatever is done, and however the blocks lie: no line of reset or of address 20 goes low, no sleep begins, and a port that exits for the model is
    /// never passed on but for the few that may.
    #[test]
    fn nothing_dangerous_is_passed(
        blocks in prop::array::uniform6((0_u16..0x700, 0_u16..40)), event in prop::option::of(0_u16..0x700), control in prop::option::of(1_u16..0x700),
        accesses in prop::collection::vec((prop_oneof![0x5c_u16..0x98, 0xb0_u16..0xd00, 0x500_u16..0x780], prop_oneof![Just(1_u8), Just(2), Just(4)], any::<u32>()), 1..200),
    ) {
        let mut power = Power::new(Fadt { blocks, pm1a_event: event, pm1a_control: control, ..fadt() });
        let mut after_output_port = false;
        for (port, width, value) in accesses {
            let outcome = power.write(port, width, value);
            let byte = value as u8;
            if let Outcome::Pass(passed) = outcome {
                match port {
                    0x64 => prop_assert!(width == 1 && !matches!(passed as u8, 0xd1 | 0xdd | 0xdf | 0xf0..)),
                    0x60 => prop_assert!(width == 1 && !after_output_port),
                    _ => {
                        let own = control.is_some_and(|at| (at..at + 2).contains(&port));
                        prop_assert!(own || port == 0xcf9, "{port:#x}");
                        let shift = 8 * u32::from(port - control.unwrap_or(port).min(port));
                        prop_assert!(!own || u64::from(passed) << shift & 1 << 13 == 0);
                    }
                }
            }
            let exits = power.ports().any(|(first, count)| (first..first + count).contains(&port.into()));
            prop_assert!(!exits || outcome != Outcome::NotMine || port == 0xcf9);
            if port == 0x64 && width == 1 {
                after_output_port = byte == 0xd1;
            } else if port == 0x60 && width == 1 {
                after_output_port = false;
            }
            let _ = power.read(port, width);
        }
    }
}
