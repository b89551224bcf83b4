//! One CPU's kernel: who runs, and for how long.

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
    /// The thread that runs; none when the CPU is idle. It is not in the ready queue.
    pub current: Opt<Thread>,
    /// Threads that are ready, but for the current one.
    pub ready: ReadyQueue,
    /// What happens when.
    pub agenda: Agenda,
    /// The first deadline that matters may have changed since the hardware was programmed.
    pub timers_changed: bool,
    /// Level of the first on the agenda that matters to the thread that runs.
    pub next_level: u8,
    /// What the hardware is programmed for.
    pub programmed: u64,
    /// The context whose time is being used, and since when.
    pub charged: Opt<Context>,
    /// See [`Cpu::charged`].
    pub since: u64,
    /// Order of arrival in the queues of endpoints.
    pub arrivals: u64,
    /// Interrupts of user threads by vector.
    pub vectors: Vectors,
    /// A bit for each of these whose line is held back until its handler has had a chance to run.
    pub held_lines: u16,
    /// The guest that the vectors below the real-time class belong to.
    pub passenger: Opt<crate::vcpu::Vcpu>,
    /// Lines that are routed to the passenger. They end with it: one that is level-triggered would
    /// fire for ever.
    pub passenger_lines: crate::x86_64::apic::Vectors,
    /// Its priority; above all others where there is none.
    pub passenger_level: u8,
    /// Its interrupts are held back, since somebody more urgent runs.
    pub holds_passenger: bool,
}

/// The kernel of one CPU, with the machine that it runs on.
#[derive(Debug)]
pub struct Kernel<M> {
    /// The machine.
    pub m: M,
    /// The CPU.
    pub cpu: Cpu,
}

impl<M: Machine> Kernel<M> {
    /// A kernel with nothing to run.
    pub fn new(m: M) -> Self {
        Kernel { m, cpu: Cpu { programmed: NEVER, passenger_level: u8::MAX, ..Cpu::default() } }
    }

    /// Priority of the thread that runs; 0 when the CPU is idle.
    #[inline]
    pub(crate) fn current_priority(&mut self) -> u8 {
        match self.cpu.current {
            Some(id) => self.m.get(id).priority,
            None => 0,
        }
    }

    /// Lets a thread run, at once if it is more urgent than the current one. O(1), O(log n) when
    /// its budget is empty.
    #[inline(always)]
    pub(crate) fn make_ready(&mut self, id: Id<Thread>) {
        self.m.get(id).state = State::Ready;
        if self.may_run(id) {
            self.place_ready(id);
        }
    }

    /// Whether a ready thread has time to run on. If its budget is empty the replenishment is
    /// armed.
    #[inline(always)]
    fn may_run(&mut self, id: Id<Thread>) -> bool {
        let Some(context) = self.m.get(id).context else { return false };
        !self.m.get(context).is_limited() || self.may_run_limited(context, id)
    }

    fn may_run_limited(&mut self, context: Id<Context>, id: Id<Thread>) -> bool {
        if self.cpu.charged == Some(context) && self.m.get(context).left != 0 {
            return true;
        }
        let now = self.m.now();
        let c = self.m.get(context);
        let (has_time, armed, at) = (c.begin(now), c.refill.is_linked(), c.refill_at);
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
                self.cpu.ready.push_front(&mut self.m, current);
            }
            self.cpu.current = Some(id);
        } else {
            self.cpu.ready.push_back(&mut self.m, id);
        }
    }

    /// The current thread goes into another state and the most urgent ready one runs. O(1).
    #[inline]
    pub fn block_current(&mut self, state: State) {
        if let Some(current) = self.cpu.current {
            self.m.get(current).state = state;
        }
        self.cpu.current = self.cpu.ready.pop(&mut self.m);
    }

    /// A thread goes out of the ready queue or off the CPU, if it is there; its state is the
    /// caller's to set.
    pub(crate) fn take_off(&mut self, id: Id<Thread>) {
        if self.cpu.current == Some(id) {
            self.cpu.current = self.cpu.ready.pop(&mut self.m);
        } else {
            self.cpu.ready.remove(&mut self.m, id);
        }
    }

    /// Changes the priority that a thread runs at. O(1), O(log n) where something is due for it.
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

    /// Whoever runs on some time from now on may do so at another level: if it is the time that is
    /// being used, [`Kernel::finish`] sees no difference.
    #[inline]
    pub(crate) fn level_changed(&mut self, context: Opt<Context>) {
        self.cpu.timers_changed |= context == self.cpu.charged;
    }

    /// The current thread lets others of its priority go first.
    pub(crate) fn yield_now(&mut self) {
        if let Some(current) = self.cpu.current {
            self.cpu.ready.push_back(&mut self.m, current);
            self.cpu.current = self.cpu.ready.pop(&mut self.m);
        }
    }

    /// Gives a context other figures; what was used of the old ones is charged to them.
    pub(crate) fn configure_context(&mut self, id: Id<Context>, priority: u8, budget: u64, period: u64) {
        let now = self.m.now();
        self.charge(now);
        self.disarm(Due::Context(id));
        let refill_at = if self.cpu.charged == Some(id) { now.saturating_add(period) } else { 0 };
        let c = self.m.get(id);
        (c.priority, c.budget, c.period, c.left, c.refill_at) = (priority, budget, period, budget, refill_at);
        c.forfeited = false;
        let (user, owner) = (c.user, c.owner);
        self.restore_users(user, owner);
        if let Some(user) = user {
            self.resume_parked(user);
        }
    }

    /// Gives a context another priority. What runs on it, and those that this one serves or waits
    /// for, follow.
    ///
    /// Work: at most one walk along a chain of calls for the owner, and one for the user.
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

    /// Lets a thread run that is ready, but was without time.
    fn resume_parked(&mut self, id: Id<Thread>) {
        let thread = self.m.get(id);
        if thread.state == State::Ready && !thread.queued && self.cpu.current != Some(id) {
            self.make_ready(id);
        }
    }

    /// A budget's period is over.
    pub(crate) fn refill(&mut self, context: Id<Context>, now: u64) {
        let c = self.m.get(context);
        c.begin(now);
        if let Some(user) = c.user {
            self.resume_parked(user);
        }
    }

    /// At the end of every entry into the kernel: charges the time used when another context runs
    /// from now on, takes the CPU from a thread whose budget is empty, and programs the timer for
    /// the first deadline that matters from now on.
    #[inline(always)]
    pub fn finish(&mut self) {
        if self.cpu.timers_changed || self.current_context() != self.cpu.charged {
            self.settle_time();
        }
    }

    #[inline(always)]
    fn current_context(&mut self) -> Opt<Context> {
        self.cpu.current.and_then(|id| self.m.get(id).context)
    }

    /// What is seldom is in functions of its own, so that the usual case saves no registers for
    /// them.
    fn settle_time(&mut self) {
        if self.cpu.held_lines != 0 {
            return self.settle_lines();
        }
        self.settle();
    }

    /// Lines are held back: those come through whose handlers may run from now on.
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
        self.leave_at(Some(context), level, At { deadline: NEVER, level }, now);
    }

    /// The time that runs, and the level.
    #[inline(always)]
    fn running(&mut self) -> Option<(Id<Context>, u8)> {
        let thread = self.m.get(self.cpu.current?);
        Some((thread.context?, thread.priority))
    }

    /// The CPU is idle, or who runs has no time.
    #[inline(never)]
    fn settle_exhausted(&mut self, now: u64) {
        self.pass_over_exhausted();
        self.leave(now);
    }

    /// There is something on the agenda that matters at a level. What is due already lets the timer
    /// fire at once: it is handled there, in an entry of its own, so that a call that brings the
    /// CPU down does not do both with interrupts off.
    #[inline(never)]
    fn settle_among(&mut self, context: Opt<Context>, level: u8, now: u64) {
        let next = self.cpu.agenda.earliest_from(level);
        self.leave_at(context, level, next, now);
    }

    /// Programs the timer for the first on the agenda that matters to who runs from now on.
    #[inline(always)]
    pub(crate) fn leave(&mut self, now: u64) {
        let level = self.current_priority();
        let next = self.cpu.agenda.earliest_from(level);
        let context = self.current_context();
        self.leave_at(context, level, next, now);
    }

    /// It is known who runs from now on: programs the timer, and lets the passenger's interrupts
    /// through or not.
    #[inline(always)]
    fn leave_at(&mut self, context: Opt<Context>, level: u8, next: At, now: u64) {
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

    /// Takes threads without time off the CPU. Two at most: of a longer row the rest follows at the
    /// timer interrupt that is programmed for the end of an empty budget, at once.
    #[cold]
    fn pass_over_exhausted(&mut self) {
        for _ in 0..2 {
            let Some(current) = self.cpu.current else { return };
            if self.may_run(current) {
                return;
            }
            self.cpu.current = self.cpu.ready.pop(&mut self.m);
        }
    }

    #[inline(always)]
    pub(crate) fn charge(&mut self, now: u64) {
        if let Some(context) = self.cpu.charged {
            let used = now.wrapping_sub(self.cpu.since);
            let c = self.m.get(context);
            if c.charge(used) {
                c.exhausted += 1;
            }
        }
        self.cpu.since = now;
    }
}
