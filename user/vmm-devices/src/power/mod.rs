//! Reset and power-off: which guest accesses request them, and which ports the guest does not get.
//! None of these reaches the machine; the monitor restarts or ends the guest instead.
//!
//! Fixed on a PC are the reset control register (port 0xcf9; ICH9 data sheet 13.7.5), the keyboard
//! controller and system control port A (`keyboard.rs`), and the absent ports in
//! [`crate::withheld::PORTS`]. Found in the FADT are the PM1 control registers with SLP_EN (ACPI
//! 6.4, 4.8.3.2.1), the reset register (4.8.3.6), the firmware's command port, and what lies around
//! the PM1 blocks (`gaps.rs`).
//!
//! Withheld ports are checked first: a table that gives the number of such a port to one of Linux's
//! registers opens nothing.
//!
//! Every sleep state counts as power-off: only AML says which type is S5, and a guest may no more
//! put the machine to sleep than switch it off.

mod fadt;
mod gaps;
mod keyboard;

pub use fadt::Fadt;

use crate::answer::{Access, Answer, Effect, Request};
use crate::withheld::ABSENT_PORTS;
use gaps::Gaps;
use keyboard::Keyboard;

const RESET_CONTROL: u16 = 0xcf9;

/// Registers of every PC that a model handles, whatever the tables say.
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
    pub fn new(fadt: Fadt) -> Self {
        Power { fadt, ..Power::default() }
    }

    /// The ports that must exit for this model, as first port and count, in no order.
    pub fn ports(&self) -> impl Iterator<Item = (u32, u32)> + use<> {
        fixed().chain(self.pm1().map(|port| (port, 2))).chain(self.withheld())
    }

    /// The ports that Linux neither reads nor writes. The reset register is one of them unless a
    /// model answers there: only the firmware knows what values other than the table's do.
    fn withheld(&self) -> impl Iterator<Item = (u32, u32)> + use<> {
        let reset = self.fadt.reset.filter(|(port, _)| !FIXED.contains(port)).map(|(port, _)| (u32::from(port), 1));
        let command = self.fadt.command.map(|port| (u32::from(port), 2));
        ABSENT_PORTS.into_iter().chain(command).chain(Gaps::new(&self.fadt)).chain(reset)
    }

    /// Reads; `None` if the port is not one of this model's.
    pub fn read(&self, access: Access) -> Option<Answer> {
        Some(match access {
            Access { port: RESET_CONTROL, width: 1 } => Answer::Value(self.reset_control.into()),
            _ if touches(self.withheld(), access) => access.absent(),
            Access { port: keyboard::DATA | keyboard::COMMAND | keyboard::CONTROL_A, width: 1 } => {
                self.keyboard.read(access.port)
            }
            _ if self.is_pm1(access) => Answer::Machine(0),
            _ => return self.stray(access),
        })
    }

    /// Writes, in the same way.
    pub fn write(&mut self, access: Access, value: u32) -> Option<Answer> {
        if self.fadt.reset == Some((access.port, value as u8)) {
            return Some(Answer::Effect(Effect::Request(Request::Reset)));
        }
        Some(match access {
            Access { port: RESET_CONTROL, width: 1 } => self.reset_control(value as u8),
            _ if touches(self.withheld(), access) => access.absent(),
            Access { port: keyboard::DATA | keyboard::COMMAND | keyboard::CONTROL_A, width: 1 } => {
                self.keyboard.write(access.port, value as u8)
            }
            _ if self.is_pm1(access) => self.write_pm1(access, value),
            _ => return self.stray(access),
        })
    }

    /// Writes the reset control register. Bit 2 resets, whatever bits 1 (system) and 3 (full) say.
    fn reset_control(&mut self, value: u8) -> Answer {
        if value & 4 != 0 {
            self.reset_control = 0;
            return Answer::Effect(Effect::Request(Request::Reset));
        }
        self.reset_control = value & 0x0a;
        Answer::Value(0)
    }

    /// An access that is not to one of the registers alone. One that reaches into them is dropped,
    /// because the bus would split it.
    fn stray(&self, access: Access) -> Option<Answer> {
        touches(self.ports(), access).then(|| access.absent())
    }

    /// First ports of the PM1 control registers.
    fn pm1(&self) -> impl Iterator<Item = u32> + use<> {
        [self.fadt.pm1a_control, self.fadt.pm1b_control].into_iter().flatten().map(u32::from)
    }

    /// Whether the access is to a PM1 control register, or to one of its two bytes. Longer accesses
    /// are not: another register follows.
    fn is_pm1(&self, access: Access) -> bool {
        let first = u32::from(access.port);
        let end = first + u32::from(access.width);
        self.pm1().any(|base| base <= first && end <= base + 2) && !touches(fixed(), access)
    }

    /// Writes a PM1 control register. SLP_EN is bit 13 and SLP_TYP bits 10 to 12, both in the upper
    /// byte. The lower byte has GBL_RLS (bit 2), which requests the firmware's attention with a
    /// system management interrupt, and SCI_EN (bit 0), without which power-management events are
    /// such interrupts (ICH9 data sheet 13.8.3.3). GBL_RLS is never written and SCI_EN always,
    /// because ACPI mode is permanent.
    fn write_pm1(&self, access: Access, value: u32) -> Answer {
        const SLEEP_ENABLE: u8 = 1 << 5;
        const GLOBAL_RELEASE: u8 = 1 << 2;
        const INTERRUPT_ENABLE: u8 = 1;
        let mut bytes = value.to_le_bytes();
        for base in self.pm1() {
            let offset = |register: u32| register.checked_sub(access.port.into());
            let at = |register: u32| offset(register).filter(|at| *at < access.width.into());
            if let Some(upper) = at(base + 1).map(|at| bytes[at as usize])
                && upper & SLEEP_ENABLE != 0
            {
                let sleep_type = upper >> 2 & 7;
                return Answer::Effect(Effect::Request(Request::PowerOff { sleep_type }));
            }
            if let Some(at) = at(base) {
                bytes[at as usize] = bytes[at as usize] & !GLOBAL_RELEASE | INTERRUPT_ENABLE;
            }
        }
        Answer::Machine(u32::from_le_bytes(bytes))
    }
}

fn fixed() -> impl Iterator<Item = (u32, u32)> {
    FIXED.into_iter().map(|port| (u32::from(port), 1))
}

/// Whether the access reaches one of the ports.
fn touches(mut ranges: impl Iterator<Item = (u32, u32)>, access: Access) -> bool {
    ranges.any(|(first, count)| access.reaches(first, count))
}
