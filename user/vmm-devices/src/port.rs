//! Accesses to ports that exit: who answers.
//!
//! What tasks and the kernel have is asked first, and what is withheld before whatever lets an access through. So no order of the models opens a
//! port that is not the guest's.

use crate::pci::{self, Filter};
use crate::power::{self, Power, Request};
use crate::{notes, ones};

/// An access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// First port.
    pub port: u16,
    /// Bytes: 1, 2 or 4.
    pub width: u8,
}

/// What becomes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A read gives this, a write is over.
    Value(u32),
    /// Make it in configuration space; see [`pci::Outcome::Pass`].
    Config {
        /// Value of the address register.
        address: u32,
        /// Data port.
        port: u16,
    },
    /// Make it on the machine's port, a write with this value.
    Machine(u32),
    /// A byte of a note.
    Note(u8),
    /// The guest asks for its end.
    Request(Request),
}

/// Models of ports, and the ports that are not the guest's.
pub struct Ports<'a> {
    /// First ports and numbers of what tasks and the kernel have.
    pub hidden: &'a [[u32; 2]],
    /// Configuration space.
    pub pci: &'a mut Filter,
    /// Reset, power-off, and what is withheld.
    pub power: &'a mut Power,
}

impl Ports<'_> {
    /// A read.
    #[must_use]
    pub fn read(&self, access: Access) -> Answer {
        let Access { port, width } = access;
        if self.is_hidden(access) {
            return access.absent();
        }
        let note = Answer::Value(notes::PORT.into());
        of_pci(self.pci.read(port, width)).unwrap_or_else(|| access.of_power(self.power.read(port, width), 0, note))
    }

    /// A write.
    pub fn write(&mut self, access: Access, value: u32) -> Answer {
        let Access { port, width } = access;
        if self.is_hidden(access) {
            return access.absent();
        }
        let note = Answer::Note(value as u8);
        of_pci(self.pci.write(port, width, value))
            .unwrap_or_else(|| access.of_power(self.power.write(port, width, value), value, note))
    }

    fn is_hidden(&self, access: Access) -> bool {
        self.hidden.iter().any(|[first, count]| access.reaches(*first, *count))
    }
}

impl Access {
    /// Whether it touches one of so many ports.
    pub(crate) fn reaches(self, first: u32, count: u32) -> bool {
        let port = u32::from(self.port);
        port < first + count && first < port + u32::from(self.width)
    }

    /// As if nothing were there.
    fn absent(self) -> Answer {
        Answer::Value(ones(self.width) as u32)
    }

    /// What the last of the models said; what is none of its is a note, or the machine's.
    fn of_power(self, outcome: power::Outcome, value: u32, note: Answer) -> Answer {
        match outcome {
            power::Outcome::Request(request) => Answer::Request(request),
            power::Outcome::Value(value) => Answer::Value(value),
            power::Outcome::Pass(value) => Answer::Machine(value),
            power::Outcome::NotMine if self == NOTE => note,
            power::Outcome::NotMine if self.reaches(notes::PORT.into(), 1) => self.absent(),
            power::Outcome::NotMine => Answer::Machine(value),
        }
    }
}

const NOTE: Access = Access { port: notes::PORT, width: 1 };

fn of_pci(outcome: pci::Outcome) -> Option<Answer> {
    match outcome {
        pci::Outcome::Value(value) => Some(Answer::Value(value)),
        pci::Outcome::Pass { address, port } => Some(Answer::Config { address, port }),
        pci::Outcome::Elsewhere => None,
    }
}
