//! Timeouts, replenishments and timers: one agenda per CPU, and one hardware timer, programmed for
//! the first entry that concerns the current thread or a more urgent one.
//!
//! An entry has the priority of the thread that it is for, and follows it when that changes:
//!
//! | entry | has the priority of |
//! |---|---|
//! | a thread's sleep or timeout | the thread |
//! | a replenishment | the thread that is to run on it |
//! | the first timer of a notification | the thread that waits for the notification, else the one that it is bound to; with neither it is not on the agenda, and the next thread that waits for the notification finds it |
//! | a guest's timer | the thread that runs the guest |
//! | a call of another processor's thread | that thread; the entry is due from the beginning |
//!
//! An entry below the CPU's current priority stays on the agenda, even when it is due. When the
//! CPU's priority drops, the most urgent entry goes first.

use crate::{
    Id, Kernel, Machine, Opt,
    context::Context,
    heap::{Node, Nodes},
    id::slot_of,
    machine::Objects,
    notification::Notification,
    thread::{State, Thread},
    vcpu::Vcpu,
};
use pillion_abi::{NEVER, status::Error};

/// An entry of the agenda.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// A thread's sleep or timeout ends.
    Thread(Id<Thread>),
    /// A budget is replenished.
    Context(Id<Context>),
    /// The first timer of a notification signals.
    Notification(Id<Notification>),
    /// A guest's local APIC timer fires.
    Vcpu(Id<Vcpu>),
    /// A call of another processor's thread goes on.
    Visit(Id<Thread>),
}

/// A timer object.
#[derive(Debug)]
pub struct Timer {
    /// Node in the heap of the notification.
    pub node: Node<Id<Timer>>,
    /// The notification in whose heap it is.
    pub armed_at: Opt<Notification>,
    /// Deadline that it was set to.
    pub deadline: u64,
    /// Bits that it signals.
    pub bits: u64,
}

impl Default for Timer {
    fn default() -> Self {
        Timer { node: Node::default(), armed_at: None, deadline: NEVER, bits: 0 }
    }
}

impl Id<Timer> {
    /// The notification that it signals.
    #[inline(always)]
    #[must_use]
    pub fn notification(self, m: &impl Objects) -> Opt<Notification> {
        m.slot_behind(self, slot_of::<Timer>(0)).object()
    }
}

/// Lets the agenda find its nodes in the objects.
pub(crate) struct InObjects<'a, M: Machine>(pub &'a mut M);

impl<M: Machine> Nodes<Due> for InObjects<'_, M> {
    #[inline]
    fn node(&mut self, due: Due) -> &mut Node<Due> {
        match due {
            Due::Thread(id) => &mut self.0.get(id).timeout,
            Due::Context(id) => &mut self.0.get(id).refill,
            Due::Notification(id) => &mut self.0.get(id).due,
            Due::Vcpu(id) => &mut self.0.get(id).timer,
            Due::Visit(id) => &mut self.0.get(id.visit()).due,
        }
    }
}

/// Lets the heap of a notification find its timers.
struct OfNotification<'a, M: Machine>(&'a mut M);

impl<M: Machine> Nodes<Id<Timer>> for OfNotification<'_, M> {
    fn node(&mut self, id: Id<Timer>) -> &mut Node<Id<Timer>> {
        &mut self.0.get(id).node
    }
}

impl<M: Machine> Kernel<M> {
    /// Adds an entry that is not on the agenda. O(log n).
    pub(crate) fn arm(&mut self, due: Due, level: u8, deadline: u64) {
        self.cpu.agenda.insert(&mut InObjects(&mut self.m), due, level, deadline);
        self.cpu.timers_changed = true;
    }

    /// Removes an entry from the agenda; does nothing if it is not there. O(log n).
    pub(crate) fn disarm(&mut self, due: Due) {
        self.cpu.agenda.remove(&mut InObjects(&mut self.m), due);
        self.cpu.timers_changed = true;
    }

    /// Moves an entry of the agenda to another level. O(log n).
    pub(crate) fn relevel(&mut self, due: Due, level: u8) {
        self.cpu.agenda.relevel(&mut InObjects(&mut self.m), due, level);
        self.cpu.timers_changed = true;
    }

    /// Moves the agenda entries for a thread to its new priority. O(log n).
    pub(crate) fn follow(&mut self, id: Id<Thread>) {
        let t = self.m.get(id);
        let (level, waits, context, guest) = (t.priority, t.timeout.is_linked(), t.context, t.guest);
        let waiting_for = t.waiting_for;
        let bound = id.notification(&self.m);
        if waits {
            self.relevel(Due::Thread(id), level);
        }
        if let Some(context) = context {
            self.refill_follows(context, id);
        }
        for n in [waiting_for, bound].into_iter().flatten() {
            self.attend(n);
        }
        if let Some(vcpu) = guest {
            self.guest_follows(vcpu, level);
        }
        if self.m.several() && self.m.get(id).state == State::Away {
            self.visit_follows(id, level);
        }
    }

    /// Moves a context's replenishment, if it is on the agenda, to the priority of its new user.
    /// O(log n).
    pub(crate) fn refill_follows(&mut self, context: Id<Context>, user: Id<Thread>) {
        if self.m.get(context).refill.is_linked() {
            let level = self.m.get(user).priority;
            self.relevel(Due::Context(context), level);
        }
    }

    /// Updates a notification's entry on the agenda after its timers, or the thread that they are
    /// for, changed. O(log n).
    #[inline(never)]
    pub(crate) fn attend(&mut self, id: Id<Notification>) {
        let n = self.m.get(id);
        let (listener, first, linked) = (n.waiter.or(n.bound), n.timers.first(), n.due.is_linked());
        let (Some(listener), Some(first)) = (listener, first) else {
            if linked {
                self.disarm(Due::Notification(id));
            }
            return;
        };
        let (level, deadline) = (self.m.get(listener).priority, self.m.get(first).node.key());
        let due = self.m.get(id).due;
        if !linked {
            self.arm(Due::Notification(id), level, deadline);
        } else if due.key() != deadline {
            self.disarm(Due::Notification(id));
            self.arm(Due::Notification(id), level, deadline);
        } else if due.level != level {
            self.relevel(Due::Notification(id), level);
        }
    }

    /// The CPU's timer fired. Of the entries due at the running priority or above, one is handled:
    /// the first of the highest level. If more are due that concern the thread that runs next, the
    /// timer fires again at once, so that the work of one interrupt is bounded.
    #[inline(always)]
    pub fn timer_interrupt(&mut self) {
        self.m.end_of_interrupt();
        self.cpu.programmed = NEVER;
        let (level, now) = (self.cpu.next_level, self.m.now());
        let usual = !self.cpu.timers_changed && self.cpu.held_lines == 0;
        if usual && self.cpu.agenda.first(level) <= now {
            self.charge(now);
            self.expire_highest(level, now);
            self.prepare_next(now);
        } else {
            self.timer_interrupt_unusual(now);
        }
    }

    /// A budget has run out, the agenda has changed since the timer was programmed, or lines are
    /// held back: [`Kernel::finish`] does the rest.
    #[inline(never)]
    fn timer_interrupt_unusual(&mut self, now: u64) {
        self.cpu.timers_changed = true;
        let level = self.current_priority();
        let next = self.cpu.agenda.earliest_from(level);
        if next.deadline <= now {
            self.charge(now);
            self.expire_highest(next.level, now);
        }
    }

    /// Handles the first entry of the highest level at which one is due; one is due at `level`.
    #[inline(always)]
    fn expire_highest(&mut self, level: u8, now: u64) {
        let level = self.cpu.agenda.highest_due(level, now);
        match self.cpu.agenda.heap(level).first() {
            Some(Due::Thread(id)) => {
                self.cpu.agenda.pop(&mut InObjects(&mut self.m), level, Due::Thread(id));
                self.thread_due(id);
            }
            Some(due) => self.expire_other(level, due, now),
            None => {}
        }
    }

    #[inline(never)]
    fn expire_other(&mut self, level: u8, due: Due, now: u64) {
        self.cpu.agenda.pop(&mut InObjects(&mut self.m), level, due);
        match due {
            Due::Thread(id) => self.thread_due(id),
            Due::Context(id) => self.refill(id, now),
            Due::Notification(id) => {
                let since = self.m.get(id).due.key();
                if let Some(bits) = self.take_due_timer(id, now) {
                    self.signal_since(id, bits, since);
                }
                self.attend(id);
            }
            Due::Vcpu(id) => self.guest_timer(id),
            Due::Visit(id) => {
                // While the call goes on, the timer has to fire for what is more urgent.
                let above = self.cpu.agenda.earliest_from(level.saturating_add(1));
                self.cpu.programmed = above.deadline;
                self.m.program_timer(above.deadline);
                self.cpu.timers_changed = false;
                // Where more visits are due, the timer fires again afterwards, before all lines.
                self.m.interrupt_pending();
                self.visit(id);
            }
        }
    }

    #[inline(always)]
    fn thread_due(&mut self, id: Id<Thread>) {
        let thread = self.m.get(id);
        let waited_for = thread.waiting_for.take();
        let status = if thread.state == State::Sleeping { 0 } else { Error::Timeout.to_raw() };
        if let Some(n) = waited_for {
            let at = self.m.get(n);
            at.waiter = None;
            if at.due.is_linked() {
                self.attend(n);
            }
        }
        let since = self.m.get(id).timeout.key();
        self.m.set_result(id, status, [0, 0]);
        self.make_ready_since(id, since);
    }

    /// Removes the first timer of a notification if it is due. Returns its bits, unless the
    /// capability that it signalled through is gone. O(log n).
    pub(crate) fn take_due_timer(&mut self, id: Id<Notification>, now: u64) -> Option<u64> {
        let first = self.m.get(id).timers.first()?;
        if self.m.get(first).node.key() > now {
            return None;
        }
        self.take_timer(first, id);
        let timer = self.m.get(first);
        timer.deadline = NEVER;
        let bits = timer.bits;
        (first.notification(&self.m) == Some(id)).then_some(bits)
    }

    fn take_timer(&mut self, timer: Id<Timer>, id: Id<Notification>) {
        let mut timers = self.m.get(id).timers;
        timers.remove(&mut OfNotification(&mut self.m), timer);
        self.m.get(id).timers = timers;
        self.m.get(timer).armed_at = None;
    }

    /// Removes a timer from the heap of its notification, if it is in one. O(log n).
    pub(crate) fn timer_stop(&mut self, timer: Id<Timer>) {
        if let Some(n) = self.m.get(timer).armed_at {
            self.take_timer(timer, n);
            self.attend(n);
        }
    }

    /// Adds a timer to the heap of the notification that it signals, with the deadline that it is
    /// set to. O(log n).
    pub(crate) fn timer_start(&mut self, timer: Id<Timer>) {
        let Some(n) = timer.notification(&self.m) else { return };
        let t = self.m.get(timer);
        let deadline = t.deadline;
        if deadline == NEVER {
            return;
        }
        t.armed_at = Some(n);
        let mut timers = self.m.get(n).timers;
        timers.insert(&mut OfNotification(&mut self.m), timer, deadline);
        self.m.get(n).timers = timers;
        self.attend(n);
    }

    /// Sets a timer object.
    pub(crate) fn timer_set(&mut self, id: Id<Timer>, deadline: u64) {
        self.timer_stop(id);
        self.m.get(id).deadline = deadline;
        self.timer_start(id);
    }

    /// Starts a timer that was just bound to a notification, unless its deadline has passed.
    pub(crate) fn timer_bound(&mut self, id: Id<Timer>) {
        self.timer_stop(id);
        if self.m.get(id).deadline > self.m.now() {
            self.timer_start(id);
        }
    }
}
