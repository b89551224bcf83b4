//! Interrupts of user threads.
//!
//! A line interrupts once, and not again until its handler has had the chance to run. A
//! level-triggered line stays masked until it is acknowledged. An edge-triggered line is masked if
//! its handler is less urgent than the current thread, until just before the handler runs, or if no
//! thread waited, until the bits are taken. So a device interrupts threads that are more urgent
//! than its handler once, at whatever rate it raises its line. An edge that is lost meanwhile came
//! before the handler looked at the device.

use crate::{
    Id, Kernel, Machine, Opt, Slot, id::slot_of, machine::Objects, notification::Notification, thread::Thread,
};
use pillion_abi::{
    RT_VECTOR_FIRST,
    status::{Error, Result},
    vcpu::route,
};

/// Number of vectors for user threads on a CPU.
pub const VECTORS: usize = 12;

/// The interrupt of each real-time vector.
pub type Vectors = [Opt<Interrupt>; VECTORS];

/// Who uses a line, of all processors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LineUser {
    /// Nobody: it is masked.
    #[default]
    Nobody,
    /// An interrupt of some processor.
    Interrupt,
    /// The passenger of this processor.
    Passenger(u8),
}

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
    /// The thread that it woke, until which the line is held back; `None` if it is held back until
    /// the bits are taken. Only for lines in [`crate::Cpu::held_lines`].
    pub held_for: Opt<Thread>,
}

impl Id<Interrupt> {
    /// The notification that it signals.
    #[inline(always)]
    #[must_use]
    pub fn notification(self, m: &impl Objects) -> Opt<Notification> {
        m.slot_behind(self, slot_of::<Interrupt>(0)).object()
    }
}

impl<M: Machine> Kernel<M> {
    /// A free vector.
    pub(crate) fn free_vector(&mut self) -> Result<u8> {
        let free = self.cpu.vectors.iter().position(Option::is_none).ok_or(Error::NoMemory)?;
        Ok(RT_VECTOR_FIRST + free as u8)
    }

    /// A physical interrupt in the real-time class. O(1).
    #[inline(always)]
    pub fn rt_interrupt(&mut self, vector: u8) {
        let index = usize::from(vector.wrapping_sub(RT_VECTOR_FIRST));
        let Some(id) = self.cpu.vectors.get(index).copied().flatten() else {
            self.m.end_of_interrupt();
            return;
        };
        let interrupt = self.m.get(id);
        let (line, level, bits) = (interrupt.line, interrupt.flags & route::LEVEL != 0, interrupt.bits);
        if let (Some(line), true) = (line, level) {
            self.m.mask_line(line, true);
        }
        self.m.end_of_interrupt();
        if let Some(n) = id.notification(&self.m) {
            if line.is_some() && !level {
                return self.edge(id, n, bits);
            }
            self.signal(n, bits);
        }
    }

    /// A line that exists and is no interrupt's: [`Error::Busy`] if it is one's.
    pub(crate) fn checked_line(&mut self, line: u64) -> Result<u32> {
        let line = u32::try_from(line).map_err(|_| Error::BadArgument)?;
        if !self.m.line_exists(line) {
            return Err(Error::BadArgument);
        }
        if self.m.line_user(line) == LineUser::Interrupt { Err(Error::Busy) } else { Ok(line) }
    }

    /// Gives a line to a new interrupt: the line is no longer a passenger's, and is masked until
    /// the interrupt is bound.
    pub(crate) fn take_line(&mut self, line: u32) {
        if let Ok(number) = u8::try_from(line) {
            self.cpu.passenger_lines.remove(number);
        }
        self.m.set_line_user(line, LineUser::Interrupt);
        self.m.mask_line(line, true);
    }

    /// Takes one of the passenger's lines away, unless it is somebody else's by now. Returns
    /// whether there was any.
    pub(crate) fn lose_passenger_line(&mut self) -> bool {
        let Some(number) = self.cpu.passenger_lines.highest() else { return false };
        self.cpu.passenger_lines.remove(number);
        let line = number.into();
        if self.m.line_user(line) == LineUser::Passenger(self.cpu.number) {
            self.m.set_line_user(line, LineUser::Nobody);
            self.m.mask_line(line, true);
        }
        true
    }

    /// Signals for an edge-triggered line, which is held back if its handler is less urgent than
    /// the current thread or was not waiting.
    #[inline(never)]
    fn edge(&mut self, id: Id<Interrupt>, n: Id<Notification>, bits: u64) {
        let listener = self.m.get(n);
        let listener = listener.waiter.or(listener.bound);
        self.signal(n, bits);
        if self.m.get(n).bits != 0 {
            return self.hold_line(id, None);
        }
        let level = self.current_priority();
        if let Some(handler) = listener
            && self.m.get(handler).priority < level
        {
            self.hold_line(id, Some(handler));
        }
    }

    /// Holds an edge-triggered line back until a thread runs, or until the bits are taken.
    fn hold_line(&mut self, id: Id<Interrupt>, until_runs: Opt<Thread>) {
        let interrupt = self.m.get(id);
        interrupt.held_for = until_runs;
        let (line, vector) = (interrupt.line, interrupt.vector);
        if let Some(line) = line {
            self.cpu.held_lines |= line_bit(vector);
            self.m.mask_line(line, true);
        }
    }

    fn release_line(&mut self, id: Id<Interrupt>) {
        let interrupt = self.m.get(id);
        let (line, vector) = (interrupt.line, interrupt.vector);
        self.cpu.held_lines &= !line_bit(vector);
        if let Some(line) = line {
            self.m.mask_line(line, false);
        }
    }

    /// Releases those held-back lines that `so` selects, [`VECTORS`] at most.
    fn release_lines_if(&mut self, so: impl Fn(&mut M, Id<Interrupt>) -> bool) {
        for (index, interrupt) in self.cpu.vectors.into_iter().enumerate() {
            if let Some(id) = interrupt
                && self.cpu.held_lines >> index & 1 == 1
                && so(&mut self.m, id)
            {
                self.release_line(id);
            }
        }
    }

    /// Releases the lines whose handlers may run now that the CPU is at a level.
    pub(crate) fn release_lines_from(&mut self, level: u8) {
        self.release_lines_if(|m, id| m.get(id).held_for.is_some_and(|t| m.get(t).priority >= level));
    }

    /// The bits of a notification are taken: releases its lines, since the thread that took the
    /// bits looks at the devices now, and its post.
    #[inline(always)]
    pub(crate) fn bits_taken(&mut self, n: Id<Notification>) {
        if self.cpu.held_lines != 0 {
            self.release_held_by(n);
        }
    }

    #[cold]
    #[inline(never)]
    fn release_held_by(&mut self, n: Id<Notification>) {
        self.release_post(n);
        self.release_lines_if(|m, id| id.notification(m) == Some(n));
    }

    /// Releases the lines held back for a thread that is deleted.
    pub(crate) fn release_lines_for(&mut self, thread: Id<Thread>) {
        self.release_lines_if(|m, id| m.get(id).held_for == Some(thread));
    }

    /// The handler is done: lets the line through again.
    pub(crate) fn interrupt_ack(&mut self, id: Id<Interrupt>) {
        if !self.m.shared(id.slot()).is_empty() {
            self.release_line(id);
        }
    }

    /// Sets what the interrupt signals and enables it.
    pub(crate) fn interrupt_bind(&mut self, id: Id<Interrupt>, notification: Id<Slot>, bits: u64) -> Result<()> {
        if !self.m.shared(id.slot()).is_empty() {
            return Err(Error::Busy);
        }
        self.derive_inner(notification, id.slot())?;
        let interrupt = self.m.get(id);
        interrupt.bits = bits;
        let (line, vector, flags) = (interrupt.line, interrupt.vector, interrupt.flags);
        self.cpu.held_lines &= !line_bit(vector);
        if let Some(line) = line {
            self.m.route_line(line, vector, flags);
        }
        Ok(())
    }

    /// The interrupt is deleted: masks its line and frees its vector.
    pub(crate) fn interrupt_end(&mut self, id: Id<Interrupt>) {
        let interrupt = self.m.get(id);
        let (line, vector) = (interrupt.line, interrupt.vector);
        if let Some(line) = line {
            self.m.set_line_user(line, LineUser::Nobody);
            self.m.mask_line(line, true);
        }
        if let Some(entry) = self.cpu.vectors.get_mut(usize::from(vector.wrapping_sub(RT_VECTOR_FIRST))) {
            *entry = None;
        }
        self.cpu.held_lines &= !line_bit(vector);
    }
}

/// A line's bit in [`crate::Cpu::held_lines`].
#[inline]
fn line_bit(vector: u8) -> u16 {
    1 << (vector.wrapping_sub(RT_VECTOR_FIRST) % 16)
}
