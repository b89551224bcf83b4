//! One CPU's kernel: who runs, and for how long.

use crate::{
    Id, Machine, Opt,
    context::Context,
    interrupt::Vectors,
    queue::ReadyQueue,
    thread::{State, Thread},
    timer::{Due, Timers},
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
    pub timers: Timers,
    /// The first deadline may have changed since the hardware was programmed.
    pub timers_changed: bool,
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
    /// The guest that the vectors below the real-time class belong to.
    pub passenger: Opt<crate::vcpu::Vcpu>,
    /// Lines that are routed to the passenger. They end with it: one that is level-triggered would fire for ever.
    pub passenger_lines: crate::apic::Vectors,
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
        Kernel { m, cpu: Cpu { programmed: NEVER, ..Cpu::default() } }
    }

    /// Priority of the thread that runs; 0 when the CPU is idle.
    #[inline]
    pub(crate) fn current_priority(&mut self) -> u8 {
        match self.cpu.current {
            Some(id) => self.m.get(id).priority,
            None => 0,
        }
    }

    /// Lets a thread run, at once if it is more urgent than the current one. O(1), O(log n) when its budget is empty.
    #[inline(always)]
    pub(crate) fn make_ready(&mut self, id: Id<Thread>) {
        self.m.get(id).state = State::Ready;
        if self.may_run(id) {
            self.place_ready(id);
        }
    }

    /// Whether a ready thread has time to run on. If its budget is empty the refill is armed.
    #[inline(always)]
    fn may_run(&mut self, id: Id<Thread>) -> bool {
        let Some(context) = self.m.get(id).context else { return false };
        !self.m.get(context).is_limited() || self.may_run_limited(context)
    }

    fn may_run_limited(&mut self, context: Id<Context>) -> bool {
        if self.cpu.charged == Some(context) && self.m.get(context).left != 0 {
            return true;
        }
        let now = self.m.now();
        let c = self.m.get(context);
        if c.begin(now) {
            return true;
        }
        if !c.refill.is_linked() {
            let at = c.refill_at;
            self.arm(Due::Context(context), at);
        }
        false
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

    /// A thread goes out of the ready queue or off the CPU, if it is there; its state is the caller's to set.
    pub(crate) fn take_off(&mut self, id: Id<Thread>) {
        if self.cpu.current == Some(id) {
            self.cpu.current = self.cpu.ready.pop(&mut self.m);
        } else {
            self.cpu.ready.remove(&mut self.m, id);
        }
    }

    /// Changes the priority that a thread runs at. O(1).
    pub(crate) fn set_priority(&mut self, id: Id<Thread>, priority: u8) {
        let thread = self.m.get(id);
        if thread.priority == priority {
            return;
        }
        let queued = thread.queued;
        if queued {
            self.cpu.ready.remove(&mut self.m, id);
            self.m.get(id).priority = priority;
            self.place_ready(id);
            return;
        }
        thread.priority = priority;
        let has_time = thread.context.is_some();
        if self.cpu.current == Some(id) && self.cpu.ready.top() > priority {
            if has_time {
                self.cpu.ready.push_front(&mut self.m, id);
            }
            self.cpu.current = self.cpu.ready.pop(&mut self.m);
        }
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
        let (user, owner) = (c.user, c.owner);
        self.restore_users(user, owner);
        if let Some(user) = user {
            self.resume_parked(user);
        }
    }

    /// Gives a context another priority. What runs on it, and those that this one serves or waits for, follow.
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
            self.restore_loan(user);
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

    /// At the end of every entry into the kernel: charges the time used when another context runs from now on, takes the CPU from
    /// a thread whose budget is empty, and programs the timer when the first deadline changed.
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

    fn settle_time(&mut self) {
        let now = self.m.now();
        self.charge(now);
        let mut context = self.current_context();
        if context.is_none_or(|c| self.m.get(c).left == 0) {
            self.pass_over_exhausted();
            context = self.current_context();
        }
        self.cpu.charged = context;
        let end = context.map_or(NEVER, |c| self.m.get(c).ends_at(now));
        let deadline = self.first_deadline().min(end);
        self.cpu.timers_changed = false;
        if deadline != self.cpu.programmed {
            self.cpu.programmed = deadline;
            self.m.program_timer(deadline);
        }
    }

    /// Takes threads without time off the CPU. Two at most: of a longer row the rest follows at the timer interrupt that is
    /// programmed for the end of an empty budget, at once.
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
    fn charge(&mut self, now: u64) {
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
