//! Linux's vCPUs: the state that the monitor and the kernel share, and the calls on them.

use pillion_abi::NEVER;
use pillion_abi::vcpu::{Exit, State, dirty};
use pillion_runtime::{call, info::monitor};
use pillion_vmm_devices::answer::Route;
use pillion_vmm_devices::processors::News;

use crate::end::End;

/// A vCPU, for the thread that runs it.
pub struct Vcpu {
    index: usize,
    /// The state that it shares with the kernel.
    pub state: &'static State,
}

impl Vcpu {
    /// That of a processor of Linux's.
    ///
    /// # Safety
    /// The caller's thread runs it, and no other uses its state.
    pub unsafe fn of(index: usize) -> Vcpu {
        // SAFETY: the page is mapped at this address for good. It holds cells of integers, which
        // the kernel writes only while this thread is in `vcpu_run`, and atomics, which it writes
        // at any time.
        let state = unsafe { &*(monitor::vcpu_state(index) as *const State) };
        Vcpu { index, state }
    }

    /// Its number among Linux's processors.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Runs it up to an exit.
    pub fn run(&self) -> Result<(Exit, u64), End> {
        let [reason, value] =
            call::vcpu_run(slot(self.index)).map_err(|_| End::Broken("the kernel refused to run a vCPU"))?;
        let reason = Exit::from_raw(reason).ok_or(End::Broken("the kernel gave an unknown reason"))?;
        Ok((reason, value))
    }

    /// Waits for a signal, which is what an exit with [`Exit::Notified`] would report.
    pub fn wait(&self) -> Result<(Exit, u64), End> {
        let [bits, _] = call::wait(notification(self.index), NEVER)
            .map_err(|_| End::Broken("the kernel refused to let a thread wait"))?;
        Ok((Exit::Notified, bits))
    }

    /// Continues after an instruction of that length.
    pub fn advance(&self, bytes: u64) {
        self.go_on_at(self.state.rip.get().wrapping_add(bytes));
    }

    /// Continues at that address.
    pub fn go_on_at(&self, rip: u64) {
        self.state.rip.set(rip);
        self.state.dirty.update(|bits| bits | dirty::CORE);
    }

    /// Delivers an exception instead of completing the instruction.
    pub fn raise(&self, event: u64) {
        self.state.event.set(event);
        self.state.dirty.update(|bits| bits | dirty::EVENT);
    }

    /// Delivers what a processor was sent, but for INIT and start-up.
    pub fn interrupt(&self, news: News) {
        news.vectors().for_each(|vector| self.inject(vector));
        if news.nmi {
            self.interrupt_by_nmi();
        }
    }

    /// Delivers an NMI, as soon as the processor takes one.
    pub fn interrupt_by_nmi(&self) {
        self.state.dirty.update(|bits| bits | dirty::NMI);
    }

    /// Makes a vector pending.
    pub fn inject(&self, vector: u8) {
        let _ = call::vcpu_inject(slot(self.index), vector);
    }

    /// Ends the highest-priority interrupt in service.
    pub fn end_of_interrupt(&self) {
        let _ = call::vcpu_end_of_interrupt(slot(self.index));
    }
}

/// Slot of a processor's vCPU.
pub fn slot(index: usize) -> u32 {
    monitor::slot::VCPUS + index as u32
}

/// Slot of the notification that is bound to a processor's thread.
pub fn notification(index: usize) -> u32 {
    monitor::slot::NOTIFICATIONS + index as u32
}

/// Has a processor's thread leave the guest, or end its wait, and look what has changed.
pub fn alert(index: usize) {
    let _ = call::signal(notification(index));
}

/// Discards all interrupts of a processor.
pub fn reset(index: usize) {
    let _ = call::vcpu_reset(slot(index));
}

/// Passes a line's route to a processor to the kernel, which owns the real I/O APICs. The kernel
/// refuses a line that belongs to the real-time side.
pub fn route(index: usize, route: Route) {
    let _ = call::vcpu_route_line(slot(index), monitor::slot::IRQ_CONTROL, route.line.into(), route.word());
}
