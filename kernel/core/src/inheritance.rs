//! Priority along a chain of calls: who waits in an endpoint's queue raises its receiver, and the threads that this one waits for in turn.

use crate::{
    Id, Kernel, Machine, Opt,
    endpoint::CHAIN,
    thread::{State, Thread},
};
use pillion_abi::status::{Error, Result};

impl<M: Machine> Kernel<M> {
    /// Whether callers raise a thread: one without time of its own runs at their priority in any case.
    #[inline]
    fn is_raised(&mut self, server: Id<Thread>) -> bool {
        let Thread { own_context, endpoint, .. } = *self.m.get(server);
        own_context.is_none() || endpoint.is_none_or(|e| !self.m.get(e).own_priority)
    }

    /// Raises a receiver to at least the priority of the caller that it is about to serve.
    pub(crate) fn inherit_one(&mut self, id: Id<Thread>, priority: u8) {
        if self.m.get(id).priority < priority && self.is_raised(id) {
            self.set_priority(id, priority);
        }
    }

    /// The thread that a thread waits for, if it waits in a call.
    pub(crate) fn awaits(&mut self, id: Id<Thread>) -> Opt<Thread> {
        let thread = self.m.get(id);
        match thread.state {
            State::Served => thread.server,
            State::Calling => thread.waiting_at.and_then(|e| self.m.get(e).receiver()),
            _ => None,
        }
    }

    /// Refuses a call that would close a circle or lengthen a chain beyond [`CHAIN`].
    pub(crate) fn check_chain(&mut self, caller: Id<Thread>, server: Id<Thread>) -> Result<()> {
        let mut at = server;
        for _ in 0..CHAIN {
            if at == caller {
                return Err(Error::BadState);
            }
            match self.awaits(at) {
                Some(next) => at = next,
                None => return Ok(()),
            }
        }
        Err(Error::TooDeep)
    }

    /// Raises a thread, and those that it waits for, to at least a priority; ends at one that callers do not raise.
    pub(crate) fn inherit(&mut self, first: Id<Thread>, priority: u8) {
        let mut at = first;
        for _ in 0..CHAIN {
            if self.m.get(at).priority >= priority || !self.is_raised(at) {
                return;
            }
            self.set_priority(at, priority);
            if self.m.get(at).state == State::Calling
                && let Some(endpoint) = self.m.get(at).waiting_at
            {
                self.dequeue_caller(at);
                self.enqueue_caller(at, endpoint);
            }
            match self.awaits(at) {
                Some(next) => at = next,
                None => return,
            }
        }
    }
}
