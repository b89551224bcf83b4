//! Faults of threads: a call to the handler on the thread's behalf, and what the answer does.

use crate::{
    Id, Kernel, Machine, Opt,
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
        self.m.get(id).fault = fault;
        let look = self.m.shared(id.place(place::FAULT)).look();
        if let Some(handler) = look.endpoint() {
            self.m.get(id).faulted = true;
            match self.own(handler) {
                Ok(endpoint) if self.call(id, endpoint, look.badge).is_ok() => return,
                Err(_) if self.may_call(id, handler.home()).is_ok() => {
                    return self.leave_for(handler.home(), id, 0, &words);
                }
                _ => self.m.get(id).faulted = false,
            }
        }
        self.block_current(State::Stopped);
        self.fault_unheard(id);
    }

    /// Leaves a thread stopped whose fault nobody was told of.
    pub(crate) fn fault_unheard(&mut self, id: Id<Thread>) {
        let Thread { fault, .. } = *self.m.get(id);
        self.m.report_fault(id, &fault);
        self.m.get(id).state = State::Stopped;
        self.abandon_caller(id);
        self.restore_priority(id);
    }

    /// Resumes a faulted thread as its handler answered, or leaves it stopped. Returns the thread
    /// if it can run.
    pub(crate) fn answer_fault(&mut self, server: Id<Thread>, caller: Id<Thread>) -> Opt<Thread> {
        let c = self.m.get(caller);
        c.faulted = false;
        c.state = State::Stopped;
        self.resumes(server, caller).then_some(caller)
    }

    /// Whether a handler's answer resumes the faulted thread, which is then set to go on where the
    /// answer says.
    pub(crate) fn resumes(&mut self, handler: Id<Thread>, faulted: Id<Thread>) -> bool {
        let answer = self.m.message(handler);
        if answer.label == 1 {
            self.m.set_instruction_pointer(faulted, answer.words[0]);
        }
        answer.label <= 1
    }
}
