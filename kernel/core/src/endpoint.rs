//! Endpoints: call and reply, with donation of time and of priority.
//!
//! An endpoint has one receiver. A caller waits until it has been served; callers are served in
//! order of priority. A receiver without a scheduling context of its own runs on its caller's, so
//! that clients pay for what a server does. While callers queue, the receiver, and the threads that
//! it waits for in turn, run at the priority of the most urgent caller. An endpoint can be bound so
//! that callers raise nobody: the receiver then serves them at its own priority, in order of
//! arrival, and only they wait for it. Such a receiver, if it has no context of its own, runs at
//! the priority of the caller that it serves.

use crate::{
    Id, Kernel, Machine, Opt, Slot,
    context::Context,
    heap::{Heap, Node, Nodes},
    id::slot_of,
    machine::{Message, Objects},
    thread::{State, Thread},
    timer::Due,
};
use pillion_abi::{
    NEVER,
    call::LABEL_NOTIFIED,
    status::{Error, Result},
};

/// Longest chain of calls, one server calling the next.
pub const CHAIN: usize = 16;

/// An endpoint.
#[derive(Debug, Default)]
pub struct Endpoint {
    /// Waiting callers: the most urgent first, or the oldest if [`Endpoint::own_priority`] is set.
    pub queue: Heap<Id<Thread>>,
    /// Waiting callers of other processors, in the same order.
    pub visitors: Heap<Due>,
    /// What a receiver without a context of its own serves those on.
    pub context: Opt<Context>,
    /// Whether anybody waits in these two queues.
    pub is_awaited: bool,
    /// Whether callers leave the receiver's priority alone and are served in order of arrival.
    pub own_priority: bool,
    /// Ticks that a caller with a limited budget, or the context of the visitors, must have left,
    /// because the receiver runs on them; 0 for no minimum.
    pub need: u64,
}

impl Endpoint {
    /// Somebody has left one of the queues.
    pub(crate) fn look_who_waits(&mut self) {
        self.is_awaited = self.queue.first().is_some() || self.visitors.first().is_some();
    }
}

impl Id<Endpoint> {
    /// The receiver.
    #[inline(always)]
    #[must_use]
    pub fn receiver(self, m: &impl Objects) -> Opt<Thread> {
        m.slot_behind(self, slot_of::<Endpoint>(0)).object()
    }
}

struct Callers<'a, M: Machine>(&'a mut M);

impl<M: Machine> Nodes<Id<Thread>> for Callers<'_, M> {
    fn node(&mut self, id: Id<Thread>) -> &mut Node<Id<Thread>> {
        &mut self.0.get(id).waiting
    }
}

impl<M: Machine> Kernel<M> {
    /// The current thread calls. Its message is in its registers.
    ///
    /// Work: O(1) when the receiver waits; else O(log n) for n callers and a walk of at most
    /// [`CHAIN`] threads.
    #[inline]
    pub(crate) fn call(&mut self, caller: Id<Thread>, endpoint: Id<Endpoint>, badge: u64) -> Result<()> {
        let server = endpoint.receiver(&self.m).ok_or(Error::BadState)?;
        self.m.get(caller).badge = badge;
        if self.m.get(server).state != State::Receiving {
            return self.queue_call(caller, endpoint, server);
        }
        if self.m.get(server).timeout.is_linked() {
            self.disarm(Due::Thread(server));
        }
        self.begin_service(caller, server);
        if self.m.get(server).own_context.is_none() {
            self.m.get(server).state = State::Ready;
            self.cpu.current = Some(server);
        } else {
            self.hand_cpu_to(Some(server));
        }
        Ok(())
    }

    /// Whether the current thread has the budget left that a call of an endpoint needs. If not, the
    /// rest is forfeited and the thread is to repeat the call after its replenishment. So its
    /// budget runs out before the call, when nobody else waits for it, and not while the receiver
    /// works on it.
    ///
    /// [`Error::BadState`] if its whole budget is less, or is less once the call is made: else such
    /// a thread would forfeit every budget.
    #[cold]
    pub(crate) fn has_time_for(&mut self, caller: Id<Thread>, need: u64) -> Result<bool> {
        let Some(context) = self.m.get(caller).context else { return Ok(true) };
        let now = self.m.now();
        self.charge(now);
        let c = self.m.get(context);
        let forfeited = core::mem::take(&mut c.forfeited);
        if !c.is_limited() || c.left >= need {
            return Ok(true);
        }
        if c.budget < need || forfeited {
            return Err(Error::BadState);
        }
        c.forfeited = true;
        c.left = 0;
        self.cpu.timers_changed = true;
        Ok(false)
    }

    fn fill_cpu(&mut self) {
        if self.cpu.current.is_none() {
            self.cpu.current = self.cpu.ready.pop(&mut self.m);
        }
    }

    /// Hands a caller's message, and its context if the server has none of its own, to the server.
    /// Does not set the server's state.
    #[inline]
    fn begin_service(&mut self, caller: Id<Thread>, server: Id<Thread>) {
        let c = self.m.get(caller);
        c.state = State::Served;
        c.server = Some(server);
        let (priority, badge, faulted, context) = (c.priority, c.badge, c.faulted, c.context);
        let s = self.m.get(server);
        s.caller = Some(caller);
        match s.own_context {
            None => {
                s.context = context;
                s.priority = priority;
                self.m.get(caller).context = None;
                if let Some(context) = context {
                    self.m.get(context).user = Some(server);
                }
            }
            Some(_) => self.inherit_one(server, priority),
        }
        if faulted {
            let fault = self.m.get(caller).fault;
            self.m.set_message(server, badge, &fault);
        } else {
            self.m.copy_message(caller, server, badge);
        }
    }

    fn queue_call(&mut self, caller: Id<Thread>, endpoint: Id<Endpoint>, server: Id<Thread>) -> Result<()> {
        self.check_chain(caller, server)?;
        let priority = self.m.get(caller).priority;
        self.enqueue_caller(caller, endpoint);
        self.block_current(State::Calling);
        self.inherit(server, priority);
        Ok(())
    }

    pub(crate) fn enqueue_caller(&mut self, caller: Id<Thread>, endpoint: Id<Endpoint>) {
        let thread = self.m.get(caller);
        thread.waiting_at = Some(endpoint);
        let priority = thread.priority;
        let key = self.turn(endpoint, priority);
        let mut queue = self.m.get(endpoint).queue;
        queue.insert(&mut Callers(&mut self.m), caller, key);
        let e = self.m.get(endpoint);
        (e.queue, e.is_awaited) = (queue, true);
    }

    /// Key of a caller that comes to the queues of an endpoint now.
    #[inline]
    pub(crate) fn turn(&mut self, endpoint: Id<Endpoint>, priority: u8) -> u64 {
        let in_order = self.m.get(endpoint).own_priority;
        let urgency = if in_order { 0 } else { u64::from(u8::MAX - priority) };
        let key = (urgency << 56) | (self.cpu.arrivals & 0x00ff_ffff_ffff_ffff);
        self.cpu.arrivals = self.cpu.arrivals.wrapping_add(1);
        key
    }

    pub(crate) fn dequeue_caller(&mut self, caller: Id<Thread>) {
        let Some(endpoint) = self.m.get(caller).waiting_at.take() else { return };
        let mut queue = self.m.get(endpoint).queue;
        queue.remove(&mut Callers(&mut self.m), caller);
        let e = self.m.get(endpoint);
        e.queue = queue;
        e.look_who_waits();
    }

    /// Moves a caller whose priority has changed, if it waits in a queue, behind the callers of its
    /// new priority. A queue in order of arrival stays as it is. O(log n).
    pub(crate) fn requeue_caller(&mut self, caller: Id<Thread>) {
        if let Some(endpoint) = self.m.get(caller).waiting_at
            && !self.m.get(endpoint).own_priority
        {
            self.dequeue_caller(caller);
            self.enqueue_caller(caller, endpoint);
        }
    }

    /// Detaches a server from its caller and gives a donated context back. `Err` if there is no
    /// caller, with the thread, if any, that can run now that it has the context again.
    #[inline]
    fn part(&mut self, server: Id<Thread>) -> core::result::Result<Id<Thread>, Opt<Thread>> {
        let caller = self.m.get(server).caller.take();
        let runs = self.return_context(server, caller);
        let caller = caller.ok_or(runs)?;
        self.m.get(caller).server = None;
        Ok(caller)
    }

    /// Answers the caller that `server` serves. Returns the thread to make ready now that it has
    /// its context again.
    #[inline]
    fn finish_service(&mut self, server: Id<Thread>) -> Opt<Thread> {
        let caller = match self.part(server) {
            Ok(caller) => caller,
            Err(runs) => {
                if self.m.several() {
                    self.answer_visitor(server);
                }
                return runs;
            }
        };
        let c = self.m.get(caller);
        if c.faulted {
            return self.answer_fault(server, caller);
        }
        self.m.copy_message(server, caller, 0);
        Some(caller)
    }

    /// The current thread replies, if it serves anyone, and receives.
    #[inline]
    pub(crate) fn reply_receive(&mut self, server: Id<Thread>) -> Result<()> {
        let endpoint = self.m.get(server).endpoint;
        let caller = self.finish_service(server);
        let Some(endpoint) = endpoint else {
            self.stop_without_time(server);
            self.restore_priority(server);
            self.resume_caller(caller);
            return Err(Error::BadState);
        };
        if self.receive_pending(server, endpoint) {
            self.resume_caller(caller);
            return Ok(());
        }
        self.m.get(server).state = State::Receiving;
        self.restore_priority(server);
        self.hand_cpu_to(caller);
        Ok(())
    }

    /// Takes the current thread off the CPU. The thread that it called or answered goes first among
    /// equals.
    #[inline]
    fn hand_cpu_to(&mut self, other: Opt<Thread>) {
        self.cpu.current = None;
        if let Some(other) = other {
            if self.cpu.ready.top() > self.m.get(other).priority {
                self.fill_cpu();
            }
            self.make_ready(other);
        }
        self.fill_cpu();
    }

    /// Takes the current thread off the CPU if it gave its context back, until it has one again.
    fn stop_without_time(&mut self, server: Id<Thread>) {
        if self.m.get(server).context.is_none() {
            self.take_off(server);
        }
    }

    fn resume_caller(&mut self, caller: Opt<Thread>) {
        if let Some(caller) = caller {
            self.make_ready(caller);
        }
    }

    /// The current thread receives, until a deadline.
    pub(crate) fn receive(&mut self, server: Id<Thread>, deadline: u64) -> Result<()> {
        let endpoint = self.m.get(server).endpoint.ok_or(Error::BadState)?;
        let released = self.release_caller(server);
        let result = self.receive_next(server, endpoint, deadline);
        self.resume_caller(released);
        result
    }

    fn receive_next(&mut self, server: Id<Thread>, endpoint: Id<Endpoint>, deadline: u64) -> Result<()> {
        if self.receive_pending(server, endpoint) {
            return Ok(());
        }
        if deadline <= self.m.now() {
            self.stop_without_time(server);
            self.restore_priority(server);
            return Err(Error::Timeout);
        }
        if deadline != NEVER {
            let level = self.m.get(server).priority;
            self.arm(Due::Thread(server), level, deadline);
        }
        self.block_current(State::Receiving);
        self.restore_priority(server);
        Ok(())
    }

    /// The current thread replies, and continues if it has a context of its own.
    pub(crate) fn reply(&mut self, server: Id<Thread>) -> Result<()> {
        if self.m.get(server).caller.is_none() && self.m.get(server).visitor.is_none() {
            return Err(Error::BadState);
        }
        let caller = self.finish_service(server);
        if self.m.get(server).context.is_none() {
            self.cpu.current = None;
            self.restore_priority(server);
            self.hand_cpu_to(caller);
        } else {
            self.restore_priority(server);
            self.resume_caller(caller);
        }
        Ok(())
    }

    fn pending_bits(&mut self, server: Id<Thread>) -> Option<u64> {
        let thread = self.m.get(server);
        thread.own_context?;
        let n = server.notification(&self.m)?;
        let bits = self.m.get(n).bits;
        (bits != 0).then_some(bits)
    }

    /// Takes the bits of the bound notification, else the next caller, if there is one. The server
    /// stays ready, and current unless its priority drops below that of a ready thread. Returns
    /// whether there was a message; if not, nothing has changed.
    fn receive_pending(&mut self, server: Id<Thread>, endpoint: Id<Endpoint>) -> bool {
        if let Some(bits) = self.pending_bits(server) {
            if let Some(n) = server.notification(&self.m) {
                self.m.get(n).bits = 0;
                self.bits_taken(n);
            }
            self.restore_priority(server);
            self.deliver_bits(server, bits);
            return true;
        }
        if !self.serve_next(server, endpoint) {
            return false;
        }
        self.restore_priority(server);
        if self.cpu.current == Some(server) && self.cpu.ready.top() > self.m.get(server).priority {
            self.cpu.ready.push_front(&mut self.m, server);
            self.cpu.current = self.cpu.ready.pop(&mut self.m);
        }
        true
    }

    /// Takes the next caller. Returns whether there was one.
    fn serve_next(&mut self, server: Id<Thread>, endpoint: Id<Endpoint>) -> bool {
        if let Some(visitor) = self.next_visitor(server, endpoint)
            && self.goes_first(visitor, endpoint)
        {
            self.dequeue_visitor(visitor, endpoint);
            self.serve_visitor(visitor, server, endpoint);
            return true;
        }
        let Some(next) = self.m.get(endpoint).queue.first() else { return false };
        self.dequeue_caller(next);
        self.begin_service(next, server);
        true
    }

    /// Wakes a receiver that waits although callers do: its endpoint, or its context, is new.
    pub(crate) fn wake_for_callers(&mut self, server: Id<Thread>) {
        if self.begins(server) {
            self.make_ready(server);
        }
    }

    /// As [`Kernel::wake_for_callers`], but leaves it to the caller to make the receiver ready.
    /// Returns whether it is to be.
    pub(crate) fn begins(&mut self, server: Id<Thread>) -> bool {
        let Thread { state: State::Receiving, endpoint: Some(endpoint), .. } = *self.m.get(server) else {
            return false;
        };
        if !self.serve_next(server, endpoint) {
            return false;
        }
        self.disarm(Due::Thread(server));
        self.restore_priority(server);
        true
    }

    /// Gives a receiving thread the bits of its notification as a message.
    pub(crate) fn deliver_bits(&mut self, server: Id<Thread>, bits: u64) {
        let mut message = Message { label: LABEL_NOTIFIED, ..Message::default() };
        message.words[0] = bits;
        self.m.set_message(server, 0, &message);
    }

    /// Releases the caller that a thread serves, with [`Error::Gone`].
    pub(crate) fn abandon_caller(&mut self, server: Id<Thread>) {
        let released = self.release_caller(server);
        self.resume_caller(released);
    }

    /// As [`Kernel::abandon_caller`], but returns the thread that can run now instead of making it
    /// ready.
    fn release_caller(&mut self, server: Id<Thread>) -> Opt<Thread> {
        let caller = match self.part(server) {
            Ok(caller) => caller,
            Err(runs) => {
                if self.m.several() {
                    self.dismiss_visitor(server);
                }
                return runs;
            }
        };
        let c = self.m.get(caller);
        if c.faulted {
            c.faulted = false;
            c.state = State::Stopped;
            return None;
        }
        self.m.set_result(caller, Error::Gone.to_raw(), [0, 0]);
        Some(caller)
    }

    /// Takes a thread out of whatever it waits for, or off the CPU. Its state is for the caller to
    /// set.
    pub(crate) fn stop_waiting(&mut self, id: Id<Thread>) {
        if self.m.get(id).timeout.is_linked() {
            self.disarm(Due::Thread(id));
        }
        match self.m.get(id).state {
            State::Calling => {
                let receiver = self.awaits(id);
                self.dequeue_caller(id);
                self.m.get(id).faulted = false;
                if let Some(receiver) = receiver {
                    self.restore_chain(receiver);
                }
            }
            State::Served => {
                let thread = self.m.get(id);
                thread.faulted = false;
                if let Some(server) = thread.server.take() {
                    self.m.get(server).caller = None;
                    self.restore_chain(server);
                    // The context that it passed on comes back neither to it nor to its callers.
                    self.restore_donation(id);
                }
            }
            State::Waiting => {
                if let Some(n) = self.m.get(id).waiting_for.take() {
                    self.m.get(n).waiter = None;
                    self.attend(n);
                }
            }
            State::Ready => self.take_off(id),
            State::Stopped | State::Receiving | State::Sleeping | State::Halted | State::Away => {}
        }
    }

    /// Releases the first caller in the queue, with [`Error::Gone`], as the endpoint is deleted.
    /// Returns whether there was one.
    pub(crate) fn dismiss_caller(&mut self, endpoint: Id<Endpoint>) -> bool {
        let Some(caller) = self.m.get(endpoint).queue.first() else { return false };
        let faulted = self.m.get(caller).faulted;
        self.stop_waiting(caller);
        if faulted {
            self.m.get(caller).state = State::Stopped;
        } else {
            self.m.set_result(caller, Error::Gone.to_raw(), [0, 0]);
            self.make_ready(caller);
        }
        true
    }

    /// Makes a thread the receiver of an endpoint; the rest is as `EndpointBind` says.
    pub(crate) fn endpoint_bind(
        &mut self,
        endpoint: Id<Endpoint>,
        (thread_slot, id): (Id<Slot>, Id<Thread>),
        own_priority: bool,
        need: u64,
        context: Opt<Context>,
    ) -> Result<()> {
        let Endpoint { ref queue, ref visitors, own_priority: before, .. } = *self.m.get(endpoint);
        // The callers that wait are already in order.
        let in_other_order = (queue.first().is_some() || visitors.first().is_some()) && before != own_priority;
        if in_other_order || endpoint.receiver(&self.m).is_some() || self.m.get(id).endpoint.is_some() {
            return Err(Error::Busy);
        }
        if self.waits_at(id, endpoint) || self.calls_elsewhere(id) {
            return Err(Error::BadState);
        }
        if let Some(context) = context {
            let Context { priority, owner, user, endpoint: serves, .. } = *self.m.get(context);
            if owner.is_some() || user.is_some() || serves.is_some_and(|other| other != endpoint) {
                return Err(Error::Busy);
            }
            if priority == 0 {
                return Err(Error::BadState);
            }
        }
        self.derive_inner(thread_slot, endpoint.slot())?;
        self.m.get(id).endpoint = Some(endpoint);
        self.set_visitors_context(endpoint, context);
        let e = self.m.get(endpoint);
        (e.own_priority, e.need) = (own_priority, need);
        if self.m.get(id).state != State::Receiving {
            // Callers in the queue raise it from now on. A caller that it took earlier and still
            // serves does not any more, if `own_priority` says so.
            self.restore_chain(id);
            return Ok(());
        }
        self.wake_for_callers(id);
        Ok(())
    }
}
