//! Priority inheritance along a chain of calls: a caller in an endpoint's queue raises the
//! receiver, and the threads that the receiver waits for in turn.

use crate::{
    Id, Kernel, Machine, Opt,
    endpoint::{CHAIN, Endpoint},
    thread::{State, Thread},
};
use pillion_abi::status::{Error, Result};

impl<M: Machine> Kernel<M> {
    /// Whether callers raise a thread. Even where they do not, a thread without a context of its
    /// own follows the caller that it serves.
    #[inline]
    fn is_raised(&mut self, server: Id<Thread>, by_served: bool) -> bool {
        let Thread { own_context, endpoint, .. } = *self.m.get(server);
        (by_served && own_context.is_none()) || endpoint.is_none_or(|e| !self.m.get(e).own_priority)
    }

    /// Raises a receiver to at least the priority of the caller that it is about to serve.
    pub(crate) fn inherit_one(&mut self, id: Id<Thread>, priority: u8) {
        if self.m.get(id).priority < priority && self.is_raised(id, true) {
            self.set_priority(id, priority);
        }
    }

    /// The thread that a thread waits for, if it waits in a call.
    pub(crate) fn awaits(&mut self, id: Id<Thread>) -> Opt<Thread> {
        let thread = self.m.get(id);
        match thread.state {
            State::Served => thread.server,
            State::Calling => thread.waiting_at.and_then(|e| e.receiver(&self.m)),
            _ => None,
        }
    }

    /// Refuses a call that would close a cycle or make a chain longer than [`CHAIN`].
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

    /// Whether a thread, or one that it waits for, waits in the queue of an endpoint that has no
    /// receiver.
    pub(crate) fn waits_at(&mut self, first: Id<Thread>, endpoint: Id<Endpoint>) -> bool {
        let mut at = first;
        for _ in 0..CHAIN {
            if self.m.get(at).waiting_at == Some(endpoint) {
                return true;
            }
            match self.awaits(at) {
                Some(next) => at = next,
                None => return false,
            }
        }
        false
    }

    /// Raises a receiver in whose queue a caller waits, and the threads that the receiver waits for
    /// in turn, to at least a priority. Stops at a thread that has it already or is not raised.
    pub(crate) fn inherit(&mut self, first: Id<Thread>, priority: u8) {
        let mut at = first;
        let mut by_served = false;
        for _ in 0..CHAIN {
            if self.m.get(at).priority >= priority || !self.is_raised(at, by_served) {
                return;
            }
            self.set_priority(at, priority);
            self.requeue_caller(at);
            by_served = self.m.get(at).state == State::Served;
            match self.awaits(at) {
                Some(next) => at = next,
                None => return,
            }
        }
    }
}
