//! Callers of other processors, the visitors of an endpoint.
//!
//! A visitor's call, or the report of its fault, is a visit (`away.rs`) that waits: in a queue of
//! the endpoint beside that of the local callers, then for the reply of the receiver. Its thread is
//! away at home, and what the endpoint's home knows of it is its `Away` and its `Visit`: the
//! priority, which rises with the thread's, raises the receiver as a local caller's does.
//!
//! A context stays at its home, so no visitor brings one. The receiver serves it on its own, or, if
//! it has none, on a context that the endpoint has for its visitors: together they take no more
//! time than that context's budget. A visitor is served only if the context has the time left that
//! a request needs at most; until its replenishment, visitors wait and raise nobody.
//!
//! The message stays in the registers of the caller, which its home does not run meanwhile. It is
//! copied from there when it is served, and the reply is copied there: between the letter that
//! brought the call and the one that takes the answer home, which order these with what the home
//! does before and after.
//!
//! Threads of several processors never wait for each other in a circle: a thread that others may
//! wait for, because it receives from an endpoint or serves a caller, calls only processors with
//! lower numbers. So in a circle no thread could have called a higher one, and calls within a
//! processor form none. The priorities that follow a chain of calls come to rest for the same
//! reason.

use crate::{
    Id, Kernel, Machine, Opt,
    away::{Answer, Place, Visit},
    context::Context,
    endpoint::Endpoint,
    machine::Message,
    thread::{State, Thread},
    timer::{Due, InObjects},
};
use core::sync::atomic::Ordering::Relaxed;
use pillion_abi::{
    call::LABEL_FAULT,
    status::{Error, Result},
};

impl<M: Machine> Kernel<M> {
    /// Whether a thread may call an endpoint of another processor. O(1).
    #[cold]
    pub(crate) fn may_call(&mut self, thread: Id<Thread>, home: u8) -> Result<()> {
        let Thread { endpoint, caller, visitor, .. } = *self.m.get(thread);
        let is_awaited = endpoint.is_some() || caller.is_some() || visitor.is_some();
        if is_awaited && home > self.cpu.number { Err(Error::BadState) } else { Ok(()) }
    }

    /// Whether a thread waits at an endpoint of another processor.
    pub(crate) fn calls_elsewhere(&mut self, thread: Id<Thread>) -> bool {
        self.m.get(thread).state == State::Away && self.m.shared(thread.away()).is_call.load(Relaxed)
    }

    /// A visitor calls an endpoint of this processor.
    ///
    /// Work: as a local call's that does not find the receiver waiting.
    pub(crate) fn call_of_visitor(&mut self, visitor: Id<Thread>, endpoint: Id<Endpoint>, badge: u64) -> Result<()> {
        let server = endpoint.receiver(&self.m).ok_or(Error::BadState)?;
        if self.m.get(server).own_context.is_none() && self.m.get(endpoint).context.is_none() {
            return Err(Error::Elsewhere);
        }
        self.m.get(visitor.visit()).badge = badge;
        self.enqueue_visitor(visitor, endpoint);
        self.visitors_have_time(endpoint);
        Ok(())
    }

    /// Visitors may have time now: a receiver that waits serves one; one that serves somebody else
    /// is raised.
    pub(crate) fn visitors_have_time(&mut self, endpoint: Id<Endpoint>) {
        let Some(server) = endpoint.receiver(&self.m) else { return };
        if self.m.get(server).state == State::Receiving {
            self.wake_for_callers(server);
        } else {
            self.restore_chain(server);
        }
    }

    /// Nobody runs on the context of an endpoint's visitors any more. Returns the receiver if it
    /// waited and has a visitor to serve now. If it serves somebody else, it looks afterwards.
    #[cold]
    pub(crate) fn context_is_free(&mut self, endpoint: Id<Endpoint>) -> Opt<Thread> {
        if let Some(context) = self.m.get(endpoint).context
            && self.m.get(context).refill.is_linked()
        {
            // The receiver had used it up. Its replenishment is for the first visitor now, if any.
            match self.first_visitor(endpoint).map(|first| self.m.shared(first.away()).trip.priority()) {
                Some(priority) => self.relevel(Due::Context(context), priority),
                None => self.stop_refill(context),
            }
        }
        let server = endpoint.receiver(&self.m)?;
        self.begins(server).then_some(server)
    }

    /// Gives an endpoint's visitors another context, which is of no other use, or none. A receiver
    /// that runs on the former one finishes what it does.
    pub(crate) fn set_visitors_context(&mut self, endpoint: Id<Endpoint>, context: Opt<Context>) {
        let former = core::mem::replace(&mut self.m.get(endpoint).context, context);
        if let Some(former) = former {
            self.stop_refill(former);
            self.m.get(former).endpoint = None;
        }
        if let Some(context) = context {
            self.m.get(context).endpoint = Some(endpoint);
        }
        self.restore_receiver(endpoint);
    }

    /// Takes the replenishment of a visitors' context, if it is for a visitor, from the agenda.
    fn stop_refill(&mut self, context: Id<Context>) {
        if self.m.get(context).user.is_none() {
            self.disarm(Due::Context(context));
        }
    }

    /// Whether the context of an endpoint's visitors is free and has the time that the first of
    /// them, of a priority, needs. If only the time is missing, the replenishment is on the agenda
    /// at that priority.
    fn has_time_for_visitor(&mut self, endpoint: Id<Endpoint>, priority: u8) -> bool {
        let Endpoint { context, need, .. } = *self.m.get(endpoint);
        let Some(context) = context.filter(|c| self.m.get(*c).user.is_none()) else { return false };
        self.end_boost(context);
        let now = self.m.now();
        if self.cpu.charged == Some(context) {
            self.charge(now);
        }
        let c = self.m.get(context);
        let is_armed = c.refill.is_linked();
        // A visitor has waited for it since it was armed.
        let since = if is_armed { 0 } else { now };
        let has_time = c.has(need) || c.begin(now, since) && c.has(need);
        let at = c.refill_at;
        match (has_time, is_armed) {
            (true, true) => self.disarm(Due::Context(context)),
            (false, true) => self.relevel(Due::Context(context), priority),
            (false, false) => self.arm(Due::Context(context), priority, at),
            (true, false) => {}
        }
        has_time
    }

    fn enqueue_visitor(&mut self, visitor: Id<Thread>, endpoint: Id<Endpoint>) {
        self.m.get(visitor.visit()).place = Place::Queue(endpoint);
        let priority = self.m.shared(visitor.away()).trip.priority();
        let key = self.turn(endpoint, priority);
        let mut queue = self.m.get(endpoint).visitors;
        queue.insert(&mut InObjects(&mut self.m), Due::Visit(visitor), key);
        let e = self.m.get(endpoint);
        (e.visitors, e.is_awaited) = (queue, true);
    }

    pub(crate) fn dequeue_visitor(&mut self, visitor: Id<Thread>, endpoint: Id<Endpoint>) {
        self.m.get(visitor.visit()).place = Place::Letter;
        let mut queue = self.m.get(endpoint).visitors;
        queue.remove(&mut InObjects(&mut self.m), Due::Visit(visitor));
        let e = self.m.get(endpoint);
        e.visitors = queue;
        e.look_who_waits();
        if let (None, Some(context)) = (queue.first(), e.context) {
            self.stop_refill(context);
        }
    }

    /// A visitor in the queue has another priority, and stands behind those that have it already;
    /// a queue in order of arrival stays as it is.
    pub(crate) fn requeue_visitor(&mut self, visitor: Id<Thread>, endpoint: Id<Endpoint>) {
        if !self.m.get(endpoint).own_priority {
            self.dequeue_visitor(visitor, endpoint);
            self.enqueue_visitor(visitor, endpoint);
        }
        self.restore_receiver(endpoint);
    }

    fn restore_receiver(&mut self, endpoint: Id<Endpoint>) {
        if let Some(receiver) = endpoint.receiver(&self.m) {
            self.restore_chain(receiver);
        }
    }

    fn first_visitor(&mut self, endpoint: Id<Endpoint>) -> Opt<Thread> {
        match self.m.get(endpoint).visitors.first() {
            Some(Due::Visit(visitor)) => Some(visitor),
            _ => None,
        }
    }

    /// The first visitor in the queue, if a receiver can serve it now.
    #[inline]
    pub(crate) fn next_visitor(&mut self, server: Id<Thread>, endpoint: Id<Endpoint>) -> Opt<Thread> {
        if !self.m.several() {
            return None;
        }
        let first = self.first_visitor(endpoint)?;
        let priority = self.m.shared(first.away()).trip.priority();
        let has_time = self.m.get(server).own_context.is_some() || self.has_time_for_visitor(endpoint, priority);
        has_time.then_some(first)
    }

    /// Whether the first visitor in the queue is to be served before the first local caller.
    pub(crate) fn goes_first(&mut self, visitor: Id<Thread>, endpoint: Id<Endpoint>) -> bool {
        let Some(caller) = self.m.get(endpoint).queue.first() else { return true };
        let key = self.m.get(caller).waiting.key();
        self.m.get(visitor.visit()).due.key() < key
    }

    /// Hands a visitor's message, and the visitors' context if the server has none of its own, to
    /// the server. Sets neither its state nor its priority.
    pub(crate) fn serve_visitor(&mut self, visitor: Id<Thread>, server: Id<Thread>, endpoint: Id<Endpoint>) {
        let context = self.m.get(endpoint).context;
        let s = self.m.get(server);
        s.visitor = Some(visitor);
        if s.own_context.is_none() {
            s.context = context;
            if let Some(context) = context {
                self.m.get(context).user = Some(server);
            }
        }
        let visit = self.m.get(visitor.visit());
        visit.place = Place::Service(server);
        let Visit { badge, faulted, call: (_, words), .. } = *visit;
        if faulted {
            let mut fault = Message { label: LABEL_FAULT, ..Message::default() };
            fault.words[..6].copy_from_slice(&words);
            self.m.set_message(server, badge, &fault);
        } else {
            self.m.copy_message(visitor, server, badge);
        }
    }

    /// Answers the visitor, if any, that a thread serves.
    #[inline]
    pub(crate) fn answer_visitor(&mut self, server: Id<Thread>) {
        if let Some(visitor) = self.m.get(server).visitor.take() {
            let answer = if !self.m.get(visitor.visit()).faulted {
                self.m.copy_message(server, visitor, 0);
                Answer::InRegisters
            } else if self.resumes(server, visitor) {
                Answer::InRegisters
            } else {
                Answer::Stop
            };
            self.send_home(visitor, answer);
        }
    }

    /// Releases the visitor, if any, that a thread serves, with [`Error::Gone`].
    #[inline]
    pub(crate) fn dismiss_visitor(&mut self, server: Id<Thread>) {
        if let Some(visitor) = self.m.get(server).visitor.take() {
            self.send_back(visitor);
        }
    }

    /// Releases the first visitor in the queue, with [`Error::Gone`], as the endpoint is deleted.
    /// Returns whether there was one.
    pub(crate) fn dismiss_first_visitor(&mut self, endpoint: Id<Endpoint>) -> bool {
        let Some(visitor) = self.first_visitor(endpoint) else { return false };
        self.leave_endpoint(visitor);
        self.send_back(visitor);
        true
    }

    /// Takes a visitor out of the queue that it waits in, or from the thread that serves it.
    pub(crate) fn leave_endpoint(&mut self, visitor: Id<Thread>) {
        match self.m.get(visitor.visit()).place {
            Place::Queue(endpoint) => {
                self.dequeue_visitor(visitor, endpoint);
                self.restore_receiver(endpoint);
            }
            Place::Service(server) => {
                self.m.get(server).visitor = None;
                self.restore_chain(server);
            }
            Place::Letter | Place::Agenda => {}
        }
    }

    /// Priorities of the visitor that a thread serves and of the first one that raises it as it
    /// waits; 0 if there is none. `context` is what the thread runs on, or has passed on.
    #[cold]
    pub(crate) fn visitors_of(&mut self, server: Id<Thread>, context: Opt<Context>) -> (u8, u8) {
        let Thread { visitor, endpoint, .. } = *self.m.get(server);
        let served = visitor.map_or(0, |t| self.m.shared(t.away()).trip.priority());
        let waiting = endpoint.map_or(0, |e| self.raising_visitor(server, e, context));
        (served, waiting)
    }

    /// Priority of the first visitor in the queue if it can raise the receiver: what that does now
    /// is done on its own or the visitors' context, or it could serve the visitor next.
    fn raising_visitor(&mut self, server: Id<Thread>, endpoint: Id<Endpoint>, context: Opt<Context>) -> u8 {
        let Some(first) = self.first_visitor(endpoint) else { return 0 };
        let priority = self.m.shared(first.away()).trip.priority();
        let is_on_it = context.is_some() && context == self.m.get(endpoint).context;
        let has_own = self.m.get(server).own_context.is_some();
        if has_own || is_on_it || self.has_time_for_visitor(endpoint, priority) { priority } else { 0 }
    }
}
