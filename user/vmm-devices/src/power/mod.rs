//! Reset and power-off: which writes of the guest ask for them. None of these reaches the machine; the monitor
//! restarts the guest, or ends it, instead.
//!
//! Fixed on a PC: the reset control register (port 0xcf9; ICH9 data sheet 13.7.5), the keyboard controller's pulse (port 0x64) and the
//! fast INIT of system control port A (port 0x92). Found in the FADT: the PM1 control registers with SLP_EN (ACPI 6.4,
//! 4.8.3.2.1) and the reset register (4.8.3.6).
//!
//! Every sleep state counts as power-off: which type is S5 stands only in AML, and a guest may put the machine to sleep as
//! little as it may switch it off.

mod fadt;

pub use fadt::{Error, Fadt};

use crate::ones;

/// What a write means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// Restart the guest.
    Reset,
    /// End the guest. The sleep type is what the register's field said.
    PowerOff {
        /// SLP_TYP.
        sleep_type: u8,
    },
}

/// What becomes of a port access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The guest asks for its end.
    Request(Request),
    /// A read gives this, a write is over.
    Value(u32),
    /// Make the access on the port, a write with this value.
    Pass(u32),
    /// The port is none of this model's.
    NotMine,
}

const RESET_CONTROL: u16 = 0xcf9;
const KEYBOARD_COMMAND: u16 = 0x64;
const CONTROL_A: u16 = 0x92;

/// The model.
#[derive(Clone, Copy, Debug, Default)]
pub struct Power {
    fadt: Fadt,
    reset_control: u8,
}

impl Power {
    /// With the registers that the FADT names.
    #[must_use]
    pub const fn new(fadt: Fadt) -> Self {
        Power { fadt, reset_control: 0 }
    }

    /// The ports that must exit on behalf of this model; unused entries are `None`. Each is a first port and a count.
    #[must_use]
    pub fn ports(&self) -> [Option<(u16, u16)>; 6] {
        let block = |port: Option<u16>| port.map(|port| (port, 2));
        [
            Some((RESET_CONTROL, 1)),
            Some((KEYBOARD_COMMAND, 1)),
            Some((CONTROL_A, 1)),
            block(self.fadt.pm1a_control),
            block(self.fadt.pm1b_control),
            self.fadt.reset.map(|(port, _)| (port, 1)),
        ]
    }

    /// A read of a port.
    #[must_use]
    pub fn read(&self, port: u16, width: u8) -> Outcome {
        match port {
            RESET_CONTROL if width == 1 => Outcome::Value(u32::from(self.reset_control)),
            KEYBOARD_COMMAND | CONTROL_A => Outcome::Pass(0),
            _ if self.pm1_shift(port).is_some() => Outcome::Pass(0),
            _ if self.fadt.reset.is_some_and(|(reset, _)| reset == port) => Outcome::Pass(0),
            _ => self.stray(port, width),
        }
    }

    /// A write to a port.
    pub fn write(&mut self, port: u16, width: u8, value: u32) -> Outcome {
        if let Some((reset, expected)) = self.fadt.reset
            && port == reset
            && value as u8 == expected
        {
            return Outcome::Request(Request::Reset);
        }
        if let Some(shift) = self.pm1_shift(port) {
            return pm1(value, shift);
        }
        match port {
            RESET_CONTROL if width == 1 => self.reset_control(value as u8),
            // Commands 0xf0 to 0xff pulse the lines whose bit is 0; bit 0 is the processor's reset.
            KEYBOARD_COMMAND if value & 0xf1 == 0xf0 => Outcome::Request(Request::Reset),
            CONTROL_A if value & 1 != 0 => Outcome::Request(Request::Reset),
            KEYBOARD_COMMAND | CONTROL_A => Outcome::Pass(value),
            _ if self.fadt.reset.is_some_and(|(reset, _)| reset == port) => Outcome::Pass(value),
            _ => self.stray(port, width),
        }
    }

    /// Bit 2 resets, whatever bits 1 (system reset) and 3 (full reset) say.
    fn reset_control(&mut self, value: u8) -> Outcome {
        if value & 4 != 0 {
            self.reset_control = 0;
            return Outcome::Request(Request::Reset);
        }
        self.reset_control = value & 0x0a;
        Outcome::Value(0)
    }

    /// An access that begins outside this model's registers. One that reaches into them is dropped, because the bus would split it.
    /// What touches port 0xcf9 that way is [`crate::pci`]'s to answer.
    fn stray(&self, port: u16, width: u8) -> Outcome {
        let end = u32::from(port) + u32::from(width);
        let touches = |(first, count): (u16, u16)| u32::from(first) < end && port < first.saturating_add(count);
        match self.ports().into_iter().flatten().filter(|(first, _)| *first != RESET_CONTROL).any(touches) {
            true => Outcome::Value(ones(width) as u32),
            false => Outcome::NotMine,
        }
    }

    /// The bit of a PM1 control register that bit 0 at the port is.
    fn pm1_shift(&self, port: u16) -> Option<u32> {
        [self.fadt.pm1a_control, self.fadt.pm1b_control]
            .into_iter()
            .flatten()
            .find_map(|base| port.checked_sub(base).filter(|offset| *offset < 2))
            .map(|offset| u32::from(offset) * 8)
    }
}

/// SLP_EN is bit 13 and SLP_TYP bits 10 to 12.
fn pm1(value: u32, shift: u32) -> Outcome {
    let register = u64::from(value) << shift;
    if register & 1 << 13 == 0 {
        return Outcome::Pass(value);
    }
    Outcome::Request(Request::PowerOff { sleep_type: (register >> 10) as u8 & 7 })
}
