//! PCI configuration space, filtered: functions of the real-time side read as absent, everything
//! else is the machine's.
//!
//! Mechanism #1 (ports 0xcf8 and 0xcfc..=0xcff; PCI 3.0, 3.2.2.3.2) is the guest's only access: it
//! has no part of the memory-mapped window (PCI Express 3.0, 7.2.2), and so no registers from 256
//! on. Bits 24 to 30 of the address, with which AMD's processors reach those, select nothing
//! either. Of the writes that pass, [`Filter::allows`] holds back those that would move things. An
//! access that passes ([`Answer::Config`]) carries the address register's value together with the
//! data port, so that the monitor does both at once and no other user of the mechanism comes
//! between.
//!
//! Hiding function 0 of a device hides the whole device from Linux, which probes the others only if
//! there is a function 0. Not done: MSI and MSI-X messages are not checked. A guest can direct a
//! device's message at any vector that the physical local APIC accepts from the bus; only an IOMMU
//! with interrupt remapping closes this.

mod guard;
mod quiesce;

pub use guard::{Change, ConfigSpace, Kept, memory_of};
pub use quiesce::{ConfigAccess, Quiesce, Write};

use crate::answer::{Access, Answer};

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
    /// From `bus << 8 | device << 3 | function`.
    pub const fn from_id(id: u16) -> Function {
        Function { bus: (id >> 8) as u8, device: (id >> 3) as u8 & 31, function: id as u8 & 7 }
    }

    /// From the address register.
    pub const fn of(address: u32) -> Function {
        Function { bus: (address >> 16) as u8, device: (address >> 11) as u8 & 31, function: (address >> 8) as u8 & 7 }
    }

    /// The address register's value for a doubleword of this function below register 256.
    pub const fn address(self, register: u8) -> u32 {
        ENABLE
            | (self.bus as u32) << 16
            | (self.device as u32 & 31) << 11
            | (self.function as u32 & 7) << 8
            | (register as u32 & 0xfc)
    }
}

const ENABLE: u32 = 1 << 31;
/// Reserved bits, or the upper part of the register number.
const EXTENDED: u32 = 0x7f << 24;
const ADDRESS_PORT: u16 = 0xcf8;
const DATA_PORT: u16 = 0xcfc;
const LAST_PORT: u16 = 0xcff;
/// The reset register, which lies between the two.
const RESET: Access = Access { port: 0xcf9, width: 1 };

/// Most functions that can be hidden.
pub const HIDDEN: usize = 32;

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
    /// First port of the mechanism, and number of ports.
    pub const PORTS: (u32, u32) = (ADDRESS_PORT as u32, (LAST_PORT - ADDRESS_PORT + 1) as u32);

    /// A filter that hides nothing.
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

    /// Whether the guest does not see this function.
    pub fn is_hidden(&self, function: Function) -> bool {
        self.hidden.contains(&Some(function))
    }

    /// Reads; `None` if the access touches none of the mechanism's registers. An access that
    /// touches them in a way that the mechanism does not define reads all ones and never reaches
    /// the machine: split by the bus, it would bypass the filter.
    pub fn read(&self, access: Access) -> Option<Answer> {
        match access {
            Access { port: ADDRESS_PORT, width: 4 } => Some(Answer::Value(self.address.into())),
            Access { port: DATA_PORT..=LAST_PORT, .. } => Some(self.data(access)),
            _ => stray(access),
        }
    }

    /// Writes, in the same way. A byte at port 0xcf9 is for the reset register ([`crate::power`]).
    pub fn write(&mut self, access: Access, value: u32) -> Option<Answer> {
        match access {
            Access { port: ADDRESS_PORT, width: 4 } => {
                self.address = value & !3;
                Some(Answer::Value(value.into()))
            }
            Access { port: DATA_PORT..=LAST_PORT, .. } => Some(self.data(access)),
            _ => stray(access),
        }
    }

    fn data(&self, access: Access) -> Answer {
        let fits = (access.port & 3) + u16::from(access.width) <= 4;
        if self.address & (ENABLE | EXTENDED) != ENABLE || !fits || self.is_hidden(Function::of(self.address)) {
            return access.absent();
        }
        Answer::Config { address: self.address, port: access.port }
    }
}

/// An access that begins outside the registers, or at the address register with the wrong width.
fn stray(access: Access) -> Option<Answer> {
    let (first, count) = Filter::PORTS;
    (access.reaches(first, count) && access != RESET).then(|| access.absent())
}
