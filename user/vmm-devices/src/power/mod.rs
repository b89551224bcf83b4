//! Reset and power-off: which accesses of the guest ask for them, and which ports it does not get. None of these reaches the machine; the monitor
//! restarts the guest, or ends it, instead.
//!
//! Fixed on a PC: the reset control register (port 0xcf9; ICH9 data sheet 13.7.5), the keyboard controller and system control port A
//! (`keyboard.rs`), and the ports of [`WITHHELD`]. Found in the FADT: the PM1 control registers with SLP_EN (ACPI 6.4, 4.8.3.2.1), the reset register
//! (4.8.3.6), the firmware's command port, and what lies around the PM1 blocks.
//!
//! Every sleep state counts as power-off: which type is S5 stands only in AML, and a guest may put the machine to sleep as
//! little as it may switch it off.

mod fadt;
mod keyboard;
mod withheld;

pub use fadt::Fadt;
pub use withheld::WITHHELD;

use crate::ones;
use keyboard::Keyboard;

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

/// The model.
#[derive(Clone, Copy, Debug, Default)]
pub struct Power {
    fadt: Fadt,
    reset_control: u8,
    keyboard: Keyboard,
}

impl Power {
    /// With the registers that the FADT names.
    #[must_use]
    pub fn new(fadt: Fadt) -> Self {
        Power { fadt, ..Power::default() }
    }

    /// The ports that must exit on behalf of this model: first ports and numbers, in no order.
    pub fn ports(&self) -> impl Iterator<Item = (u32, u32)> + use<> {
        let one = |port: u16| (u32::from(port), 1);
        let fixed = [RESET_CONTROL, keyboard::DATA, keyboard::COMMAND, keyboard::CONTROL_A].map(one);
        let pm1 = [self.fadt.pm1a_control, self.fadt.pm1b_control].into_iter().flatten().map(|port| (port.into(), 2));
        let reset = self.fadt.reset.map(|(port, _)| one(port));
        fixed.into_iter().chain(pm1).chain(reset).chain(withheld::ranges(&self.fadt))
    }

    /// A read of a port.
    #[must_use]
    pub fn read(&self, port: u16, width: u8) -> Outcome {
        match port {
            RESET_CONTROL if width == 1 => Outcome::Value(u32::from(self.reset_control)),
            keyboard::DATA | keyboard::COMMAND | keyboard::CONTROL_A if width == 1 => self.keyboard.read(port),
            _ if self.is_pm1(port, width) || self.is_reset(port, width) => Outcome::Pass(0),
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
        match port {
            RESET_CONTROL if width == 1 => self.reset_control(value as u8),
            keyboard::DATA | keyboard::COMMAND | keyboard::CONTROL_A if width == 1 => {
                self.keyboard.write(port, value as u8)
            }
            _ if self.is_pm1(port, width) => pm1(value, self.pm1_shift(port).unwrap_or(0)),
            _ if self.is_reset(port, width) => Outcome::Pass(value),
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

    /// An access to none of the registers by themselves. One that reaches into what is not the guest's is dropped, because the bus would split it.
    /// What touches port 0xcf9 that way is [`crate::pci`]'s to answer.
    fn stray(&self, port: u16, width: u8) -> Outcome {
        let end = u32::from(port) + u32::from(width);
        let touches = |(first, count): (u32, u32)| first < end && u32::from(port) < first + count;
        match self.ports().filter(|(first, _)| *first != RESET_CONTROL.into()).any(touches) {
            true => Outcome::Value(ones(width) as u32),
            false => Outcome::NotMine,
        }
    }

    /// Whether the access is one to a PM1 control register, or to one of its two bytes. The register is followed by another one: longer accesses are not.
    fn is_pm1(&self, port: u16, width: u8) -> bool {
        self.pm1_shift(port).is_some_and(|shift| shift + 8 * u32::from(width) <= 16)
    }

    /// Whether the access is one to the reset register, which is a byte.
    fn is_reset(&self, port: u16, width: u8) -> bool {
        width == 1 && self.fadt.reset.is_some_and(|(reset, _)| reset == port)
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
