//! Faults of threads: a call to the handler on the thread's behalf, and what the answer does.

use crate::{
    Cap, Id, Kernel, Machine, Opt,
    machine::Message,
    thread::{State, Thread, place},
};
use pillion_abi::call::LABEL_FAULT;

impl<M: Machine> Kernel<M> {
    /// The current thread faulted: calls its handler on its behalf. If that is impossible, the
    /// thread stops, and the caller that it serves is released with
    /// [`pillion_abi::status::Error::Gone`].
    ///
    /// `words`: vector, error code, address, instruction pointer, stack pointer, flags.
    pub fn fault(&mut self, words: [u64; 6]) {
        let Some(id) = self.cpu.current else { return };
        let mut fault = Message { label: LABEL_FAULT, ..Message::default() };
        fault.words[..6].copy_from_slice(&words);
        let thread = self.m.get(id);
        thread.fault = fault;
        let slot = &thread.slots[place::FAULT];
        let (handler, badge) = (slot.cap, slot.badge);
        if let Cap::Endpoint(endpoint) = handler {
            self.m.get(id).faulted = true;
            if self.call(id, endpoint, badge).is_ok() {
                return;
            }
            self.m.get(id).faulted = false;
        }
        self.m.report_fault(id, &fault);
        self.block_current(State::Stopped);
        self.abandon_caller(id);
        self.restore_priority(id);
    }

    /// Resumes a faulted thread as its handler answered, or leaves it stopped. Returns the thread
    /// if it can run.
    pub(crate) fn answer_fault(&mut self, server: Id<Thread>, caller: Id<Thread>) -> Opt<Thread> {
        let answer = self.m.message(server);
        let c = self.m.get(caller);
        c.faulted = false;
        c.state = State::Stopped;
        match answer.label {
            0 => Some(caller),
            1 => {
                self.m.set_instruction_pointer(caller, answer.words[0]);
                Some(caller)
            }
            _ => None,
        }
    }
}
