//! Nested calls while the objects involved are taken apart: contexts are bound and taken away;
//! threads, endpoints, notifications, vCPUs and whole regions are deleted and created again in the
//! same memory, whatever waits for them.

use crate::machine::world::{World, slot};
use pillion_abi::{
    NEVER, PAGE,
    call::{Call, endpoint},
    object::Kind,
    vcpu::configure,
};
use pillion_core::{
    Cap, Id, Opt,
    thread::{State, Thread},
    vcpu::Vcpu,
};
use proptest::prelude::*;

/// Number of threads, each of which has an endpoint and a context with its number.
const THREADS: usize = 8;
/// Number of contexts: a few more than threads.
const CONTEXTS: usize = THREADS + 3;
/// Threads that initially only call.
const CALLERS: usize = 3;
const NOTES: usize = 3;
const REGIONS: usize = 4;

#[derive(Clone, Debug)]
struct Step {
    what: u8,
    r: [u8; 4],
}

fn step() -> impl Strategy<Value = Step> {
    (any::<u8>(), any::<[u8; 4]>()).prop_map(|(what, r)| Step { what, r })
}

/// Slots of the first thread, each of which holds the object of that kind and number, or nothing.
struct Nest {
    w: World,
    regions: [u64; REGIONS],
    threads: [u64; THREADS],
    ends: [u64; THREADS],
    contexts: [u64; CONTEXTS],
    notes: [u64; NOTES],
    /// A timer, bound to a notification.
    timer: u64,
    /// An interrupt, bound to a notification.
    interrupt: u64,
    /// A derived capability for each endpoint.
    calls: [u64; THREADS],
    /// The passenger and a user vCPU; below, their guest space and state pages.
    vcpus: [u64; 2],
    guest: u64,
    states: [u64; 2],
}

/// One of the slots, chosen by a random number.
fn one<const N: usize>(slots: [u64; N], r: u8) -> u64 {
    slots[usize::from(r) % N]
}

/// The flags and need for `EndpointBind`: one endpoint in eight does not raise its receiver, one in
/// eight requires its callers to have time.
fn binding(r: u8) -> (u64, u64) {
    (if r & 7 == 3 { endpoint::OWN_PRIORITY } else { 0 }, if r & 7 == 6 { u64::from(r) } else { 0 })
}

impl Nest {
    fn new() -> Self {
        let mut w = World::new();
        w.checked = false;
        let regions = [(); REGIONS].map(|()| w.make(Kind::Region, 48 * PAGE));
        fn slots<const N: usize>(w: &mut World) -> [u64; N] {
            [(); N].map(|()| w.free_slot())
        }
        let (threads, ends, contexts, notes) = (slots(&mut w), slots(&mut w), slots(&mut w), slots(&mut w));
        let (calls, vcpus, states) = (slots(&mut w), slots(&mut w), slots(&mut w));
        let [timer, interrupt, guest] = slots(&mut w);
        let mut n = Nest { w, regions, threads, ends, contexts, notes, timer, interrupt, calls, vcpus, guest, states };
        for i in 0..THREADS as u8 {
            n.revive(i, i);
        }
        n.equip(0);
        n.w.checked = true;
        n
    }

    fn cap(&mut self, slot: u64) -> Cap {
        self.w.cap(slot)
    }

    fn thread(&mut self, slot: u64) -> Opt<Thread> {
        match self.cap(slot) {
            Cap::Thread(thread) => Some(thread.id()),
            _ => None,
        }
    }

    /// Makes a call as the first thread; it may fail.
    fn root<const N: usize>(&mut self, call: Call, given: [u64; N]) {
        self.w.root_runs();
        self.w.call(call, given);
        self.w.root_waits();
    }

    fn make(&mut self, region: u8, kind: Kind, size: u64, at: u64) {
        if self.cap(at) == Cap::None {
            self.root(Call::RegionCreate, [one(self.regions, region), kind as u64, size, at]);
        }
    }

    /// Creates the objects that a thread lacks. A server runs until it receives; three servers in
    /// four then lose their own context.
    fn revive(&mut self, i: u8, region: u8) {
        let n = usize::from(i) % THREADS;
        let (thread, end, context) = (self.threads[n], self.ends[n], self.contexts[n]);
        self.make(region, Kind::Endpoint, 0, end);
        self.make(region.wrapping_add(1), Kind::SchedContext, 0, context);
        let priority = 10 + 5 * n as u64;
        self.root(Call::ContextConfigure, [slot::SCHED, context, priority, NEVER, 0, 240]);
        if self.cap(thread) != Cap::None {
            self.root(Call::ThreadResume, [thread]);
            return;
        }
        self.make(region, Kind::Thread, 0, thread);
        let Some(id) = self.thread(thread) else { return };
        let handler = if i & 1 == 0 { 0 } else { self.ends[(n + 1) % THREADS] };
        let handler = if handler != 0 && self.cap(handler) == Cap::None { 0 } else { handler };
        self.root(Call::ThreadConfigure, [thread, slot::SPACE, slot::CAPS, handler, 0]);
        let (flags, need) = binding(region);
        self.root(Call::EndpointBind, [end, thread, flags, need]);
        self.root(Call::ThreadBindContext, [thread, context]);
        self.root(Call::ThreadResume, [thread]);
        // The server receives if it runs now; a more urgent thread may prevent that.
        if self.w.k.cpu.current == Some(id) && n >= CALLERS {
            self.w.call(Call::Receive, [0, NEVER]);
            if n % 4 != 3 {
                self.root(Call::ThreadBindContext, [thread, 0]);
            }
        }
    }

    /// Creates the objects that threads wait for, and the guests.
    fn equip(&mut self, region: u8) {
        for note in self.notes {
            self.make(region, Kind::Notification, 0, note);
        }
        self.make(region, Kind::Timer, 0, self.timer);
        self.root(Call::TimerBind, [self.timer, self.notes[0], 2]);
        if self.cap(self.interrupt) == Cap::None {
            let at = one(self.regions, region);
            self.root(Call::InterruptCreate, [slot::IRQ, 5, 1, self.interrupt, at]);
        }
        self.root(Call::InterruptBind, [self.interrupt, self.notes[1], 4]);
        for (end, call) in self.ends.into_iter().zip(self.calls) {
            if self.cap(call) == Cap::None {
                self.root(Call::CapDerive, [0, call, end, 15, call]);
            }
        }
        self.make(region.wrapping_add(1), Kind::GuestSpace, 2, self.guest);
        for (i, (vcpu, state)) in self.vcpus.into_iter().zip(self.states).enumerate() {
            self.make(region.wrapping_add(2), Kind::Vcpu, 0, vcpu);
            self.make(region.wrapping_add(3), Kind::Memory, PAGE, state);
            let flags = if i == 0 { 0 } else { configure::USER };
            self.root(Call::VcpuConfigure, [vcpu, self.guest, state, flags]);
            self.root(Call::VcpuBindSignals, [vcpu, slot::CAPS]);
        }
    }

    fn step(&mut self, s: &Step) {
        match s.what {
            0..=14 => self.w.pass(u64::from(s.r[0]) * 4),
            15..=20 => self.interrupt(s.r[0]),
            21..=24 => self.w.k.m.interrupt_every = u32::from(s.r[0] % 3),
            25..=28 => self.w.fast = s.r[0] & 1 == 0,
            29..=35 => self.fault(),
            36..=90 => self.interfere(s),
            _ => match self.w.k.cpu.current {
                Some(me) => self.act(me, s),
                None => self.interfere(s),
            },
        }
    }

    fn interrupt(&mut self, r: u8) {
        if r & 1 == 0 {
            return self.w.rt_interrupt(0xf0 + (r >> 1) % 12);
        }
        let vector = 0x20 + r % 0xd0;
        if self.w.k.cpu.passenger.is_some_and(|v| self.w.k.m.peek(v).apic.owes(vector)) {
            return;
        }
        self.w.k.m.begin_entry();
        self.w.k.passenger_interrupt(vector);
        self.w.leave("passenger");
    }

    fn fault(&mut self) {
        if self.w.k.cpu.current.is_some_and(|t| t != self.w.root && self.w.k.m.peek(t).guest.is_none()) {
            self.w.fault([14, 1, 2, 3, 4, 5]);
        }
    }

    /// Acts as the current thread: it serves, calls or waits.
    fn act(&mut self, me: Id<Thread>, s: &Step) {
        if let Some(v) = self.w.k.m.peek(me).guest {
            return self.guest(me, v, s.r[0]);
        }
        if let Some((number, a)) = self.w.again.get(&me.number()).copied() {
            self.w.enter(number, a);
            return;
        }
        let deadline = if s.r[1] < 100 { NEVER } else { self.w.k.m.clock + u64::from(s.r[1]) * 3 };
        let serves = self.w.k.m.peek(me).caller.is_some();
        let receives = self.w.k.m.peek(me).endpoint.is_some();
        let to = match s.r[0] {
            0..=109 => Some(self.open_end(s.r[2])),
            110..=129 => Some(one(self.calls, s.r[2])),
            130..=149 => Some(one(self.ends, s.r[2])),
            _ => None,
        };
        if let Some(end) = to {
            // A thread that lacks the time that the receiver needs repeats the call when it has it.
            self.w.enter(Call::Call as u64, [end, 1, 2, 0, 0, 0]);
            return;
        }
        _ = match s.r[0] {
            150..=179 if serves => self.w.call(Call::ReplyReceive, [0, 0]),
            150..=159 if receives => self.w.call(Call::Receive, [0, deadline]),
            180..=189 => self.w.call(Call::Reply, [0, 0]),
            190..=199 => self.w.call(Call::ReplyReceive, [0, 0]),
            200..=209 => self.w.call(Call::Wait, [one(self.notes, s.r[2]), deadline]),
            210..=219 => self.w.call(Call::Sleep, [0, deadline]),
            220..=226 => self.w.call(Call::Signal, [one(self.notes, s.r[2])]),
            227..=229 => self.w.call(Call::SignalYield, [one(self.notes, s.r[2])]),
            230..=239 => self.w.call(Call::VcpuRun, [one(self.vcpus, s.r[2])]),
            240..=244 => self.w.call(Call::TimerSet, [self.timer, deadline]),
            245..=247 => self.w.call(Call::Yield, []),
            _ => {
                // The thread may delete itself; only the invariants are checked.
                let slot = self.anything(s);
                self.w.enter(Call::CapDelete as u64, [0, slot, 0, 0, 0, 0]);
                return;
            }
        };
    }

    /// An endpoint with a receiving thread, if there is one; otherwise any.
    fn open_end(&mut self, r: u8) -> u64 {
        let mut open = Vec::new();
        for end in self.ends {
            if let Cap::Endpoint(e) = self.cap(end)
                && let Some(t) = e.id().receiver(&self.w.k.m)
                && self.w.k.m.peek(t).state == State::Receiving
            {
                open.push(end);
            }
        }
        if open.is_empty() { one(self.ends, r) } else { open[usize::from(r) % open.len()] }
    }

    fn guest(&mut self, me: Id<Thread>, v: Id<Vcpu>, r: u8) {
        let user = self.w.k.m.peek(v).user;
        let page = !self.w.k.m.peek(v.state()).is_empty();
        self.w.k.m.begin_entry();
        match r % 5 {
            0 if !user => self.w.k.guest_halt(v),
            2 if !user => _ = self.w.k.guest_urgency(v, u64::from(r / 4)),
            1 if !user && page => self.w.k.guest_deadline(v, self.w.k.m.clock + u64::from(r)),
            _ => self.w.k.leave_guest_with(me, 0, 0),
        }
        self.w.leave("guest");
    }

    fn anything(&mut self, s: &Step) -> u64 {
        match s.r[2] {
            0..=69 => one(self.threads, s.r[3]),
            70..=129 => one(self.contexts, s.r[3]),
            130..=169 => one(self.ends, s.r[3]),
            170..=189 => one(self.calls, s.r[3]),
            190..=214 => one(self.notes, s.r[3]),
            215..=229 => one(self.vcpus, s.r[3]),
            230..=239 => one(self.states, s.r[3]),
            240..=245 => self.guest,
            246..=250 => self.timer,
            _ => self.interrupt,
        }
    }

    /// Acts as the first thread, which interferes with the others.
    fn interfere(&mut self, s: &Step) {
        let [what, a, b, c] = s.r;
        let thread = one(self.threads, a);
        match what {
            0..=49 => self.root(Call::ThreadBindContext, [thread, one(self.contexts, b)]),
            50..=79 => self.root(Call::ThreadBindContext, [thread, 0]),
            80..=99 => self.root(Call::ThreadSuspend, [thread]),
            100..=124 => self.root(Call::ThreadResume, [thread]),
            125..=149 => self.revive(a, b),
            150..=159 => {
                let (flags, need) = binding(c);
                self.root(Call::EndpointBind, [one(self.ends, b), thread, flags, need]);
            }
            160..=169 => {
                let note = if b < 40 { 0 } else { one(self.notes, b) };
                self.root(Call::ThreadBindNotification, [thread, note]);
            }
            170..=189 => {
                self.root(Call::ContextSetPriority, [one(self.contexts, b), 1 + u64::from(c) % 60]);
            }
            190..=195 => {
                let boost = [slot::SCHED, one(self.contexts, b), u64::from(c), 1 + u64::from(a), 300];
                self.root(Call::ContextAllowBoost, boost);
            }
            196..=209 => {
                let context = one(self.contexts, b);
                self.make(c, Kind::SchedContext, 0, context);
                let (budget, period) = if c < 128 { (NEVER, 0) } else { (u64::from(c), 600) };
                self.root(Call::ContextConfigure, [slot::SCHED, context, 1 + u64::from(a) % 60, budget, period, 240]);
            }
            210..=219 => self.equip(b),
            220..=222 => self.root(Call::RegionReset, [one(self.regions, b)]),
            223..=226 => self.root(Call::CapRevoke, [0, self.threads[usize::from(b) % THREADS]]),
            _ => {
                let slot = self.anything(s);
                self.root(Call::CapDelete, [0, slot]);
            }
        }
    }
}

/// How deeply calls are nested now.
fn depth(w: &mut World) -> usize {
    let threads = w.k.m.all::<Thread>();
    let below = |w: &mut World, t: Id<Thread>| {
        let mut at = Some(t);
        std::iter::from_fn(|| {
            at = w.k.m.peek(at?).server;
            at
        })
        .count()
    };
    threads.into_iter().map(|t| below(w, t)).max().unwrap_or(0)
}

fn story(steps: &[Step]) -> usize {
    let mut n = Nest::new();
    let mut deepest = 0;
    for s in steps {
        n.step(s);
        deepest = deepest.max(depth(&mut n.w));
    }
    deepest
}

proptest! {
    #![proptest_config(ProptestConfig { cases: super::cases(600), max_shrink_iters: 400, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn calls_inside_calls(steps in prop::collection::vec(step(), 20..160)) {
        story(&steps);
    }
}

/// The random test is worthless unless its calls nest.
#[test]
fn calls_do_nest() {
    use proptest::{strategy::ValueTree, test_runner::TestRunner};
    let mut runner = TestRunner::deterministic();
    let stories = prop::collection::vec(step(), 150);
    let depths: Vec<usize> = (0..10).map(|_| story(&stories.new_tree(&mut runner).unwrap().current())).collect();
    assert!(depths.iter().filter(|d| **d >= 3).count() >= 4, "{depths:?}");
}
