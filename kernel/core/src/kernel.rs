//! The kernel of one CPU: which thread runs, and for how long.

use crate::{
    Id, Machine, Opt,
    agenda::{Agenda, At},
    context::Context,
    interrupt::Vectors,
    queue::ReadyQueue,
    thread::{State, Thread},
    timer::Due,
};
use pillion_abi::NEVER;

/// State of one CPU.
#[derive(Debug, Default)]
pub struct Cpu {
    /// The thread that runs; `None` when the CPU is idle. It is not in the ready queue.
    pub current: Opt<Thread>,
    /// The ready threads, except the current one.
    pub ready: ReadyQueue,
    /// Pending timeouts, replenishments and timers.
    pub agenda: Agenda,
    /// Whether the next relevant deadline may have changed since the timer was programmed.
    pub timers_changed: bool,
    /// Level of the earliest agenda entry at or above the current thread's priority.
    pub next_level: u8,
    /// Deadline that the hardware timer is programmed for.
    pub programmed: u64,
    /// The context that the time since [`Cpu::since`] is charged to.
    pub charged: Opt<Context>,
    /// Start of the time that has not been charged yet.
    pub since: u64,
    /// Counts arrivals in the queues of endpoints, to order callers.
    pub arrivals: u64,
    /// Interrupt objects of user threads, by vector.
    pub vectors: Vectors,
    /// A bit for each of these interrupts whose line is held back until its handler has had a
    /// chance to run, and [`crate::post::MAIL`].
    pub held_lines: u16,
    /// Number of notifications whose posts are held.
    pub held_posts: u32,
    /// Its number, the home of the objects that it uses.
    pub number: u8,
    /// The guest that owns the vectors below the real-time class.
    pub passenger: Opt<crate::vcpu::Vcpu>,
    /// Lines that were routed to the passenger. Those that still are its are masked when it is
    /// deleted: a level-triggered line would fire for ever.
    pub passenger_lines: crate::x86_64::apic::Vectors,
    /// The passenger's priority; above all others if there is no passenger.
    pub passenger_level: u8,
    /// Whether its interrupts are held back because a more urgent thread runs.
    pub holds_passenger: bool,
    /// When the budget of the visitor ends whose call is carried out; else [`NEVER`].
    pub visit_ends: u64,
    /// Whether a guest may be boosted: it can run before a thread that was preempted goes on.
    pub boosts: bool,
}

/// The kernel of one CPU and the machine it runs on.
#[derive(Debug)]
pub struct Kernel<M> {
    /// The machine.
    pub m: M,
    /// The CPU.
    pub cpu: Cpu,
}

impl<M: Machine> Kernel<M> {
    /// The kernel of the CPU with a number, with nothing to run.
    pub fn new(m: M, number: u8) -> Self {
        Kernel {
            m,
            cpu: Cpu { number, programmed: NEVER, visit_ends: NEVER, passenger_level: u8::MAX, ..Cpu::default() },
        }
    }

    /// Priority of the current thread; 0 when the CPU is idle.
    #[inline]
    pub(crate) fn current_priority(&mut self) -> u8 {
        match self.cpu.current {
            Some(id) => self.m.get(id).priority,
            None => 0,
        }
    }

    /// Makes a thread ready. It runs at once if it is more urgent than the current one. O(1), or
    /// O(log n) if its budget is empty.
    #[inline(always)]
    pub(crate) fn make_ready(&mut self, id: Id<Thread>) {
        self.make_ready_since(id, NEVER);
    }

    /// As [`Self::make_ready`], for a thread that would have become ready at `since` if the kernel
    /// had looked.
    #[inline(always)]
    pub(crate) fn make_ready_since(&mut self, id: Id<Thread>, since: u64) {
        self.m.get(id).state = State::Ready;
        if self.may_run(id, since) {
            self.place_ready(id);
        }
    }

    /// Whether a thread that has been ready since `since`, or just became so ([`NEVER`]), has a
    /// context with budget left. If the budget is empty, the replenishment is armed.
    #[inline(always)]
    fn may_run(&mut self, id: Id<Thread>, since: u64) -> bool {
        let Some(context) = self.m.get(id).context else { return false };
        let c = self.m.get(context);
        if !c.is_limited() {
            return true;
        }
        let (left, refill_at) = (c.left, c.refill_at);
        // Mostly it has some left, and its period is not over.
        left != 0 && self.m.now() < refill_at || self.may_run_limited(context, id, since)
    }

    fn may_run_limited(&mut self, context: Id<Context>, id: Id<Thread>, since: u64) -> bool {
        if self.cpu.charged == Some(context) && self.m.get(context).left != 0 {
            return true;
        }
        let c = self.m.get(context);
        if c.is_boosted() {
            // A boost is replenished only where it begins.
            if c.left != 0 {
                return true;
            }
            self.end_boost(context);
            return self.may_run(id, since);
        }
        let now = self.m.now();
        let c = self.m.get(context);
        let (has_time, armed, at) = (c.begin(now, since.min(now)), c.refill.is_linked(), c.refill_at);
        if has_time && armed {
            self.disarm(Due::Context(context));
        } else if !has_time && !armed {
            let level = self.m.get(id).priority;
            self.arm(Due::Context(context), level, at);
        }
        has_time
    }

    #[inline(always)]
    fn place_ready(&mut self, id: Id<Thread>) {
        if self.m.get(id).priority > self.current_priority() {
            if let Some(current) = self.cpu.current {
                if self.cpu.boosts {
                    self.restart_sequence(current);
                }
                self.cpu.ready.push_front(&mut self.m, current);
            }
            self.cpu.current = Some(id);
        } else {
            self.cpu.ready.push_back(&mut self.m, id);
        }
    }

    /// Puts the current thread into another state and runs the most urgent ready one. O(1).
    #[inline]
    pub fn block_current(&mut self, state: State) {
        if let Some(current) = self.cpu.current {
            self.m.get(current).state = state;
        }
        self.cpu.current = self.cpu.ready.pop(&mut self.m);
    }

    /// Takes a thread off the CPU or out of the ready queue, if it is there. Its state is for the
    /// caller to set.
    pub(crate) fn take_off(&mut self, id: Id<Thread>) {
        if self.cpu.current == Some(id) {
            self.cpu.current = self.cpu.ready.pop(&mut self.m);
        } else {
            self.cpu.ready.remove(&mut self.m, id);
        }
    }

    /// Changes the priority that a thread runs at. O(1), or O(log n) if the agenda has entries for
    /// it.
    pub(crate) fn set_priority(&mut self, id: Id<Thread>, priority: u8) {
        let thread = self.m.get(id);
        if thread.priority == priority {
            return;
        }
        let queued = thread.queued;
        if queued {
            self.cpu.ready.remove(&mut self.m, id);
            self.m.get(id).priority = priority;
            self.follow(id);
            self.place_ready(id);
            return;
        }
        thread.priority = priority;
        let context = thread.context;
        self.follow(id);
        self.level_changed(context);
        if self.cpu.current == Some(id) && self.cpu.ready.top() > priority {
            if context.is_some() {
                self.cpu.ready.push_front(&mut self.m, id);
            }
            self.cpu.current = self.cpu.ready.pop(&mut self.m);
        }
    }

    /// Notes that a context may be used at another priority from now on, which [`Kernel::finish`]
    /// would not notice if the context is the one being charged.
    #[inline]
    pub(crate) fn level_changed(&mut self, context: Opt<Context>) {
        self.cpu.timers_changed |= context == self.cpu.charged;
    }

    /// The current thread yields to others of its priority.
    pub(crate) fn yield_now(&mut self) {
        if let Some(current) = self.cpu.current {
            self.cpu.current = Some(self.cpu.ready.turn(&mut self.m, current));
        }
    }

    /// Reconfigures a context. Time used so far is charged to the old budget.
    pub(crate) fn configure_context(&mut self, id: Id<Context>, priority: u8, budget: u64, period: u64) {
        self.end_boost(id);
        let now = self.m.now();
        self.charge(now);
        self.disarm(Due::Context(id));
        let refill_at = if self.cpu.charged == Some(id) { now.saturating_add(period) } else { 0 };
        let c = self.m.get(id);
        (c.priority, c.budget, c.period, c.left, c.refill_at) = (priority, budget, period, budget, refill_at);
        c.forfeited = false;
        let (user, owner) = (c.user, c.owner);
        self.restore_users(user, owner);
        self.has_budget(id);
    }

    /// Gives a context another priority. The thread that runs on it, and the threads that this one
    /// serves or waits for, follow.
    ///
    /// Work: at most one walk along a chain of calls for the owner and one for the user.
    pub(crate) fn set_context_priority(&mut self, id: Id<Context>, priority: u8) {
        let c = self.m.get(id);
        c.priority = priority;
        let (user, owner) = (c.user, c.owner);
        self.restore_users(user, owner);
    }

    fn restore_users(&mut self, user: Opt<Thread>, owner: Opt<Thread>) {
        if let Some(user) = user {
            self.restore_donation(user);
        }
        if let Some(owner) = owner
            && user != Some(owner)
        {
            self.restore_chain(owner);
        }
    }

    /// Resumes a thread that is ready but had no budget.
    pub(crate) fn resume_parked(&mut self, id: Id<Thread>) {
        let thread = self.m.get(id);
        if thread.state == State::Ready && !thread.queued && self.cpu.current != Some(id) {
            self.make_ready(id);
        }
    }

    /// Replenishes a context whose period is over.
    pub(crate) fn refill(&mut self, context: Id<Context>, now: u64) {
        let c = self.m.get(context);
        // The thread was ready all the time.
        c.begin(now, 0);
        self.has_budget(context);
    }

    /// A context has a new budget: who waits for it goes on.
    fn has_budget(&mut self, context: Id<Context>) {
        let c = self.m.get(context);
        if let Some(user) = c.user {
            self.resume_parked(user);
        } else if let Some(endpoint) = c.endpoint {
            self.visitors_have_time(endpoint);
        }
    }

    /// Ends every entry into the kernel but a fast call: charges the time used if another context
    /// runs next, takes the CPU from a thread whose budget is empty, and programs the timer for the
    /// next relevant deadline.
    #[inline(always)]
    pub fn finish(&mut self) {
        if self.is_unsettled() {
            self.settle_time();
        }
    }

    /// Before an interrupt that a call took is handled: notes whether the call changed what the
    /// timer is programmed for.
    #[inline]
    pub fn note_changes(&mut self) {
        self.cpu.timers_changed = self.is_unsettled();
    }

    /// Whether the agenda, or the context that runs next, is another than the timer is programmed
    /// for.
    #[inline(always)]
    fn is_unsettled(&mut self) -> bool {
        self.cpu.timers_changed || self.current_context() != self.cpu.charged
    }

    #[inline(always)]
    fn current_context(&mut self) -> Opt<Context> {
        self.cpu.current.and_then(|id| self.m.get(id).context)
    }

    /// The rare cases are separate functions, so that the usual case saves no registers for them.
    fn settle_time(&mut self) {
        if self.cpu.held_lines != 0 {
            return self.settle_lines();
        }
        self.settle();
    }

    /// For when lines are held back: releases those whose handlers may run now.
    #[inline(never)]
    fn settle_lines(&mut self) {
        self.settle();
        let level = self.current_priority();
        self.release_lines_from(level);
    }

    #[inline(always)]
    fn settle(&mut self) {
        let now = self.m.now();
        self.charge(now);
        let Some((context, level)) = self.running().filter(|(c, _)| self.m.get(*c).left != 0) else {
            return self.settle_exhausted(now);
        };
        if self.cpu.agenda.reaches(level) {
            return self.settle_among(Some(context), level, now);
        }
        self.prepare_next_at(Some(context), level, At { deadline: NEVER, level }, now);
    }

    /// The current thread's context and priority.
    #[inline(always)]
    fn running(&mut self) -> Option<(Id<Context>, u8)> {
        let thread = self.m.get(self.cpu.current?);
        Some((thread.context?, thread.priority))
    }

    /// The CPU is idle, or the current thread has no budget left.
    #[inline(never)]
    fn settle_exhausted(&mut self, now: u64) {
        self.pass_over_exhausted();
        self.prepare_next(now);
    }

    /// The agenda may have entries at or above a level. If one is already due, the timer fires at
    /// once and that interrupt handles it, so that a call that lowers the CPU's priority does not
    /// do both with interrupts off.
    #[inline(never)]
    fn settle_among(&mut self, context: Opt<Context>, level: u8, now: u64) {
        let next = self.cpu.agenda.earliest_from(level);
        self.prepare_next_at(context, level, next, now);
    }

    /// Programs the timer for the earliest agenda entry that concerns the thread that runs next.
    #[inline(always)]
    pub(crate) fn prepare_next(&mut self, now: u64) {
        let level = self.current_priority();
        let next = self.cpu.agenda.earliest_from(level);
        let context = self.current_context();
        self.prepare_next_at(context, level, next, now);
    }

    /// Once the next thread is chosen: programs the timer, and holds the passenger's interrupts
    /// back or lets them through.
    #[inline(always)]
    fn prepare_next_at(&mut self, context: Opt<Context>, level: u8, next: At, now: u64) {
        self.cpu.charged = context;
        let end = context.map_or(NEVER, |c| self.m.get(c).ends_at(now));
        let deadline = next.deadline.min(end);
        self.cpu.next_level = next.level;
        self.cpu.timers_changed = false;
        let hold = level > self.cpu.passenger_level;
        if hold != self.cpu.holds_passenger {
            self.cpu.holds_passenger = hold;
            self.m.hold_passenger(hold);
        }
        if deadline != self.cpu.programmed {
            self.cpu.programmed = deadline;
            self.m.program_timer(deadline);
        }
    }

    /// Takes threads without budget off the CPU, two at most. If the next thread has none either,
    /// the timer, programmed for the end of its empty budget, fires at once, and the rest follow
    /// there.
    #[cold]
    fn pass_over_exhausted(&mut self) {
        for _ in 0..2 {
            let Some(current) = self.cpu.current else { return };
            // It was ready all the time.
            if self.may_run(current, 0) {
                return;
            }
            self.restart_sequence(current);
            // The end of its boost may have queued it already.
            self.take_off(current);
        }
    }

    /// Whether a thread has a restartable sequence.
    pub fn has_sequence(&mut self, id: Id<Thread>) -> bool {
        let [first, end] = self.m.get(id).sequence;
        first != end
    }

    /// A thread does not run on: others that it takes no turns with may run before it does. If it
    /// was in its restartable sequence, that begins again.
    #[cold]
    pub fn restart_sequence(&mut self, id: Id<Thread>) {
        let [first, end] = self.m.get(id).sequence;
        if first != end {
            let [next, _] = self.m.register_pair(id, 0);
            if (first..end).contains(&next) {
                self.m.set_instruction_pointer(id, first);
            }
        }
    }

    #[inline(always)]
    pub(crate) fn charge(&mut self, now: u64) {
        if let Some(context) = self.cpu.charged {
            let used = now.wrapping_sub(self.cpu.since);
            self.charge_to(context, used);
        }
        self.cpu.since = now;
    }

    /// Charges ticks to a context.
    #[inline(always)]
    pub(crate) fn charge_to(&mut self, context: Id<Context>, ticks: u64) {
        let is_over = self.m.get(context).charge(ticks);
        let used = self.m.used(context);
        used.add(ticks);
        if is_over {
            used.add_exhausted();
        }
    }
}
