//! Notifications: a word of bits that one thread waits for and many may set.

use crate::{
    Id, Kernel, Machine, Opt,
    heap::{Heap, Node},
    thread::{State, Thread},
    timer::{Due, Timer},
};
use pillion_abi::{
    NEVER,
    status::{Error, Result},
};

/// A notification.
#[derive(Debug, Default)]
pub struct Notification {
    /// Bits that were set and not yet taken.
    pub bits: u64,
    /// The thread that waits in `Wait`.
    pub waiter: Opt<Thread>,
    /// The thread that it is bound to, and wakes out of `Receive` and `VcpuRun`.
    pub bound: Opt<Thread>,
    /// Timers that are to signal it.
    pub timers: Heap<Id<Timer>>,
    /// Node of the first timer on the agenda, while a thread waits for the notification or is bound
    /// to it.
    pub due: Node<Due>,
    /// Its post is held until its bits are taken, which are not 0: see [`crate::post`].
    pub held: bool,
}

impl<M: Machine> Kernel<M> {
    /// Sets bits and wakes the thread that waits for them. O(1), or O(log n) with a timeout to
    /// disarm.
    #[inline]
    pub fn signal(&mut self, id: Id<Notification>, bits: u64) {
        self.signal_since(id, bits, NEVER);
    }

    /// As [`Self::signal`], for bits that would have been set at `since` if the kernel had looked.
    #[inline]
    pub(crate) fn signal_since(&mut self, id: Id<Notification>, bits: u64, since: u64) {
        let n = self.m.get(id);
        n.bits |= bits;
        let (waiter, bound) = (n.waiter, n.bound);
        if let Some(waiter) = waiter {
            self.wake_waiter(id, waiter, since);
        } else if let Some(bound) = bound {
            self.wake_bound(id, bound, since);
        }
    }

    fn wake_waiter(&mut self, id: Id<Notification>, waiter: Id<Thread>, since: u64) {
        let n = self.m.get(id);
        n.waiter = None;
        let (bits, due) = (core::mem::take(&mut n.bits), n.due.is_linked());
        if due {
            self.attend(id);
        }
        let thread = self.m.get(waiter);
        thread.waiting_for = None;
        if thread.timeout.is_linked() {
            self.disarm(Due::Thread(waiter));
        }
        self.m.set_result(waiter, 0, [bits, 0]);
        self.make_ready_since(waiter, since);
    }

    /// Delivers bits that a thread's notification had before the two were bound, or before the
    /// thread had a context.
    pub(crate) fn wake_for_bits(&mut self, thread: Id<Thread>) {
        if let Some(n) = thread.notification(&self.m)
            && self.m.get(n).bits != 0
        {
            self.wake_bound(n, thread, NEVER);
        }
    }

    fn wake_bound(&mut self, id: Id<Notification>, bound: Id<Thread>, since: u64) {
        let thread = self.m.get(bound);
        match thread.state {
            State::Receiving if thread.own_context.is_some() => {
                if thread.timeout.is_linked() {
                    self.disarm(Due::Thread(bound));
                }
                let bits = core::mem::take(&mut self.m.get(id).bits);
                self.bits_taken(id);
                self.deliver_bits(bound, bits);
                self.make_ready_since(bound, since);
            }
            State::Halted => {
                if let Some(guest) = thread.guest {
                    self.guest_woken(guest);
                }
                self.make_ready_since(bound, since);
            }
            _ => {}
        }
    }

    /// The current thread waits for bits, until a deadline.
    #[inline(always)]
    pub(crate) fn wait(&mut self, thread: Id<Thread>, id: Id<Notification>, deadline: u64) -> Result<Option<u64>> {
        let timed = self.m.get(id).timers.first().is_some();
        if timed {
            self.look_at_timers(id);
        }
        let n = self.m.get(id);
        if n.bits != 0 {
            let bits = core::mem::take(&mut n.bits);
            self.bits_taken(id);
            return Ok(Some(bits));
        }
        if n.waiter.is_some() {
            return Err(Error::Busy);
        }
        if deadline != NEVER {
            if deadline <= self.m.now() {
                return Err(Error::Timeout);
            }
            let level = self.m.get(thread).priority;
            self.arm(Due::Thread(thread), level, deadline);
        }
        self.m.get(id).waiter = Some(thread);
        self.m.get(thread).waiting_for = Some(id);
        if timed {
            self.attend(id);
        }
        self.block_current(State::Waiting);
        Ok(None)
    }

    /// Takes the first timer of a notification if it is due: nobody was interrupted for it, so the
    /// thread that calls `Wait` finds it here.
    fn look_at_timers(&mut self, id: Id<Notification>) {
        let now = self.m.now();
        if let Some(bits) = self.take_due_timer(id, now) {
            self.m.get(id).bits |= bits;
            self.attend(id);
        }
    }

    /// The current thread sleeps.
    #[inline]
    pub(crate) fn sleep(&mut self, thread: Id<Thread>, deadline: u64) {
        if deadline <= self.m.now() {
            return;
        }
        if deadline != NEVER {
            let level = self.m.get(thread).priority;
            self.arm(Due::Thread(thread), level, deadline);
        }
        self.m.set_result(thread, 0, [0, 0]);
        self.block_current(State::Sleeping);
    }

    /// Takes the bits of the notification that is bound to a thread.
    #[inline]
    pub fn take_bound_bits(&mut self, thread: Id<Thread>) -> u64 {
        let Some(n) = thread.notification(&self.m) else { return 0 };
        let bits = self.m.get(n).bits;
        if bits != 0 {
            self.m.get(n).bits = 0;
            self.bits_taken(n);
        }
        bits
    }
}
