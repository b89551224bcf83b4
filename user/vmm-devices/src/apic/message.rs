//! Messages between processors (SDM vol. 3, 11.6): what a write of the interrupt command register
//! sends, and whom it reaches.

use super::ApicMode;

const ASSERT: u64 = 1 << 14;
const LEVEL: u64 = 1 << 15;
const LOGICAL: u64 = 1 << 11;

/// What a message does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Makes a vector pending.
    Fixed(u8),
    /// Makes a vector pending at one of those that are addressed.
    Lowest(u8),
    /// A non-maskable interrupt.
    Nmi,
    /// Resets the processor, which then waits for a start-up message.
    Init,
    /// Starts a processor that waits for it, in the page with that number.
    StartUp(u8),
}

/// Whom a message is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// The sender.
    Own,
    /// All, the sender too.
    All,
    /// All but the sender.
    Others,
    /// The local APIC with that ID.
    Physical(u32),
    /// Those whose logical ID it matches.
    Logical(u32),
}

/// A message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// What it does.
    pub kind: Kind,
    /// Whom it is for.
    pub to: Destination,
}

impl Message {
    /// What a value of the command register sends in that mode. `None` for what is not offered
    /// (SMI), reserved, or without an effect (the end of a level-triggered INIT).
    pub fn decode(command: u64, mode: ApicMode) -> Option<Message> {
        let vector = command as u8;
        let kind = match command >> 8 & 7 {
            0 => Kind::Fixed(vector),
            1 => Kind::Lowest(vector),
            4 => Kind::Nmi,
            5 if command & (LEVEL | ASSERT) != LEVEL => Kind::Init,
            6 => Kind::StartUp(vector),
            _ => return None,
        };
        let to = match command >> 18 & 3 {
            0 => destination(command, mode),
            1 => Destination::Own,
            2 => Destination::All,
            _ => Destination::Others,
        };
        Some(Message { kind, to })
    }
}

/// The destination of a message without shorthand. All ones are everybody, physically and
/// logically.
fn destination(command: u64, mode: ApicMode) -> Destination {
    let everybody = if mode == ApicMode::X2apic { u32::MAX } else { 0xff };
    let id = if mode == ApicMode::X2apic { (command >> 32) as u32 } else { (command >> 56) as u32 };
    match command & LOGICAL != 0 {
        _ if id == everybody => Destination::All,
        true => Destination::Logical(id),
        false => Destination::Physical(id),
    }
}

/// What a local APIC compares a destination with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// Its ID.
    pub id: u32,
    /// Its mode. One that is off takes no message.
    pub mode: ApicMode,
    /// Its logical ID; that of xAPIC mode in the upper byte.
    pub logical: u32,
    /// Destination format register, of xAPIC mode.
    pub format: u32,
}

impl Address {
    /// Whether a message for `to` reaches it. `is_sender`: it is its own.
    pub fn is_reached(&self, to: Destination, is_sender: bool) -> bool {
        let is_addressed = match to {
            Destination::Own => is_sender,
            Destination::All => true,
            Destination::Others => !is_sender,
            Destination::Physical(id) => id == self.id,
            Destination::Logical(id) => self.matches(id),
        };
        is_addressed && self.mode != ApicMode::Disabled
    }

    /// 11.6.2.2, and 11.12.10.1 for x2APIC mode: a cluster and a set in it, or a flat set.
    fn matches(&self, id: u32) -> bool {
        let own = self.logical;
        match self.mode {
            ApicMode::X2apic => id >> 16 == own >> 16 && id & own & 0xffff != 0,
            _ if self.format >> 28 == 0xf => id & own >> 24 != 0,
            _ => id >> 4 == own >> 28 && id & own >> 24 & 0xf != 0,
        }
    }
}
