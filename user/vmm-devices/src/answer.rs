//! Accesses and their results. The models of ports answer with [`Answer`], since an access may go
//! on to the machine's port; those of memory and of registers with a value, or with a write's
//! [`Effect`].

use pillion_abi::vcpu::route;

use crate::apic::{Destination, Message};
use crate::ones;

/// A port access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// First port.
    pub port: u16,
    /// Bytes: 1, 2 or 4.
    pub width: u8,
}

impl Access {
    /// Whether it touches one of the `count` ports from `first` on.
    pub(crate) fn reaches(self, first: u32, count: u32) -> bool {
        let port = u32::from(self.port);
        port < first + count && first < port + u32::from(self.width)
    }

    /// The result where nothing answers: a read returns ones, a write has no effect.
    pub(crate) fn absent(self) -> Answer {
        Answer::Value(ones(self.width))
    }
}

/// The result of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A read returns this; a write is complete.
    Value(u64),
    /// Make the access on the machine's port; a write writes this value.
    Machine(u32),
    /// Write `address` to port 0xcf8 as a doubleword, then make the access on the data port.
    Config {
        /// Value of the address register.
        address: u32,
        /// Data port, 0xcfc to 0xcff.
        port: u16,
    },
    /// A write is complete except for this effect.
    Effect(Effect),
}

/// What the monitor does after an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing.
    None,
    /// Make the vector pending in the guest ([`pillion_abi::call::Call::VcpuInject`]).
    Interrupt(u8),
    /// The processor sends itself an NMI ([`pillion_abi::vcpu::dirty::NMI`]).
    Nmi,
    /// A message for other processors, or for several, or of the doorbell
    /// ([`crate::processors::Processors::send`]).
    Message(Message),
    /// EOI: only in xAPIC mode.
    EndOfInterrupt,
    /// Pass a line's route to the kernel ([`pillion_abi::call::Call::VcpuRouteLine`]).
    Route(Route),
    /// A byte of a note ([`crate::notes`]).
    Note(u8),
    /// The guest asks for its end.
    Request(Request),
}

/// How a guest asks for its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// Restart the guest.
    Reset,
    /// End the guest. The sleep type is the register's field.
    PowerOff {
        /// SLP_TYP.
        sleep_type: u8,
    },
}

/// The route of a line, for the monitor to pass to the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// Line.
    pub line: u8,
    /// Vector in the guest.
    pub vector: u8,
    /// Level-triggered.
    pub level: bool,
    /// Active low.
    pub low: bool,
    /// Masked.
    pub masked: bool,
    /// The guest's shield lets it through.
    pub through: bool,
    /// Whom its interrupts are for ([`crate::processors::Processors::target`]).
    pub to: Destination,
}

impl Route {
    /// The route as the last argument of the call.
    pub const fn word(self) -> u64 {
        let mut word = self.vector as u64;
        if self.level {
            word |= route::LEVEL;
        }
        if self.low {
            word |= route::LOW;
        }
        if self.masked {
            word |= route::MASKED;
        }
        if self.through {
            word |= route::THROUGH;
        }
        word
    }
}
