//! Reset and power-off: which accesses of the guest ask for them, and which ports it does not get. None of these reaches the machine; the monitor
//! restarts the guest, or ends it, instead.
//!
//! Fixed on a PC: the reset control register (port 0xcf9; ICH9 data sheet 13.7.5), the keyboard controller and system control port A
//! (`keyboard.rs`), and those of the list in `withheld.rs`. Found in the FADT: the PM1 control registers with SLP_EN (ACPI 6.4, 4.8.3.2.1), the reset register
//! (4.8.3.6), the firmware's command port, and what lies around the PM1 blocks.
//!
//! What is withheld is asked first: a table that gives the number of such a port to a register of Linux's opens nothing.
//!
//! Every sleep state counts as power-off: which type is S5 stands only in AML, and a guest may put the machine to sleep as
//! little as it may switch it off.

mod fadt;
mod keyboard;
mod withheld;

pub use fadt::Fadt;

use crate::ones;
use crate::port::Access;
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

/// Registers of every PC that a model judges, whatever the tables say.
const FIXED: [u16; 4] = [RESET_CONTROL, keyboard::DATA, keyboard::COMMAND, keyboard::CONTROL_A];

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
        fixed().chain(self.pm1().map(|port| (port, 2))).chain(self.withheld())
    }

    /// The ports that Linux neither reads nor writes. The reset register is one unless a model answers there: what other values than the table's do to
    /// it is known to the firmware alone.
    fn withheld(&self) -> impl Iterator<Item = (u32, u32)> + use<> {
        let reset = self.fadt.reset.filter(|(port, _)| !FIXED.contains(port)).map(|(port, _)| (u32::from(port), 1));
        withheld::ranges(&self.fadt).chain(reset)
    }

    /// A read of a port.
    #[must_use]
    pub fn read(&self, port: u16, width: u8) -> Outcome {
        match port {
            RESET_CONTROL if width == 1 => Outcome::Value(u32::from(self.reset_control)),
            _ if touches(self.withheld(), port, width) => absent(width),
            keyboard::DATA | keyboard::COMMAND | keyboard::CONTROL_A if width == 1 => self.keyboard.read(port),
            _ if self.is_pm1(port, width) => Outcome::Pass(0),
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
            _ if touches(self.withheld(), port, width) => absent(width),
            keyboard::DATA | keyboard::COMMAND | keyboard::CONTROL_A if width == 1 => {
                self.keyboard.write(port, value as u8)
            }
            _ if self.is_pm1(port, width) => self.write_pm1(port, width, value),
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

    /// An access to none of the registers by themselves. One that reaches into them is dropped, because the bus would split it.
    fn stray(&self, port: u16, width: u8) -> Outcome {
        if touches(self.ports(), port, width) { absent(width) } else { Outcome::NotMine }
    }

    /// First ports of the PM1 control registers.
    fn pm1(&self) -> impl Iterator<Item = u32> + use<> {
        [self.fadt.pm1a_control, self.fadt.pm1b_control].into_iter().flatten().map(u32::from)
    }

    /// Whether the access is one to a PM1 control register, or to one of its two bytes. The register is followed by another one: longer accesses are not.
    fn is_pm1(&self, port: u16, width: u8) -> bool {
        let (first, end) = (u32::from(port), u32::from(port) + u32::from(width));
        self.pm1().any(|base| base <= first && end <= base + 2) && !touches(fixed(), port, width)
    }

    /// SLP_EN is bit 13 and SLP_TYP bits 10 to 12, both in the upper byte. The lower one has GBL_RLS (bit 2), which asks the firmware for attention by a
    /// system management interrupt, and SCI_EN (bit 0), without which the events of power management are such interrupts (ICH9 data sheet 13.8.3.3):
    /// the one is never written, the other always, as ACPI mode is for good.
    fn write_pm1(&self, port: u16, width: u8, value: u32) -> Outcome {
        const SLEEP_ENABLE: u8 = 1 << 5;
        const GLOBAL_RELEASE: u8 = 1 << 2;
        const INTERRUPT_ENABLE: u8 = 1;
        let mut bytes = value.to_le_bytes();
        for base in self.pm1() {
            let at = |register: u32| register.checked_sub(port.into()).filter(|at| *at < width.into());
            if let Some(upper) = at(base + 1).map(|at| bytes[at as usize])
                && upper & SLEEP_ENABLE != 0
            {
                return Outcome::Request(Request::PowerOff { sleep_type: upper >> 2 & 7 });
            }
            if let Some(at) = at(base) {
                bytes[at as usize] = bytes[at as usize] & !GLOBAL_RELEASE | INTERRUPT_ENABLE;
            }
        }
        Outcome::Pass(u32::from_le_bytes(bytes))
    }
}

fn fixed() -> impl Iterator<Item = (u32, u32)> {
    FIXED.into_iter().map(|port| (u32::from(port), 1))
}

/// Whether the access reaches one of the ports.
fn touches(mut ranges: impl Iterator<Item = (u32, u32)>, port: u16, width: u8) -> bool {
    ranges.any(|(first, count)| Access { port, width }.reaches(first, count))
}

/// As if nothing were there: a read gives ones, a write is over.
fn absent(width: u8) -> Outcome {
    Outcome::Value(ones(width) as u32)
}
