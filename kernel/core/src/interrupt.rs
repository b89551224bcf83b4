//! Interrupts of user threads.

use crate::{Cap, Id, Kernel, Machine, Opt, Slot};
use pillion_abi::{
    RT_VECTOR_FIRST,
    status::{Error, Result},
    vcpu::route,
};

/// Vectors that user threads can have on a CPU.
pub const VECTORS: usize = 12;

/// Which interrupt a real-time vector stands for.
pub type Vectors = [Opt<Interrupt>; VECTORS];

/// An interrupt.
#[derive(Debug, Default)]
pub struct Interrupt {
    /// Line, or none when the interrupt is message-signalled.
    pub line: Option<u32>,
    /// Flags as in [`route`].
    pub flags: u64,
    /// Vector.
    pub vector: u8,
    /// Bits that it signals.
    pub bits: u64,
    /// The notification, as a capability that it holds.
    pub slot: Slot,
}

impl<M: Machine> Kernel<M> {
    /// A vector that nobody has.
    pub(crate) fn free_vector(&mut self) -> Result<u8> {
        let free = self.cpu.vectors.iter().position(Option::is_none).ok_or(Error::NoMemory)?;
        Ok(RT_VECTOR_FIRST + free as u8)
    }

    /// A physical interrupt in the real-time class. O(1).
    #[inline]
    pub fn rt_interrupt(&mut self, vector: u8) {
        let index = usize::from(vector.wrapping_sub(RT_VECTOR_FIRST));
        let Some(id) = self.cpu.vectors.get(index).copied().flatten() else {
            self.m.end_of_interrupt();
            return;
        };
        let interrupt = self.m.get(id);
        let (line, level, bits, target) =
            (interrupt.line, interrupt.flags & route::LEVEL != 0, interrupt.bits, interrupt.slot.cap);
        if let (Some(line), true) = (line, level) {
            self.m.mask_line(line, true);
        }
        self.m.end_of_interrupt();
        if let Cap::Notification(n) = target {
            self.signal(n, bits);
        }
    }

    /// A line has an interrupt of its own from now on: it is the passenger's no more, and silent until it is bound.
    pub(crate) fn take_line(&mut self, line: u32) {
        if let Ok(number) = u8::try_from(line) {
            self.cpu.passenger_lines.remove(number);
        }
        self.m.mask_line(line, true);
    }

    /// The handler is done: a level-triggered line may come again.
    pub(crate) fn interrupt_ack(&mut self, id: Id<Interrupt>) {
        let interrupt = self.m.get(id);
        let bound = interrupt.slot.cap != Cap::None;
        if let (Some(line), true) = (interrupt.line, bound) {
            self.m.mask_line(line, false);
        }
    }

    /// Says what the interrupt signals and enables it.
    pub(crate) fn interrupt_bind(&mut self, id: Id<Interrupt>, notification: Id<Slot>, bits: u64) -> Result<()> {
        let slot = crate::cap::inner(id, core::mem::offset_of!(Interrupt, slot))?;
        if self.m.get(id).slot.cap != Cap::None {
            return Err(Error::Busy);
        }
        self.derive_inner(notification, slot)?;
        let interrupt = self.m.get(id);
        interrupt.bits = bits;
        let (line, vector, flags) = (interrupt.line, interrupt.vector, interrupt.flags);
        if let Some(line) = line {
            self.m.route_line(line, vector, flags);
        }
        Ok(())
    }

    /// The interrupt ends: its line is masked and its vector free.
    pub(crate) fn interrupt_end(&mut self, id: Id<Interrupt>) {
        let interrupt = self.m.get(id);
        let (line, vector) = (interrupt.line, interrupt.vector);
        if let Some(line) = line {
            self.m.mask_line(line, true);
        }
        if let Some(entry) = self.cpu.vectors.get_mut(usize::from(vector.wrapping_sub(RT_VECTOR_FIRST))) {
            *entry = None;
        }
    }
}
