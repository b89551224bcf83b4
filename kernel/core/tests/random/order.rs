//! Which thread runs next, checked against a model made of lists.

use crate::machine::world::{Worker, World, slot};
use pillion_abi::{NEVER, call::Call, object::Kind};
use proptest::prelude::*;
use std::collections::{BTreeMap, VecDeque};

const THREADS: usize = 6;
const NOTES: usize = 2;

#[derive(Clone, Debug)]
enum Op {
    Yield,
    Sleep(u64),
    Wait(usize, u64),
    Signal(usize),
    SignalYield(usize),
    Pass(u64),
    Suspend(usize),
    Resume(usize),
    Priority(usize, u8),
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        2 => Just(Op::Yield),
        2 => (1u64..50).prop_map(Op::Sleep),
        2 => (0..NOTES, 0u64..80).prop_map(|(n, d)| Op::Wait(n, d)),
        2 => (0..NOTES).prop_map(Op::Signal),
        2 => (0..NOTES).prop_map(Op::SignalYield),
        3 => (0u64..40).prop_map(Op::Pass),
        1 => (0..THREADS).prop_map(Op::Suspend),
        1 => (0..THREADS).prop_map(Op::Resume),
        1 => (0..THREADS, 1u8..4).prop_map(|(t, p)| Op::Priority(t, p)),
    ]
}

/// The model: the first thread of the highest priority runs.
#[derive(Default)]
struct Model {
    ready: BTreeMap<u8, VecDeque<usize>>,
    priority: [u8; THREADS],
    /// Deadlines, all different.
    due: BTreeMap<u64, usize>,
    waiter: [Option<usize>; NOTES],
    bits: [bool; NOTES],
    stopped: [bool; THREADS],
}

impl Model {
    fn current(&self) -> Option<usize> {
        self.ready.values().rev().find_map(|q| q.front().copied())
    }
    fn wake(&mut self, t: usize) {
        self.due.retain(|_, d| *d != t);
        self.ready.entry(self.priority[t]).or_default().push_back(t);
    }
    fn leave(&mut self, t: usize) {
        self.ready.values_mut().for_each(|q| q.retain(|x| *x != t));
        self.due.retain(|_, d| *d != t);
        self.waiter.iter_mut().filter(|w| **w == Some(t)).for_each(|w| *w = None);
    }
    fn signal(&mut self, note: usize) {
        match self.waiter[note].take() {
            Some(t) => {
                self.leave(t);
                self.wake(t);
            }
            None => self.bits[note] = true,
        }
    }
    fn is_ready(&self, t: usize) -> bool {
        self.ready.values().any(|q| q.contains(&t))
    }
    /// Wakes threads of the running priority or above whose deadlines have passed, the most urgent
    /// first; less urgent ones stay asleep.
    fn settle(&mut self, now: u64) {
        loop {
            let level = self.current().map_or(0, |t| self.priority[t]);
            let due = self.due.iter().filter(|(at, t)| **at <= now && self.priority[**t] >= level);
            let Some((_, &t)) = due.max_by_key(|(at, t)| (self.priority[**t], std::cmp::Reverse(**at))) else { return };
            self.leave(t);
            self.wake(t);
        }
    }
    /// Lets time pass, from one deadline to the next.
    fn pass(&mut self, from: u64, to: u64) {
        let points: Vec<u64> = self.due.range(from..=to).map(|(at, _)| *at).collect();
        points.into_iter().for_each(|at| self.settle(at));
    }
    fn set_priority(&mut self, t: usize, p: u8) {
        if self.priority[t] == p {
            return;
        }
        let (ready, running) = (self.is_ready(t), self.current() == Some(t));
        self.priority[t] = p;
        if ready {
            self.ready.values_mut().for_each(|q| q.retain(|x| *x != t));
            let queue = self.ready.entry(p).or_default();
            if running { queue.push_front(t) } else { queue.push_back(t) }
        }
    }
}

fn story(ops: &[Op]) {
    let mut w = World::new();
    w.checked = false;
    let notes: Vec<u64> = (0..NOTES)
        .map(|_| {
            let (plain, badged) = (w.make(Kind::Notification, 0), w.free_slot());
            w.root(Call::CapDerive, [0, badged, plain, 15, 1]);
            badged
        })
        .collect();
    let threads: Vec<Worker> = (0..THREADS).map(|i| w.worker(1 + i as u8 % 3)).collect();
    w.checked = true;
    let mut m = Model { priority: std::array::from_fn(|i| 1 + i as u8 % 3), ..Model::default() };
    (0..THREADS).for_each(|t| m.wake(t));
    for (n, op) in ops.iter().enumerate() {
        // Deadlines are distinct: the order of equal ones is unspecified.
        let deadline = |w: &World, d: u64| (w.k.m.clock + d) / 1000 * 1000 * 1000 + (w.k.m.clock + d) * 1000 + n as u64;
        let now = w.k.m.clock;
        match *op {
            Op::Pass(d) => {
                w.pass(d * 1000);
                m.pass(now, now + d * 1000);
            }
            Op::Suspend(t) => {
                w.root(Call::ThreadSuspend, [threads[t].thread]);
                m.leave(t);
                m.stopped[t] = true;
            }
            Op::Resume(t) if m.stopped[t] => {
                w.root(Call::ThreadResume, [threads[t].thread]);
                m.stopped[t] = false;
                m.wake(t);
            }
            Op::Resume(_) => {}
            Op::Priority(t, p) => {
                // The first thread preempts the running one, which is now the first in its queue
                // and moves like the others.
                if p % 2 == 0 {
                    w.root(Call::ContextConfigure, [slot::SCHED, threads[t].context, p.into(), NEVER, 0, 255]);
                } else {
                    w.root(Call::ContextSetPriority, [threads[t].context, p.into()]);
                }
                if m.priority[t] != p && m.is_ready(t) {
                    m.ready.values_mut().for_each(|q| q.retain(|x| *x != t));
                    m.ready.entry(p).or_default().push_back(t);
                }
                m.set_priority(t, p);
            }
            _ => {
                let Some(me) = m.current() else { continue };
                match *op {
                    Op::Yield => {
                        w.call(Call::Yield, []);
                        m.leave(me);
                        m.wake(me);
                    }
                    Op::Sleep(d) => {
                        let at = deadline(&w, d);
                        w.call(Call::Sleep, [0, at]);
                        m.leave(me);
                        m.due.insert(at, me);
                    }
                    Op::Wait(i, d) => {
                        let at = deadline(&w, d);
                        w.call(Call::Wait, [notes[i], at]);
                        if !std::mem::take(&mut m.bits[i]) && m.waiter[i].is_none() {
                            m.leave(me);
                            m.waiter[i] = Some(me);
                            m.due.insert(at, me);
                        }
                    }
                    Op::Signal(i) => {
                        w.call(Call::Signal, [notes[i]]);
                        m.signal(i);
                    }
                    Op::SignalYield(i) => {
                        w.call(Call::SignalYield, [notes[i]]);
                        m.signal(i);
                        if m.current() == Some(me) {
                            m.leave(me);
                            m.wake(me);
                        }
                    }
                    _ => {}
                }
            }
        }
        // One expired deadline is handled on the way out, the others by immediate interrupts.
        w.pass(0);
        m.settle(w.k.m.clock);
        assert_eq!(w.k.cpu.current, m.current().map(|t| threads[t].id), "after {op:?}, number {n}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: super::cases(500), failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn the_right_thread_runs(ops in prop::collection::vec(op(), 1..60)) {
        story(&ops);
    }
}
