//! What an access is, and what becomes of it: the one type in which all devices answer.

use pillion_abi::vcpu::route;

use crate::ones;

/// An access to ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// First port.
    pub port: u16,
    /// Bytes: 1, 2 or 4.
    pub width: u8,
}

impl Access {
    /// Whether it touches one of so many ports.
    pub(crate) fn reaches(self, first: u32, count: u32) -> bool {
        let port = u32::from(self.port);
        port < first + count && first < port + u32::from(self.width)
    }

    /// As if nothing were there: a read gives ones, a write is over.
    pub(crate) fn absent(self) -> Answer {
        Answer::Value(ones(self.width))
    }
}

/// What becomes of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A read gives this, a write is over.
    Value(u64),
    /// Make it on the machine's port, a write with this value.
    Machine(u32),
    /// Write `address` to port 0xcf8 as a doubleword, then make the access on the data port.
    Config {
        /// Value of the address register.
        address: u32,
        /// Data port, 0xcfc to 0xcff.
        port: u16,
    },
    /// A write is over, but for this.
    Effect(Effect),
}

/// What the monitor does after an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing.
    None,
    /// [`crate::apic::Shared`] changed: copy it back, and look at
    /// [`crate::apic::LocalApic::next_wake`].
    Shared,
    /// Make the vector pending in the guest ([`pillion_abi::call::Call::VcpuInject`]).
    Interrupt(u8),
    /// Deliver an NMI to the guest.
    Nmi,
    /// EOI: arrives here in xAPIC mode only.
    EndOfInterrupt,
    /// Tell the kernel of a line ([`pillion_abi::call::Call::VcpuRouteLine`]).
    Route(Route),
    /// A byte of a note ([`crate::notes`]).
    Note(u8),
    /// The guest asks for its end.
    Request(Request),
}

/// How the guest asks for its end.
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

/// What the monitor is to tell the kernel about a line.
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
}

impl Route {
    /// The route as the last argument of the call.
    #[must_use]
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
        word
    }
}
