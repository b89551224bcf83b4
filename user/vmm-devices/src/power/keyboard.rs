//! The keyboard controller's command port and system control port A, for what they control beyond
//! the keyboard: the processor's reset line and address line 20 (IBM PC/AT Technical Reference,
//! "Keyboard Controller"; ICH9 data sheet 13.7.2).
//!
//! Only listed commands reach the controller. Those that write its output port or pulse its lines
//! end here, with their data byte.

use crate::answer::{Answer, Effect, Request};

pub(super) const DATA: u16 = 0x60;
pub(super) const COMMAND: u16 = 0x64;
pub(super) const CONTROL_A: u16 = 0x92;

const WRITE_OUTPUT_PORT: u8 = 0xd1;
const PULSE: u8 = 0xf0;
const RESET_LINE: u8 = 1;
/// Bit of port A: address line 20 passes.
const LINE_20: u8 = 2;

const RESET: Answer = Answer::Effect(Effect::Request(Request::Reset));

/// The model.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Keyboard {
    /// Whether the next data byte is for the output port.
    output_port: bool,
    control_a: u8,
}

/// The commands of a keyboard and mouse driver: read and write the controller's memory, switch its
/// keyboard and mouse ports on and off and test them, read the input and output ports, return bytes
/// or send them to the mouse, and the prefixes for several mice.
const fn is_harmless(command: u8) -> bool {
    matches!(command, 0x20..=0x3f | 0x60..=0x7f | 0x90..=0x97 | 0xa7..=0xab | 0xad | 0xae | 0xc0 | 0xd0 | 0xd2..=0xd4)
}

impl Keyboard {
    pub(super) fn read(&self, port: u16) -> Answer {
        match port {
            CONTROL_A => Answer::Value(u64::from(self.control_a & !RESET_LINE | LINE_20)),
            _ => Answer::Machine(0),
        }
    }

    pub(super) fn write(&mut self, port: u16, value: u8) -> Answer {
        match port {
            CONTROL_A => {
                self.control_a = value;
                if value & RESET_LINE != 0 { RESET } else { Answer::Value(0) }
            }
            COMMAND => self.command(value),
            _ if core::mem::take(&mut self.output_port) => reset_unless(value & RESET_LINE != 0),
            _ => Answer::Machine(value.into()),
        }
    }

    fn command(&mut self, command: u8) -> Answer {
        self.output_port = command == WRITE_OUTPUT_PORT;
        match command {
            // The lines whose bit is 0 are pulsed low.
            PULSE.. => reset_unless(command & RESET_LINE != 0),
            _ if is_harmless(command) => Answer::Machine(command.into()),
            _ => Answer::Value(0),
        }
    }
}

fn reset_unless(high: bool) -> Answer {
    if high { Answer::Value(0) } else { RESET }
}
