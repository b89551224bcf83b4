//! Any calls by any threads, with events in between: the invariants hold, each message arrives once
//! and at the right thread, and no step exceeds its bound.

use crate::machine::world::{Arrival, ROOT_PRIORITY, Worker, World, slot};
use pillion_abi::{
    NEVER, PAGE,
    call::{Call, Class, LABEL_FAULT, LABEL_NOTIFIED, endpoint, irq},
    object::Kind,
    vcpu::configure,
};
use pillion_core::{Id, Outcome, cap::CapSpace, thread::State, thread::Thread, vcpu::Vcpu};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// The slots that calls use; those below belong to the first thread.
const FIRST: u64 = slot::FIRST;
const LAST: u64 = 90;

/// Bound on calls of `get` in one step.
const BOUND: u64 = 400;

#[derive(Clone, Debug)]
struct Step {
    what: u8,
    r: [u16; 6],
}

fn step() -> impl Strategy<Value = Step> {
    (any::<u8>(), any::<[u16; 6]>()).prop_map(|(what, r)| Step { what, r })
}

/// Calls that are made more often than others.
const OFTEN: [Call; 25] = [
    Call::Call,
    Call::Call,
    Call::Call,
    Call::Call,
    Call::ReplyReceive,
    Call::ReplyReceive,
    Call::ReplyReceive,
    Call::Receive,
    Call::Receive,
    Call::Reply,
    Call::Signal,
    Call::Signal,
    Call::SignalYield,
    Call::Wait,
    Call::Sleep,
    Call::Yield,
    Call::TimerSet,
    Call::VcpuRun,
    Call::VcpuBindSignals,
    Call::VcpuNotify,
    Call::ThreadResume,
    Call::ThreadBindContext,
    Call::ContextConfigure,
    Call::ContextSetPriority,
    Call::ContextAllowBoost,
];

struct Play {
    w: World,
    /// Calls in progress, by label: caller, badge and words.
    sent: BTreeMap<u64, (Id<Thread>, u64, [u64; 4])>,
    /// Replies, by label: the thread that is to get it.
    replies: BTreeMap<u64, Option<Id<Thread>>>,
    serial: u64,
    vcpu: Option<Id<Vcpu>>,
}

impl Play {
    fn new(processors: u8) -> Self {
        let mut w = World::of(processors);
        w.checked = false;
        let ends: Vec<u64> = (0..4).map(|_| w.make(Kind::Endpoint, 0)).collect();
        let notes: Vec<u64> = (0..3).map(|_| w.make(Kind::Notification, 0)).collect();
        for (i, source) in ends.iter().chain(&notes).enumerate() {
            let at = w.free_slot();
            w.root(Call::CapDerive, [0, at, *source, 15, 1 << i]);
        }
        let timer = w.make(Kind::Timer, 0);
        w.root(Call::TimerBind, [timer, notes[0], 64]);
        w.make(Kind::CapSpace, 20);
        let region = w.make(Kind::Region, 32 * PAGE);
        let memory = w.make(Kind::Memory, 40 * PAGE);
        let state = w.make(Kind::Memory, PAGE);
        let space = w.make(Kind::AddressSpace, 6);
        let guest = w.make(Kind::GuestSpace, 6);
        let vcpu = w.make(Kind::Vcpu, 0);
        w.root(Call::VcpuConfigure, [vcpu, guest, state]);
        let (user, state) = (w.make(Kind::Vcpu, 0), w.make(Kind::Memory, PAGE));
        w.root(Call::VcpuConfigure, [user, guest, state, configure::USER]);
        w.root(Call::MemoryMap, [memory, space, 0x1000_0000, 1]);
        let line = w.free_slot();
        w.root(Call::InterruptCreate, [slot::IRQ, 5, 1, line, region]);
        w.root(Call::InterruptBind, [line, notes[1], 128]);
        let visitors = w.context(5, 60, 300);
        w.server_on(ends[0], None, 20, visitors);
        w.server(ends[1], Some(12));
        let workers: Vec<Worker> = [(10, NEVER), (10, 500), (20, NEVER), (30, 300)]
            .map(|(p, b)| w.limited(p, b, if b == NEVER { 0 } else { 1000 }))
            .into();
        w.root(Call::ThreadBindNotification, [workers[0].thread, notes[2]]);
        w.root(Call::EndpointBind, [ends[2], workers[2].thread, endpoint::OWN_PRIORITY]);
        for processor in 1..processors {
            let (end, note) = (w.make(Kind::Endpoint, processor.into()), w.make(Kind::Notification, processor.into()));
            let timer = w.make(Kind::Timer, processor.into());
            w.root(Call::TimerBind, [timer, note, 64]);
            let [_, receiver, bound] =
                [(10, NEVER), (20, 500), (30, 300)].map(|(p, b)| w.limited_of(processor, p, b, 1000));
            w.root(Call::EndpointBind, [end, receiver.thread]);
            w.root(Call::ThreadBindNotification, [bound.thread, note]);
        }
        w.checked = true;
        w.worst.clear();
        let vcpu = match w.cap(vcpu) {
            pillion_core::Cap::Vcpu(vcpu) => Some(vcpu.id()),
            _ => None,
        };
        w.arrivals.clear();
        Play { w, sent: BTreeMap::new(), replies: BTreeMap::new(), serial: 1000, vcpu }
    }

    /// A slot, usually one that holds a capability of this kind.
    fn pick(&mut self, kind: Kind, r: u16) -> u64 {
        if r.is_multiple_of(61) {
            return [0, 255, 256, u64::MAX, 1 << 32, 4096][usize::from(r / 61) % 6];
        }
        let r = u64::from(r);
        if r.is_multiple_of(13) {
            return FIRST + r / 13 % (LAST - FIRST);
        }
        let fixed = match kind {
            Kind::SchedControl => Some(slot::SCHED),
            Kind::IrqControl => Some(slot::IRQ),
            Kind::Trace => Some(slot::TRACE),
            Kind::AddressSpace if r.is_multiple_of(3) => Some(slot::SPACE),
            Kind::CapSpace if !r.is_multiple_of(4) => Some(slot::CAPS),
            Kind::Region if r.is_multiple_of(3) => Some(slot::DEVICE),
            Kind::Ports if r.is_multiple_of(2) => Some(slot::PORTS),
            _ => None,
        };
        if let Some(slot) = fixed {
            return slot;
        }
        let have: Vec<u64> = (FIRST..LAST).filter(|s| self.w.cap(*s).kind() == kind).collect();
        if have.is_empty() { FIRST + r % (LAST - FIRST) } else { have[r as usize % have.len()] }
    }

    fn deadline(&self, r: u16) -> u64 {
        match r % 5 {
            0 => NEVER,
            1 => u64::from(r),
            _ => self.w.k.m.clock + u64::from(r % 2000),
        }
    }

    /// Arguments of the types that the table of calls names, valid ones for the most part.
    fn arguments(&mut self, call: Call, r: [u16; 6]) -> [u64; 6] {
        let mut a = [0; 6];
        for (i, argument) in call.arguments().iter().enumerate() {
            a[i] = match argument.class {
                Class::Cap { or: Some(Kind::None), .. } if r[i].is_multiple_of(5) => 0,
                Class::Cap { or: Some(other), .. } if other != Kind::None && r[i] & 2 != 0 => self.pick(other, r[i]),
                Class::Cap { kind, .. } => self.pick(kind, r[i]),
                Class::Value("Message") => {
                    a[i + 1..].copy_from_slice(&r[i + 1..].iter().map(|r| (*r).into()).collect::<Vec<_>>());
                    0
                }
                Class::Value(class) => self.value(argument.name, class, r[i]),
            };
        }
        match (call, Kind::from_raw(a[1])) {
            // Not the memory that the first thread itself lives in.
            (Call::RegionReset, _) if a[0] < FIRST || a[0] == slot::REGION => a[0] = 0,
            (Call::RegionCreate, Some(Kind::Region | Kind::Memory)) => {
                a[2] = a[2] % 6 * PAGE + u64::from(r[2].is_multiple_of(50));
            }
            (Call::RegionCreate, Some(Kind::CapSpace | Kind::AddressSpace | Kind::GuestSpace)) => a[2] %= 12,
            // Mostly a processor that runs.
            (Call::RegionCreate, _) if r[2].is_multiple_of(50) => {}
            (Call::RegionCreate, _) => a[2] = u64::from(r[2]) % u64::from(self.w.processors()),
            (Call::InterruptCreate, _) if !r[2].is_multiple_of(4) => {
                a[2] |= (u64::from(r[2]) % u64::from(self.w.processors())) << irq::HOME_SHIFT;
            }
            _ => {}
        }
        a
    }

    /// An argument of a type of [`pillion_abi::call::argument`], or of a plain one. Of those with a
    /// name here, few values are valid.
    fn value(&self, name: &str, class: &str, r: u16) -> u64 {
        let n = u64::from(r);
        match name {
            "width" => return n % 5,
            "pair" => return n % 10,
            "route" => return n,
            _ => {}
        }
        match class {
            "Unused" => 0,
            "Slot" if n.is_multiple_of(61) => n,
            "Slot" => FIRST + n % (LAST - FIRST),
            "Size" if n.is_multiple_of(8) => n / 8 % 12,
            "Size" => n % 8 * PAGE,
            "Kind" => n % 20,
            "Address" => n % 0x80 * 0x8000,
            "Deadline" => self.deadline(r),
            "Ticks" => [NEVER, n % 64, n % 300, n % 2000][usize::from(r) % 4],
            "Flags" => [0, 1, n % 9, n][usize::from(r) % 4],
            "Bits" if n.is_multiple_of(2) => 0,
            "Rights" | "Bits" | "u16" | "bool" => n,
            "u8" => [n % 5, n % 40, n % 50, n % 300][usize::from(r) % 4],
            "u32" => n % 5000,
            "u64" if n.is_multiple_of(3) => u64::MAX,
            "u64" => n % 26,
            _ => panic!("an argument of type {class}"),
        }
    }

    fn step(&mut self, s: &Step) {
        self.vcpu = self.vcpu.filter(|v| self.w.k.m.everywhere().contains(v));
        let letters = self.w.k.m.letters.len();
        if letters != 0 && !s.r[4].is_multiple_of(3) {
            self.w.deliver_one(usize::from(s.r[4]) % letters);
            return self.arrived();
        }
        self.w.on((s.r[1] % u16::from(self.w.processors())) as u8);
        match s.what {
            0..=24 => self.w.pass(u64::from(s.r[0] % 700)),
            25..=30 => self.w.rt_interrupt(0xf0 + (s.r[0] % 14) as u8),
            31..=40 => {
                let vector = 0x20 + (s.r[0] % 0xd0) as u8;
                let owed = self.w.k.cpu.passenger.is_some_and(|v| self.w.k.m.peek(v).apic.owes(vector));
                if !owed {
                    self.w.k.m.begin_entry();
                    self.w.k.passenger_interrupt(vector);
                    self.w.leave("passenger");
                }
            }
            41..=46 => {
                self.w.k.m.interrupt_every = u32::from(s.r[0] % 4);
                self.w.k.m.tree_every = u64::from(s.r[0] / 4 % 4) * 2;
                self.w.fast = !s.r[0].is_multiple_of(8);
            }
            47..=50 => {
                // A guest's faults are exits, and the first thread has no handler.
                if self.w.k.cpu.current.is_some_and(|t| t != self.w.root && self.w.k.m.peek(t).guest.is_none()) {
                    self.w.fault([u64::from(s.r[0]), 1, 2, 3, 4, 5]);
                }
            }
            51..=54 => self.w.timer(),
            _ => self.act(s),
        }
        self.arrived();
    }

    fn act(&mut self, s: &Step) {
        let Some(me) = self.w.k.cpu.current else {
            if self.w.k.m.programmed != NEVER && !s.r[0].is_multiple_of(4) {
                let left = self.w.k.m.programmed.saturating_sub(self.w.k.m.clock);
                if left < 1 << 40 {
                    self.w.pass(left);
                }
                return;
            }
            self.w.on(0);
            // There, something may run that is as urgent as the first thread.
            let waits = self.w.state(self.w.root) == State::Waiting;
            if waits && self.w.k.cpu.current.is_none_or(|t| self.w.priority(t) < ROOT_PRIORITY) {
                self.w.root_runs();
                self.call(self.w.root, s);
            }
            return self.back();
        };
        if let Some(v) = self.w.k.m.peek(me).guest {
            return self.guest(me, v, s);
        }
        if let Some((number, a)) = self.w.again.get(&me.number()).copied() {
            self.w.enter(number, a);
            return;
        }
        self.call(me, s);
        self.back();
    }

    /// Has the first thread wait again.
    fn back(&mut self) {
        while self.w.k.cpu.current == Some(self.w.root) {
            match self.w.again.get(&self.w.root.number()).copied() {
                Some((number, a)) => {
                    self.w.enter(number, a);
                    // It may wait for a thread that is on its way back.
                    self.w.deliver();
                    self.w.on(0);
                }
                None => return self.w.root_waits(),
            }
        }
    }

    fn guest(&mut self, me: Id<Thread>, v: Id<Vcpu>, s: &Step) {
        self.w.k.m.begin_entry();
        let choice = if self.w.k.m.peek(v).user { 2 } else { s.r[0] % 8 };
        match choice {
            0 => self.w.k.guest_halt(v),
            1 => self.w.k.guest_deadline(v, self.w.k.m.clock + u64::from(s.r[1])),
            2 => {
                let bits = self.w.k.take_bound_bits(me);
                self.w.k.leave_guest_with(me, 0, bits);
            }
            3 => {
                let apic = &mut self.w.k.m.peek(v).apic;
                if let Some(vector) = apic.deliverable() {
                    apic.accept(vector);
                }
            }
            4 => {
                let index = self.pick(Kind::Notification, s.r[1]);
                _ = self.w.k.guest_signal(v, index);
            }
            5 => _ = self.w.k.guest_wait(v),
            6 => _ = self.w.k.guest_urgency(v, u64::from(s.r[1])),
            _ => _ = self.w.k.m.peek(v).apic.end_of_interrupt(),
        }
        self.w.leave("guest");
    }

    fn call(&mut self, me: Id<Thread>, s: &Step) {
        let index = usize::from(s.what) * 251 + usize::from(s.r[5]);
        let mut call = if index.is_multiple_of(2) {
            OFTEN[index / 2 % OFTEN.len()]
        } else {
            Call::ALL[index / 2 % Call::ALL.len()]
        };
        let blocks = [
            Call::Call,
            Call::ReplyReceive,
            Call::Receive,
            Call::Wait,
            Call::Sleep,
            Call::VcpuRun,
            Call::VcpuNotify,
            Call::Reply,
            Call::Yield,
            Call::SignalYield,
        ];
        if me == self.w.root && blocks.contains(&call) {
            call = Call::ThreadResume;
        }
        let mut a = self.arguments(call, s.r);
        self.serial += 1;
        let Thread { caller, visitor, .. } = *self.w.k.m.peek(me);
        let server_of = caller.or(visitor);
        match call {
            Call::Call => {
                a[1] = self.serial;
                let badge = match self.slot_of(me, a[0]) {
                    Some(s) => self.w.k.m.peek(s).entry().badge,
                    None => 0,
                };
                self.sent.insert(self.serial, (me, badge, [a[2], a[3], a[4], a[5]]));
            }
            Call::Reply | Call::ReplyReceive => {
                let faulted = caller.is_some_and(|c| self.w.k.m.peek(c).faulted)
                    || visitor.is_some_and(|c| self.w.k.m.peek(c.visit()).faulted);
                a[1] = if faulted { u64::from(s.r[0] % 3) } else { self.serial };
                self.replies.insert(a[1], server_of);
            }
            _ => {}
        }
        let message = matches!(call, Call::Call | Call::Reply | Call::ReplyReceive);
        if s.r[5].is_multiple_of(97) && !message {
            a[usize::from(s.r[4]) % 6] = u64::from(s.r[3]).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        }
        let outcome = self.w.enter(call as u64, a);
        if outcome == Outcome::Done([0, 0]) {
            panic!("results must be in the registers");
        }
    }

    fn slot_of(&mut self, me: Id<Thread>, index: u64) -> Option<Id<pillion_core::Slot>> {
        let space: Id<CapSpace> = me.caps(&self.w.k.m)?;
        (index < u64::from(self.w.k.m.peek(space).count)).then(|| Id::at(space.physical() + 64 * (index + 1)))?
    }

    /// Checks the messages that the last step delivered.
    fn arrived(&mut self) {
        for arrival in std::mem::take(&mut self.w.arrivals) {
            if arrival.frame.rsi != LABEL_NOTIFIED {
                self.is_right(&arrival);
            }
        }
    }

    fn is_right(&mut self, arrival: &Arrival) {
        let Arrival { to, frame: f, count, caller, visitor, faulted } = *arrival;
        assert_eq!((count, f.rax), (1, 0), "{to:?} got two messages at once, or an error");
        if f.rsi == LABEL_FAULT {
            assert!(faulted, "a fault message without a faulting thread");
            return;
        }
        if let Some((from, badge, words)) = self.sent.get(&f.rsi).copied()
            && (caller.or(visitor) == Some(from))
        {
            // A visitor's badge is that of the capability which lies there when the letter arrives.
            assert!(visitor.is_some() || f.rdi == badge, "{badge:x} became {:x}", f.rdi);
            assert_eq!(&f.words[..4], &words[..]);
            self.sent.remove(&f.rsi);
            return;
        }
        assert_eq!(self.replies.remove(&f.rsi), Some(Some(to)), "a message for {to:?} that nobody sent: {f:x?}");
        assert_eq!(f.rdi, 0);
    }
}

fn story(steps: &[Step], processors: u8) -> BTreeMap<String, u64> {
    let mut p = Play::new(processors);
    for s in steps {
        p.step(s);
    }
    for (call, gets) in &p.w.worst {
        assert!(*gets < BOUND, "{call} accessed {gets} objects without a preemption point");
    }
    p.w.worst
}

proptest! {
    #![proptest_config(ProptestConfig { cases: super::cases(1500), max_shrink_iters: 400, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn whatever_happens(steps in prop::collection::vec(step(), 20..120)) {
        story(&steps, 1);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: super::cases(1000), max_shrink_iters: 400, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn whatever_happens_on_three_processors(steps in prop::collection::vec(step(), 20..120)) {
        story(&steps, 3);
    }
}
