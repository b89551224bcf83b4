//! An I/O APIC that the guest sees in place of a real one (82093AA data sheet; ICH9 data sheet 13.5
//! for the EOI register). The kernel keeps the real one and routes each line to one vector; this
//! model stores what the guest wrote and reports after each write which route the monitor must pass
//! to the kernel ([`pillion_abi::call::Call::VcpuRouteLine`]).
//!
//! Remote IRR reads as zero: the kernel masks or acknowledges a level-triggered line itself. A line
//! of the real-time side is hidden: what the guest writes to it is stored and read back, always
//! with the mask bit, and never becomes a route. [`IoApic::level_vectors`] is the trigger-mode
//! register of the guest's local APIC, which Linux reads at each end of a level-triggered
//! interrupt; it must be right, or Linux ends the interrupt a second time here.
//!
//! With a *doorbell* the guest sees one line more than the machine has. The line is edge-triggered
//! whatever its entry says, has no route, and is rung by [`IoApic::ring`]; a ring while it is
//! masked is delivered once it is unmasked.

mod all;

pub use crate::answer::Route;
use crate::apic::{Destination, Kind, Message};
pub use all::IoApics;

/// Most lines.
pub const LINES: usize = 64;

/// Bytes of the window in memory.
pub const WINDOW: u64 = 0x1000;

const INDEX: u64 = 0x00;
const DATA: u64 = 0x10;
const END_OF_INTERRUPT: u64 = 0x40;
const MASKED: u64 = 1 << 16;
const LEVEL: u64 = 1 << 15;
const LOW: u64 = 1 << 13;
const LOGICAL: u64 = 1 << 11;
/// Vector, delivery mode, destination mode, polarity, trigger, mask, destination. Delivery status
/// and remote IRR are read-only.
const WRITABLE: u64 = 0xff00_0000_0001_afff;

/// The model.
#[derive(Clone, Debug)]
pub struct IoApic {
    lines: u8,
    hidden: u64,
    id: u8,
    index: u8,
    entries: [u64; LINES],
    doorbell: Option<Doorbell>,
}

/// A line that the machine does not have.
#[derive(Clone, Copy, Debug)]
struct Doorbell {
    line: u8,
    pended: bool,
}

impl IoApic {
    /// The state after reset, with as many lines as the real I/O APIC (at most [`LINES`]) and a set
    /// of hidden ones.
    pub const fn new(lines: u8, hidden: u64) -> Self {
        let lines = if lines == 0 {
            1
        } else if lines as usize > LINES {
            LINES as u8
        } else {
            lines
        };
        IoApic { lines, hidden, id: 0, index: 0, entries: [MASKED; LINES], doorbell: None }
    }

    /// Adds a doorbell after the machine's lines. There must be room for it.
    #[must_use]
    pub const fn with_doorbell(mut self) -> Self {
        if (self.lines as usize) < LINES {
            self.doorbell = Some(Doorbell { line: self.lines, pended: false });
            self.lines += 1;
        }
        self
    }

    /// Line of the doorbell, if there is one.
    pub const fn doorbell(&self) -> Option<u8> {
        match self.doorbell {
            Some(Doorbell { line, .. }) => Some(line),
            None => None,
        }
    }

    /// Rings the doorbell. Returns its message; `None` while the line is masked, and the ring stays
    /// pending.
    pub fn ring(&mut self) -> Option<Message> {
        self.doorbell.as_mut()?.pended = true;
        self.take_pended()
    }

    /// The message of a doorbell that was rung while its line was masked, once it is unmasked. Call
    /// it after each write.
    pub fn take_pended(&mut self) -> Option<Message> {
        let Doorbell { line, pended: true } = self.doorbell? else { return None };
        let entry = *self.entries.get(usize::from(line))?;
        let kind = deliverable(entry)?;
        self.doorbell = Some(Doorbell { line, pended: false });
        Some(Message { kind, to: destination(entry) })
    }

    /// Reads from the window. The registers are doublewords; anything else reads zero.
    pub fn read(&self, offset: u64, width: u8) -> u64 {
        match (offset, width) {
            (INDEX, _) => u64::from(self.index),
            (DATA, 4) => u64::from(self.register(self.index)),
            _ => 0,
        }
    }

    /// Writes to the window, and returns the route that changed.
    pub fn write(&mut self, offset: u64, width: u8, value: u64) -> Option<Route> {
        match (offset, width) {
            (INDEX, _) => self.index = value as u8,
            (DATA, 4) => return self.set_register(self.index, value as u32),
            // It would release what is held back, but nothing is: remote IRR is always zero.
            (END_OF_INTERRUPT, _) => {}
            _ => {}
        }
        None
    }

    fn register(&self, index: u8) -> u32 {
        match index {
            0 | 2 => u32::from(self.id) << 24,
            // Version 0x20, which has an EOI register, and the number of the last entry.
            1 => 0x20 | (u32::from(self.lines) - 1) << 16,
            _ => match self.entry_of(index) {
                Some((line, false)) => self.visible(line) as u32,
                Some((line, true)) => (self.visible(line) >> 32) as u32,
                None => 0,
            },
        }
    }

    fn set_register(&mut self, index: u8, value: u32) -> Option<Route> {
        if index == 0 {
            self.id = (value >> 24) as u8 & 0xf;
            return None;
        }
        let (line, high) = self.entry_of(index)?;
        let before = self.route(line);
        let entry = self.entries.get_mut(line)?;
        let whole = if high {
            (*entry & 0xffff_ffff) | u64::from(value) << 32
        } else {
            (*entry & !0xffff_ffff) | u64::from(value)
        };
        *entry = whole & WRITABLE;
        let after = self.route(line)?;
        (Some(after) != before).then_some(after)
    }

    /// The line of a register, and whether it is the upper half of the entry.
    fn entry_of(&self, index: u8) -> Option<(usize, bool)> {
        let position = index.checked_sub(0x10)?;
        let line = position / 2;
        (line < self.lines).then_some((usize::from(line), position % 2 == 1))
    }

    fn is_doorbell(&self, line: usize) -> bool {
        self.doorbell().is_some_and(|doorbell| usize::from(doorbell) == line)
    }

    fn is_hidden(&self, line: usize) -> bool {
        !self.is_doorbell(line) && (line >= LINES || self.hidden >> line & 1 != 0)
    }

    fn visible(&self, line: usize) -> u64 {
        let entry = self.entries.get(line).copied().unwrap_or(MASKED);
        if self.is_hidden(line) { entry | MASKED } else { entry }
    }

    /// The current route of a line; `None` for a hidden line and the doorbell. Only the fixed and
    /// lowest-priority delivery modes give an unmasked route: NMI, SMI, INIT and the 8259's mode do
    /// not reach the guest this way.
    pub fn route(&self, line: usize) -> Option<Route> {
        if line >= usize::from(self.lines) || self.is_hidden(line) || self.is_doorbell(line) {
            return None;
        }
        let entry = *self.entries.get(line)?;
        Some(Route {
            line: line as u8,
            vector: entry as u8,
            level: entry & LEVEL != 0,
            low: entry & LOW != 0,
            masked: deliverable(entry).is_none(),
            through: false,
            to: destination(entry),
        })
    }

    /// The vectors of level-triggered lines, as the bits of the local APIC's trigger-mode register.
    /// Masked lines count: Linux masks a line between its interrupt and the end of it.
    pub fn level_vectors(&self) -> [u64; 4] {
        let mut vectors = [0; 4];
        for route in (0..usize::from(self.lines)).filter_map(|line| self.route(line)).filter(|route| route.level) {
            vectors[usize::from(route.vector >> 6)] |= 1 << (route.vector & 63);
        }
        vectors
    }

    /// Restores the state after reset: the routes to pass on are masked for each visible line.
    pub fn reset(&mut self) {
        let lines = self.doorbell().unwrap_or(self.lines);
        let new = Self::new(lines, self.hidden);
        *self = if self.doorbell.is_some() { new.with_doorbell() } else { new };
    }
}

/// What an unmasked entry sends, if its delivery mode is one that reaches the guest.
const fn deliverable(entry: u64) -> Option<Kind> {
    match (entry as u8, entry >> 8 & 7) {
        _ if entry & MASKED != 0 => None,
        (vector @ 16.., 0) => Some(Kind::Fixed(vector)),
        (vector @ 16.., 1) => Some(Kind::Lowest(vector)),
        _ => None,
    }
}

/// Whom an entry names. All ones are everybody.
const fn destination(entry: u64) -> Destination {
    match (entry >> 56, entry & LOGICAL != 0) {
        (0xff, _) => Destination::All,
        (id, true) => Destination::Logical(id as u32),
        (id, false) => Destination::Physical(id as u32),
    }
}
