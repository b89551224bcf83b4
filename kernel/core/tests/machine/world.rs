//! A booted kernel with a first thread that creates the objects that a test needs.

use super::{Fake, Frame, check, translations};
use pillion_abi::{
    NEVER,
    call::Call,
    object::{Kind, right},
    status::Error,
};
use pillion_core::{
    Cap, Id, Kernel, Outcome, Slot,
    cap::CapSpace,
    root::Start,
    thread::{State, Thread},
};
use std::collections::BTreeMap;

/// Slots of the first thread.
pub mod slot {
    pub const CAPS: u64 = 1;
    pub const SPACE: u64 = 2;
    pub const THREAD: u64 = 3;
    pub const CONTEXT: u64 = 4;
    pub const SCHED: u64 = 5;
    pub const IRQ: u64 = 6;
    pub const PORTS: u64 = 7;
    pub const TRACE: u64 = 8;
    pub const NOTE: u64 = 9;
    pub const REGION: u64 = COUNT - 1;
    pub const DEVICE: u64 = 11;
    pub const FIRST: u64 = 16;
    pub const COUNT: u64 = 256;
}

/// Priority of the first thread.
pub const ROOT_PRIORITY: u8 = 250;

/// The machine's memory in bytes.
pub const MEMORY: u64 = 2 << 20;

/// A thread with a scheduling context of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Worker {
    pub thread: u64,
    pub context: u64,
    pub id: Id<Thread>,
}

/// A message that came to a thread, and what there was to see when the kernel was left.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    pub to: Id<Thread>,
    pub frame: Frame,
    /// How many messages the thread got in that entry.
    pub count: u64,
    /// Whom the thread serves: a local caller, or a visitor.
    pub caller: Option<Id<Thread>>,
    pub visitor: Option<Id<Thread>>,
    /// Whether that one has faulted.
    pub faulted: bool,
}

pub struct World {
    /// The kernel of the processor that is looked at.
    pub k: Kernel<Fake>,
    /// Those of the others.
    others: BTreeMap<u8, Kernel<Fake>>,
    pub caps: Id<CapSpace>,
    pub root: Id<Thread>,
    pub next: u64,
    /// Interrupted calls that must be repeated, by thread.
    pub again: BTreeMap<u32, (u64, [u64; 6])>,
    /// Messages that came to threads since somebody looked.
    pub arrivals: Vec<Arrival>,
    /// How many each thread has got.
    received: BTreeMap<u32, u64>,
    /// Most calls of `get` between two preemption points, by call.
    pub worst: BTreeMap<String, u64>,
    /// Whether the fast paths are tried first.
    pub fast: bool,
    /// Whether the invariants are checked after each step.
    pub checked: bool,
}

/// A call's arguments; missing ones are 0.
pub fn args<const N: usize>(given: [u64; N]) -> [u64; 6] {
    let mut all = [0; 6];
    all[..N].copy_from_slice(&given);
    all
}

impl World {
    /// A machine with nothing but the first thread, which waits.
    pub fn new() -> Self {
        Self::of(1)
    }

    /// The same with several processors.
    pub fn of(processors: u8) -> Self {
        let mut k = Kernel::new(Fake::new(MEMORY as usize), 0);
        k.m.processors = processors;
        let others = (1..processors).map(|n| (n, Kernel::new(Fake::another(n, processors), n))).collect();
        let mut task = k.first_task(slot::COUNT as u32, slot::CAPS as u32).unwrap();
        let device = Cap::Region { device: true, base: 4 << 30, size: 1 << 30, used: 0, cleared: 0 };
        for (at, cap) in [
            (slot::DEVICE, device),
            (slot::SCHED, Cap::SchedControl),
            (slot::IRQ, Cap::IrqControl),
            (slot::PORTS, Cap::Ports { first: 0, count: 0x1_0000 }),
            (slot::TRACE, Cap::Trace),
        ] {
            task.give(at as u32, cap, right::ALL).unwrap();
        }
        for (kind, size, at) in [
            (Kind::AddressSpace, 8, slot::SPACE),
            (Kind::Thread, 0, slot::THREAD),
            (Kind::SchedContext, 0, slot::CONTEXT),
            (Kind::Notification, 0, slot::NOTE),
        ] {
            task.create(kind, size, at as u32).unwrap();
        }
        let slots = [slot::THREAD, slot::CONTEXT, slot::SPACE].map(|s| s as u32);
        let start = Start { slots, priority: ROOT_PRIORITY, entry: 0x1000, stack: 0x2000, argument: 7 };
        let root = task.start(&start).unwrap();
        k.finish();
        let caps = root.caps(&k.m).unwrap();
        let mut w = World {
            k,
            others,
            caps,
            root,
            next: slot::FIRST,
            again: BTreeMap::new(),
            arrivals: Vec::new(),
            received: BTreeMap::new(),
            worst: BTreeMap::new(),
            fast: true,
            // Under Miri, what counts is who accesses what; the checks would take it hours.
            checked: !cfg!(miri),
        };
        w.check();
        w.root_waits();
        w
    }

    /// Interrupts calls at every n-th preemption point from now on.
    pub fn interrupted_every(mut self, n: u32) -> Self {
        self.k.m.interrupt_every = n;
        self
    }

    /// Looks at a processor from now on.
    pub fn on(&mut self, processor: u8) {
        let before = self.k.cpu.number;
        if processor != before {
            let next = self.others.get_mut(&processor).expect("no such processor");
            self.k.m.hand_over(&mut next.m);
            std::mem::swap(&mut self.k, next);
            let left = self.others.remove(&processor).unwrap();
            self.others.insert(before, left);
        }
    }

    /// The number of processors.
    pub fn processors(&self) -> u8 {
        self.k.m.processors
    }

    /// Checks the invariants, on each processor.
    pub fn check(&mut self) {
        if self.checked {
            check::shared(self);
            let here = self.k.cpu.number;
            for processor in 0..self.processors() {
                self.on(processor);
                check::own(self);
            }
            self.on(here);
        }
    }

    /// Leaves the kernel after an entry, `what` for the statistics.
    pub fn leave(&mut self, what: &str) {
        self.k.finish();
        self.k.m.end_entry();
        // Another thread may have the memory of one that ended.
        let live = &self.k.m.live;
        self.again.retain(|thread, _| live.contains_key(&(u64::from(*thread) * 64)));
        for thread in std::mem::take(&mut self.k.m.repeated) {
            let call = self.k.m.peek(thread.visit()).call;
            self.again.insert(thread.number(), call);
        }
        let worst = self.worst.entry(what.into()).or_default();
        *worst = (*worst).max(self.k.m.worst);
        self.k.m.worst = 0;
        self.note_arrivals();
        if self.processors() > 1 {
            translations::walk(self);
        }
        self.check();
    }

    /// Notes the messages that this entry brought. The next may take from a thread whom it serves.
    fn note_arrivals(&mut self) {
        let received = self.k.m.frames.iter().map(|(thread, frame)| (*thread, frame.received)).collect();
        let before = std::mem::replace(&mut self.received, received);
        let here = self.k.cpu.number;
        for to in self.k.m.everywhere::<Thread>() {
            let now = self.received[&to.number()];
            let before = before.get(&to.number()).copied().filter(|n| *n <= now).unwrap_or(0);
            if now != before {
                self.on(self.k.m.live[&to.physical()].home.unwrap());
                let frame = self.k.m.frames[&to.number()];
                let Thread { caller, visitor, .. } = *self.k.m.peek(to);
                let faulted = caller.is_some_and(|c| self.k.m.peek(c).faulted)
                    || visitor.is_some_and(|v| self.k.m.peek(v.visit()).faulted);
                self.arrivals.push(Arrival { to, frame, count: now - before, caller, visitor, faulted });
            }
        }
        self.on(here);
    }

    /// Makes a call once, as the current thread; returns the outcome.
    pub fn enter(&mut self, number: u64, a: [u64; 6]) -> Outcome {
        let me = self.current();
        let f = self.k.m.frame(me);
        (f.rax, f.rdi, f.rsi) = (number, a[0], a[1]);
        f.words[..4].copy_from_slice(&a[2..]);
        self.again.remove(&me.number());
        self.k.m.begin_entry();
        let fast = match Call::from_raw(number) {
            Some(Call::Call) if self.fast => self.k.call_fast(me, a[0]),
            Some(Call::ReplyReceive) if self.fast => self.k.reply_receive_fast(me),
            _ => None,
        };
        if number == Call::VcpuRun as u64 && self.fast && self.k.vcpu_run_fast(me, a[0]).is_some() {
            self.leave("VcpuRun");
            return Outcome::Guest;
        }
        let signals = number == Call::Signal as u64 && self.fast && self.processors() > 1;
        if signals && self.k.signal_fast(me, a[0]).is_some() {
            self.leave("Signal");
            return Outcome::Arranged;
        }
        if let Some(next) = fast {
            assert_eq!(self.k.cpu.current, Some(next));
            self.k.m.end_entry();
            self.note_arrivals();
            self.check();
            return Outcome::Arranged;
        }
        let outcome = self.k.syscall(number, &a);
        if self.k.m.interrupt_every != 0 && self.k.m.programmed <= self.k.m.clock {
            // The timer was the interrupt that a preemption point found.
            self.k.note_changes();
            self.take_timer();
        }
        let name = Call::from_raw(number).map_or("none", Call::name);
        if self.checked {
            println!("{me:?} {name} {a:x?}: {outcome:?} {:x}", self.k.m.frames[&me.number()].rax);
        }
        self.k.m.repeated.retain(|thread| *thread != me);
        if outcome == Outcome::Restart {
            self.again.insert(me.number(), (number, a));
        }
        self.leave(name);
        outcome
    }

    /// Makes a call as the current thread and repeats it as long as it is interrupted. Returns the
    /// thread's registers.
    pub fn call<const N: usize>(&mut self, call: Call, given: [u64; N]) -> Frame {
        let (me, here) = (self.current(), self.k.cpu.number);
        let mut times = 0;
        loop {
            let outcome = self.enter(call as u64, args(given));
            self.deliver();
            while let Some((_, at)) = self.first_timer().filter(|at| at.0 == 0) {
                // A visit whose turn has come.
                self.on(at);
                self.timer();
                self.deliver();
            }
            self.on(here);
            let is_live = self.k.m.is_live(me);
            let repeats = outcome == Outcome::Restart || is_live && self.again.contains_key(&me.number());
            if !repeats {
                break;
            }
            assert_eq!(self.k.cpu.current, Some(me), "an interrupted call was preempted");
            times += 1;
            assert!(times < 20_000, "the call does not end");
        }
        self.k.m.frames.get(&me.number()).copied().unwrap_or_default()
    }

    /// Makes a call that must succeed.
    pub fn ok<const N: usize>(&mut self, call: Call, given: [u64; N]) -> Frame {
        let f = self.call(call, given);
        assert_eq!(f.rax, 0, "{} {given:x?}: {:?}", call.name(), Error::from_raw(f.rax));
        f
    }

    /// Makes a call that must fail with this error.
    #[track_caller]
    pub fn fails<const N: usize>(&mut self, call: Call, given: [u64; N], error: Error) {
        let f = self.call(call, given);
        assert_eq!(Error::from_raw(f.rax), Some(error), "{} {given:x?}: {:x}", call.name(), f.rax);
    }

    /// Delivers a letter that is on its way.
    pub fn deliver_one(&mut self, index: usize) {
        let (to, letter) = self.k.m.letters.remove(index);
        self.on(to);
        self.k.m.begin_entry();
        let about = self.k.m.peek(letter).about;
        self.k.letter(about);
        self.leave("letter");
    }

    /// Delivers all letters.
    pub fn deliver(&mut self) {
        let mut times = 0;
        while !self.k.m.letters.is_empty() {
            self.deliver_one(0);
            times += 1;
            assert!(times < 10_000, "letters without end");
        }
    }

    pub fn current(&self) -> Id<Thread> {
        self.k.cpu.current.expect("the CPU is idle")
    }

    /// Has the first thread wait; the most urgent ready thread runs.
    pub fn root_waits(&mut self) {
        assert_eq!(self.current(), self.root);
        let f = self.call(Call::Wait, [slot::NOTE, NEVER]);
        assert_ne!(Some(self.root), self.k.cpu.current, "{f:?}");
    }

    /// Has the first thread run.
    pub fn root_runs(&mut self) {
        self.on(0);
        let Cap::Notification(note) = self.cap(slot::NOTE) else { panic!() };
        let note = note.id();
        self.k.m.begin_entry();
        self.k.signal(note, 1);
        self.leave("signal");
        assert_eq!(self.k.cpu.current, Some(self.root));
    }

    /// Makes a call as the first thread, which waits before and after; it must succeed.
    #[track_caller]
    pub fn root<const N: usize>(&mut self, call: Call, given: [u64; N]) -> Frame {
        self.root_runs();
        let f = self.ok(call, given);
        self.root_waits();
        f
    }

    /// As [`World::root`], but the call must fail.
    #[track_caller]
    pub fn root_fails<const N: usize>(&mut self, call: Call, given: [u64; N], error: Error) {
        self.root_runs();
        self.fails(call, given, error);
        self.root_waits();
    }

    pub fn free_slot(&mut self) -> u64 {
        self.next += 1;
        assert!(self.next < slot::COUNT);
        self.next - 1
    }

    /// Creates an object in the first region.
    pub fn make(&mut self, kind: Kind, size: u64) -> u64 {
        let at = self.free_slot();
        self.root(Call::RegionCreate, [slot::REGION, kind as u64, size, at]);
        at
    }

    /// Creates a thread that shares the first thread's spaces; it is not started and has no
    /// scheduling context.
    pub fn bare_thread(&mut self) -> (u64, Id<Thread>) {
        self.bare_thread_of(0)
    }

    fn bare_thread_of(&mut self, processor: u8) -> (u64, Id<Thread>) {
        let thread = self.make(Kind::Thread, processor.into());
        self.root(Call::ThreadConfigure, [thread, slot::SPACE, slot::CAPS, 0, 0]);
        let Cap::Thread(made) = self.cap(thread) else { panic!() };
        (thread, made.id())
    }

    pub fn context(&mut self, priority: u8, budget: u64, period: u64) -> u64 {
        self.context_of(0, priority, budget, period)
    }

    fn context_of(&mut self, processor: u8, priority: u8, budget: u64, period: u64) -> u64 {
        let context = self.make(Kind::SchedContext, processor.into());
        self.root(Call::ContextConfigure, [slot::SCHED, context, priority.into(), budget, period, 255]);
        context
    }

    /// Creates and starts a thread with this priority, budget and period.
    pub fn limited(&mut self, priority: u8, budget: u64, period: u64) -> Worker {
        self.limited_of(0, priority, budget, period)
    }

    /// The same with another processor as home.
    pub fn limited_of(&mut self, processor: u8, priority: u8, budget: u64, period: u64) -> Worker {
        let (thread, id) = self.bare_thread_of(processor);
        let context = self.context_of(processor, priority, budget, period);
        self.root(Call::ThreadBindContext, [thread, context]);
        self.root(Call::ThreadSetRegisters, [thread, 0x1000, 0x2000, 0]);
        self.root(Call::ThreadResume, [thread]);
        Worker { thread, context, id }
    }

    pub fn worker(&mut self, priority: u8) -> Worker {
        self.limited(priority, NEVER, 0)
    }

    /// Creates a thread that receives at an endpoint; if a priority is given, it has a scheduling
    /// context of its own.
    pub fn server(&mut self, endpoint: u64, priority: Option<u8>) -> Worker {
        self.server_that_needs(endpoint, priority, 0)
    }

    /// As [`World::server`], but callers must have `need` ticks left.
    pub fn server_that_needs(&mut self, endpoint: u64, priority: Option<u8>, need: u64) -> Worker {
        self.server_on(endpoint, priority, need, 0)
    }

    /// As [`World::server_that_needs`], with a context for the callers of other processors.
    pub fn server_on(&mut self, endpoint: u64, priority: Option<u8>, need: u64, visitors: u64) -> Worker {
        const HIGH: u8 = 249;
        let w = self.worker(HIGH);
        self.root(Call::EndpointBind, [endpoint, w.thread, 0, need, visitors]);
        assert_eq!(self.current(), w.id);
        self.call(Call::Receive, [0, NEVER]);
        self.expect(w.id, State::Receiving);
        match priority {
            Some(p) => self.root(Call::ContextConfigure, [slot::SCHED, w.context, p.into(), NEVER, 0, 255]),
            None => self.root(Call::ThreadBindContext, [w.thread, 0]),
        };
        w
    }

    /// The capability in a slot of the first thread.
    pub fn cap(&mut self, index: u64) -> Cap {
        let slot = self.slot_of(index);
        self.k.m.peek(slot).cap()
    }

    pub fn slot_of(&self, index: u64) -> Id<Slot> {
        Id::at(self.caps.physical() + 64 + index * 64).unwrap()
    }

    pub fn state(&mut self, id: Id<Thread>) -> State {
        self.k.m.peek(id).state
    }

    #[track_caller]
    pub fn expect(&mut self, id: Id<Thread>, state: State) {
        assert_eq!(self.state(id), state);
    }

    pub fn priority(&mut self, id: Id<Thread>) -> u8 {
        self.k.m.peek(id).priority
    }

    pub fn frame(&mut self, id: Id<Thread>) -> Frame {
        *self.k.m.frame(id)
    }

    /// Lets time pass, with the interrupts of each processor's timer.
    pub fn pass(&mut self, ticks: u64) {
        let (here, end) = (self.k.cpu.number, self.k.m.clock + ticks);
        let mut times = 0;
        while let Some(at) = self.first_timer().filter(|at| at.0 <= end) {
            self.on(at.1);
            self.k.m.clock = self.k.m.clock.max(at.0);
            self.timer();
            times += 1;
            assert!(times < 10_000, "the timer fires without end");
        }
        self.on(here);
        self.k.m.clock = end;
    }

    /// When the first of the timers fires, and whose it is.
    fn first_timer(&self) -> Option<(u64, u8)> {
        [&self.k].into_iter().chain(self.others.values()).map(|k| (k.m.programmed, k.cpu.number)).min()
    }

    /// Raises a timer interrupt.
    pub fn timer(&mut self) {
        self.k.m.begin_entry();
        self.take_timer();
        self.leave("timer");
    }

    fn take_timer(&mut self) {
        self.k.m.programmed = NEVER;
        self.k.timer_interrupt();
    }

    /// Raises the timer interrupt that a call left pending because a deadline had passed: the call
    /// itself does not handle expired deadlines.
    #[track_caller]
    pub fn come_down(&mut self) {
        assert!(self.k.m.programmed <= self.k.m.clock, "nothing is due");
        self.timer();
    }

    pub fn rt_interrupt(&mut self, vector: u8) {
        self.k.m.begin_entry();
        self.k.rt_interrupt(vector);
        self.leave("interrupt");
    }

    pub fn fault(&mut self, words: [u64; 6]) {
        self.k.m.begin_entry();
        self.k.fault(words);
        self.leave("fault");
    }
}
