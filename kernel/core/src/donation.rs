//! Time and priority along a chain of calls.
//!
//! A caller donates its scheduling context to a server that has none of its own, and that server
//! passes it on to the next. At most one thread of such a chain has a context, and a reply gives it
//! back to a thread that has none. So a context can be bound to a thread in a chain only while none
//! is lent out. Every thread that has a context, or waits in a call, has the priority it is due.

use crate::{
    Id, Kernel, Machine, Opt,
    context::Context,
    endpoint::CHAIN,
    thread::{State, Thread},
};
use pillion_abi::status::{Error, Result};

impl<M: Machine> Kernel<M> {
    /// Gives back the context that a server without one of its own ran on: to the caller, or to the
    /// context's owner if the caller is gone. Returns the thread, other than the caller, that can
    /// run on it now.
    #[inline]
    pub(crate) fn return_context(&mut self, server: Id<Thread>, caller: Opt<Thread>) -> Opt<Thread> {
        let s = self.m.get(server);
        if s.own_context.is_some() {
            return None;
        }
        let context = s.context.take()?;
        let level = s.priority;
        if let Some(caller) = caller {
            self.m.get(context).user = Some(caller);
            let c = self.m.get(caller);
            c.context = Some(context);
            if c.priority != level {
                self.level_changed(Some(context));
            }
            self.refill_follows(context, caller);
            return None;
        }
        let c = self.m.get(context);
        c.user = None;
        if let Some(endpoint) = c.endpoint {
            return self.context_is_free(endpoint);
        }
        let owner = c.owner?;
        let to = self.needs_time(owner).ok()?;
        self.give_time(context, to)
    }

    /// The thread that needs a context meant for `first`: `first` itself, or the last of the
    /// servers without a context of their own that it waits for.
    ///
    /// [`Error::Busy`] if a server in that chain has a context: it will come back to the thread
    /// before that server, which must have none then. [`Error::TooDeep`] if the chain has more than
    /// [`CHAIN`] threads.
    pub(crate) fn needs_time(&mut self, first: Id<Thread>) -> Result<Id<Thread>> {
        let mut at = first;
        for _ in 0..CHAIN {
            let Some(server) = self.m.get(at).server else { return Ok(at) };
            let s = self.m.get(server);
            if s.own_context.is_some() {
                return Ok(at);
            }
            if s.context.is_some() {
                return Err(Error::Busy);
            }
            at = server;
        }
        Err(Error::TooDeep)
    }

    /// Gives a context to a thread that has none; see [`Kernel::needs_time`]. Returns the thread if
    /// it is ready to run.
    pub(crate) fn give_time(&mut self, context: Id<Context>, to: Id<Thread>) -> Opt<Thread> {
        self.m.get(context).user = Some(to);
        self.level_changed(Some(context));
        self.refill_follows(context, to);
        let thread = self.m.get(to);
        thread.context = Some(context);
        let ready = thread.state == State::Ready;
        self.restore_donation(to);
        ready.then_some(to)
    }

    /// Takes a context away from the thread that runs on it. A caller without a context does not
    /// stay in a queue: its server may need the context.
    pub(crate) fn take_time(&mut self, context: Id<Context>) {
        let Some(user) = self.m.get(context).user.take() else { return };
        self.m.get(user).context = None;
        match self.m.get(user).state {
            State::Ready => self.take_off(user),
            State::Calling => {
                let faulted = self.m.get(user).faulted;
                self.stop_waiting(user);
                if faulted {
                    self.m.get(user).state = State::Stopped;
                } else {
                    self.m.get(user).state = State::Ready;
                    self.m.set_result(user, Error::Gone.to_raw(), [0, 0]);
                }
            }
            _ => {}
        }
        self.restore_donation(user);
    }

    /// Takes away the context that belongs to a thread, whichever thread runs on it.
    pub(crate) fn disown(&mut self, context: Id<Context>, owner: Id<Thread>) {
        self.m.get(context).owner = None;
        self.m.get(owner).own_context = None;
        self.take_time(context);
        // The thread that ran on it may not be in the owner's chain any more.
        self.restore_chain(owner);
    }

    /// The context that a thread without one will get back from the server it waits for.
    fn lent(&mut self, first: Id<Thread>) -> Opt<Context> {
        let mut at = first;
        for _ in 0..CHAIN {
            at = self.m.get(at).server?;
            let s = self.m.get(at);
            if s.own_context.is_some() {
                return None;
            }
            if s.context.is_some() {
                return s.context;
            }
        }
        None
    }

    /// Gives a thread the priority it is due: the highest of its context's, its caller's and that
    /// of the most urgent caller in its queue. If its endpoint says that callers do not raise it,
    /// the queue does not count, nor does the caller if the thread has a context of its own. A
    /// thread whose caller is gone, and which passed that caller's context on, is due that
    /// context's priority.
    pub(crate) fn restore_priority(&mut self, id: Id<Thread>) {
        let thread = self.m.get(id);
        let (endpoint, caller, server) = (thread.endpoint, thread.caller, thread.server);
        let has_own = thread.own_context.is_some();
        let mut context = thread.context.or(thread.own_context);
        if context.is_none() && caller.is_none() && server.is_some() {
            context = self.lent(id);
        }
        let own = context.map_or(0, |c| self.m.get(c).priority);
        let mut served = caller.map_or(0, |t| self.m.get(t).priority);
        let (own_priority, first) = endpoint.map_or((false, None), |e| {
            let e = self.m.get(e);
            (e.own_priority, e.queue.first())
        });
        let mut waiting = first.map_or(0, |t| self.m.get(t).priority);
        if self.m.several() {
            let visitors = self.visitors_of(id, context);
            (served, waiting) = (served.max(visitors.0), waiting.max(visitors.1));
        }
        let priority = match (own_priority, has_own) {
            (true, true) => own,
            (true, false) => own.max(served),
            (false, _) => own.max(served).max(waiting),
        };
        if self.m.get(id).state == State::Receiving {
            self.m.get(id).priority = priority;
            self.follow(id);
        } else {
            self.set_priority(id, priority);
        }
    }

    /// Does the same for a thread and for each thread that it waits for in turn.
    pub(crate) fn restore_chain(&mut self, first: Id<Thread>) {
        let mut at = first;
        for _ in 0..CHAIN {
            let before = self.m.get(at).priority;
            self.restore_priority(at);
            if self.m.get(at).priority != before {
                self.requeue_caller(at);
            }
            match self.awaits(at) {
                Some(next) => at = next,
                None => return,
            }
        }
    }

    /// Does the same for a thread whose context has changed and for the callers that donated it,
    /// beginning with the first of them.
    pub(crate) fn restore_donation(&mut self, last: Id<Thread>) {
        let mut first = last;
        for _ in 0..CHAIN {
            let thread = self.m.get(first);
            match thread.caller {
                Some(caller) if thread.own_context.is_none() => first = caller,
                _ => break,
            }
        }
        self.restore_chain(first);
    }
}
