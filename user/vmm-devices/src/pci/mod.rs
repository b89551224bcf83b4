//! PCI configuration space, filtered: functions of the real-time side read as absent, everything else is the real thing.
//!
//! Mechanism #1 (ports 0xcf8 and 0xcfc..=0xcff; PCI 3.0, 3.2.2.3.2) is the only way there is for a guest: it has nothing of the memory-mapped
//! window (PCI Express 3.0, 7.2.2), and so no registers from 256 on. Bits 24 to 30 of the address, by which AMD's processors reach those, name
//! nothing either. Of the writes that pass, [`Filter::allows`] holds back those that would move things.
//! An access that passes names the address register's value together with the data port, so that the monitor does both
//! at once and no other user of the mechanism comes between.
//!
//! Hiding function 0 of a device hides the whole device from Linux, which looks for the others only behind function 0.
//! Not done: MSI and MSI-X messages are not checked. A guest can direct a device's message at any vector that the
//! physical local APIC takes from the bus; only an IOMMU with interrupt remapping closes this.

mod guard;
mod quiesce;

pub use guard::{Change, ConfigSpace, Kept, memory_of};
pub use quiesce::{ConfigAccess, Quiesce, Write};

use crate::ones;

/// A function of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Function {
    /// Bus.
    pub bus: u8,
    /// Device, 0 to 31.
    pub device: u8,
    /// Function, 0 to 7.
    pub function: u8,
}

impl Function {
    /// From bus << 8 | device << 3 | function.
    #[must_use]
    pub const fn from_id(id: u16) -> Function {
        Function { bus: (id >> 8) as u8, device: (id >> 3) as u8 & 31, function: id as u8 & 7 }
    }

    /// From the address register.
    #[must_use]
    pub const fn of(address: u32) -> Function {
        Function { bus: (address >> 16) as u8, device: (address >> 11) as u8 & 31, function: (address >> 8) as u8 & 7 }
    }

    /// The address register's value for a doubleword of this function below 256.
    #[must_use]
    pub const fn address(self, register: u8) -> u32 {
        ENABLE
            | (self.bus as u32) << 16
            | (self.device as u32 & 31) << 11
            | (self.function as u32 & 7) << 8
            | (register as u32 & 0xfc)
    }
}

const ENABLE: u32 = 1 << 31;
/// Bits that are reserved, or the upper part of the register's number.
const EXTENDED: u32 = 0x7f << 24;
const ADDRESS_PORT: u16 = 0xcf8;
const DATA_PORT: u16 = 0xcfc;
const LAST_PORT: u16 = 0xcff;
const RESET_PORT: u16 = 0xcf9;

/// Most functions that can be hidden.
pub const HIDDEN: usize = 32;

/// What becomes of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Done: a read gives this, a write is over.
    Value(u32),
    /// Write `address` to port 0xcf8 as a doubleword, then make the access on the data port.
    Pass {
        /// Value of the address register.
        address: u32,
        /// Data port, 0xcfc to 0xcff.
        port: u16,
    },
    /// Touches none of the mechanism's registers: ask the other models.
    Elsewhere,
}

/// The filter.
#[derive(Clone, Debug)]
pub struct Filter {
    address: u32,
    hidden: [Option<Function>; HIDDEN],
}

impl Default for Filter {
    fn default() -> Self {
        Self::new()
    }
}

impl Filter {
    /// With nothing hidden.
    #[must_use]
    pub const fn new() -> Self {
        Filter { address: 0, hidden: [None; HIDDEN] }
    }

    /// Hides a function; false when there is no room.
    #[must_use]
    pub fn hide(&mut self, function: Function) -> bool {
        if self.is_hidden(function) {
            return true;
        }
        let slot = self.hidden.iter_mut().find(|slot| slot.is_none());
        slot.map(|slot| *slot = Some(function)).is_some()
    }

    /// True for a function that the guest does not see.
    #[must_use]
    pub fn is_hidden(&self, function: Function) -> bool {
        self.hidden.contains(&Some(function))
    }

    /// A read of a port. What touches the mechanism's registers in any other way than it defines reads all ones, and
    /// never reaches the machine: split by the bus, such an access would come past the filter.
    #[must_use]
    pub fn read(&self, port: u16, width: u8) -> Outcome {
        match port {
            ADDRESS_PORT if width == 4 => Outcome::Value(self.address),
            DATA_PORT..=LAST_PORT => self.data(port, width),
            _ => stray(port, width),
        }
    }

    /// A write of a port, in the same way. A byte at port 0xcf9 is for the reset register ([`crate::power`]).
    pub fn write(&mut self, port: u16, width: u8, value: u32) -> Outcome {
        match port {
            ADDRESS_PORT if width == 4 => {
                self.address = value & !3;
                Outcome::Value(value)
            }
            DATA_PORT..=LAST_PORT => self.data(port, width),
            _ => stray(port, width),
        }
    }

    fn data(&self, port: u16, width: u8) -> Outcome {
        let absent = Outcome::Value(ones(width) as u32);
        let fits = (port & 3) + u16::from(width) <= 4;
        if self.address & (ENABLE | EXTENDED) != ENABLE || !fits || self.is_hidden(Function::of(self.address)) {
            return absent;
        }
        Outcome::Pass { address: self.address, port }
    }
}

/// An access that begins outside the registers, or at the address register with the wrong width.
fn stray(port: u16, width: u8) -> Outcome {
    let touches = u32::from(port) + u32::from(width) > u32::from(ADDRESS_PORT) && port <= LAST_PORT;
    match (port, width) {
        (RESET_PORT, 1) => Outcome::Elsewhere,
        _ if touches => Outcome::Value(ones(width) as u32),
        _ => Outcome::Elsewhere,
    }
}
