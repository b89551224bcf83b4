//! A booted kernel with a first thread that creates the objects that a test needs.

use super::{Fake, Frame, check};
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

pub struct World {
    pub k: Kernel<Fake>,
    pub caps: Id<CapSpace>,
    pub root: Id<Thread>,
    pub next: u64,
    /// Interrupted calls that must be repeated, by thread.
    pub again: BTreeMap<u32, (u64, [u64; 6])>,
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
        let mut k = Kernel::new(Fake::new(MEMORY as usize));
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
        let caps = k.m.peek(root).caps().unwrap();
        let mut w = World {
            k,
            caps,
            root,
            next: slot::FIRST,
            again: BTreeMap::new(),
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

    pub fn check(&mut self) {
        if self.checked {
            check::check(self);
        }
    }

    /// Leaves the kernel after an entry, `what` for the statistics.
    pub fn leave(&mut self, what: &str) {
        self.k.finish();
        self.k.m.end_entry();
        let worst = self.worst.entry(what.into()).or_default();
        *worst = (*worst).max(self.k.m.worst);
        self.k.m.worst = 0;
        self.check();
    }

    /// Makes a call once, as the current thread; returns the outcome.
    pub fn enter(&mut self, number: u64, a: [u64; 6]) -> Outcome {
        let me = self.current();
        let f = self.k.m.frame(me);
        (f.rax, f.rdi, f.rsi) = (number, a[0], a[1]);
        f.words[..4].copy_from_slice(&a[2..]);
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
        if let Some(next) = fast {
            assert_eq!(self.k.cpu.current, Some(next));
            self.k.m.end_entry();
            self.check();
            return Outcome::Arranged;
        }
        let outcome = self.k.syscall(number, &a);
        let name = Call::from_raw(number).map_or("none", Call::name);
        if self.checked {
            println!("{me:?} {name} {a:x?}: {outcome:?} {:x}", self.k.m.frames[&me.number()].rax);
        }
        if outcome == Outcome::Restart {
            self.again.insert(me.number(), (number, a));
        } else {
            self.again.remove(&me.number());
        }
        self.leave(name);
        outcome
    }

    /// Makes a call as the current thread and repeats it as long as it is interrupted. Returns the
    /// thread's registers.
    pub fn call<const N: usize>(&mut self, call: Call, given: [u64; N]) -> Frame {
        let me = self.current();
        let mut times = 0;
        while self.enter(call as u64, args(given)) == Outcome::Restart {
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
        let Cap::Notification(note) = self.cap(slot::NOTE) else { panic!() };
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
        let thread = self.make(Kind::Thread, 0);
        self.root(Call::ThreadConfigure, [thread, slot::SPACE, slot::CAPS, 0, 0]);
        let Cap::Thread(id) = self.cap(thread) else { panic!() };
        (thread, id)
    }

    pub fn context(&mut self, priority: u8, budget: u64, period: u64) -> u64 {
        let context = self.make(Kind::SchedContext, 0);
        self.root(Call::ContextConfigure, [slot::SCHED, context, priority.into(), budget, period, 255]);
        context
    }

    /// Creates and starts a thread with this priority, budget and period.
    pub fn limited(&mut self, priority: u8, budget: u64, period: u64) -> Worker {
        let (thread, id) = self.bare_thread();
        let context = self.context(priority, budget, period);
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
        const HIGH: u8 = 249;
        let w = self.worker(HIGH);
        self.root(Call::EndpointBind, [endpoint, w.thread, 0, need]);
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
        self.k.m.peek(slot).cap
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

    /// Lets time pass, with the timer's interrupts.
    pub fn pass(&mut self, ticks: u64) {
        let end = self.k.m.clock + ticks;
        let mut times = 0;
        while self.k.m.programmed <= end {
            self.k.m.clock = self.k.m.clock.max(self.k.m.programmed);
            self.timer();
            times += 1;
            assert!(times < 10_000, "the timer fires without end");
        }
        self.k.m.clock = end;
    }

    /// Raises a timer interrupt.
    pub fn timer(&mut self) {
        self.k.m.begin_entry();
        self.k.m.programmed = NEVER;
        self.k.timer_interrupt();
        self.leave("timer");
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
