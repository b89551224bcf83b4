//! Signals among three processors: no bit is lost or comes twice, and nobody is interrupted for
//! bits that could wait.

use crate::machine::world::{World, args, slot};
use pillion_abi::{
    NEVER,
    call::Call,
    object::{Kind, right},
};
use pillion_core::{
    Id,
    away::About,
    notification::Notification,
    thread::{State, Thread},
};
use proptest::prelude::*;
use std::collections::BTreeMap;

const PROCESSORS: u8 = 3;
/// Notifications of each processor, and bits of each.
const NOTES: usize = 2;
const BITS: usize = 3;

#[derive(Clone, Debug)]
enum Op {
    /// The current thread of a processor sets a bit of a notification of a processor.
    Signal(u8, u8, usize, usize),
    /// The current thread waits for one of its processor's.
    Wait(u8, usize),
    Yield(u8),
    /// A letter arrives.
    Letter(prop::sample::Index),
    /// A notification ends, and another takes its place.
    Renew(u8, usize),
}

fn op() -> impl Strategy<Value = Op> {
    let on = || 0..PROCESSORS;
    prop_oneof![
        8 => (on(), on(), 0..NOTES, 0..BITS).prop_map(|(from, to, n, bit)| Op::Signal(from, to, n, bit)),
        6 => (on(), 0..NOTES).prop_map(|(at, n)| Op::Wait(at, n)),
        2 => on().prop_map(Op::Yield),
        6 => any::<prop::sample::Index>().prop_map(Op::Letter),
        1 => (on(), 0..NOTES).prop_map(|(at, n)| Op::Renew(at, n)),
    ]
}

/// A notification, and what it owes its receivers.
struct Note {
    slot: u64,
    home: u8,
    id: Id<Notification>,
    /// How often each bit was set and taken.
    set: [u32; BITS],
    taken: [u32; BITS],
    /// Bits set since they were last taken.
    owed: u64,
    /// A letter has come since bits were last taken.
    told: bool,
}

impl Note {
    fn gives(&mut self, bits: u64) {
        self.told = false;
        self.owed &= !bits;
        for bit in (0..BITS).filter(|bit| bits >> bit & 1 == 1) {
            self.taken[bit] += 1;
            assert!(self.taken[bit] <= self.set[bit], "a bit came twice");
        }
    }
}

struct Story {
    w: World,
    notes: Vec<Note>,
    /// Who waits for which.
    waiting: BTreeMap<u32, (Id<Thread>, usize)>,
}

impl Story {
    fn new() -> Self {
        let mut w = World::of(PROCESSORS);
        let mut notes = Vec::new();
        for home in 0..PROCESSORS {
            for _ in 0..NOTES {
                let slots: Vec<u64> = (0..=BITS).map(|_| w.free_slot()).collect();
                notes.push(make(&mut w, slots[0], home));
            }
            // The last never waits.
            for priority in [30, 20, 20, 5] {
                w.limited_of(home, priority, NEVER, 0);
            }
        }
        Story { w, notes, waiting: BTreeMap::new() }
    }

    fn step(&mut self, op: &Op) {
        match op {
            Op::Signal(from, to, n, bit) => {
                let note = &mut self.notes[usize::from(*to) * NOTES + n];
                note.set[*bit] += 1;
                note.owed |= 1 << bit;
                self.w.on(*from);
                self.w.enter(Call::Signal as u64, args([note.slot + 1 + *bit as u64]));
            }
            Op::Wait(at, n) => {
                self.w.on(*at);
                let (me, n) = (self.w.current(), usize::from(*at) * NOTES + n);
                if self.w.priority(me) > 5 {
                    self.wait(me, n);
                }
            }
            Op::Yield(at) => {
                self.w.on(*at);
                self.w.enter(Call::Yield as u64, args([]));
            }
            Op::Letter(index) if !self.w.k.m.letters.is_empty() => {
                let index = index.index(self.w.k.m.letters.len());
                let (_, letter) = self.w.k.m.letters[index];
                let about = self.w.k.m.peek(letter).about;
                self.w.deliver_one(index);
                let note = self.notes.iter_mut().find(|note| about == About::Signal(note.id)).unwrap();
                assert!(!note.told, "a second letter although nobody took the bits of the first");
                note.told = true;
            }
            Op::Letter(_) => {}
            Op::Renew(at, n) => {
                let n = usize::from(*at) * NOTES + n;
                let (slot, home) = (self.notes[n].slot, self.notes[n].home);
                self.w.root(Call::CapDelete, [0, slot]);
                self.waiting.retain(|_, (_, other)| *other != n);
                // All letters came meanwhile.
                self.look();
                self.notes.iter_mut().for_each(|note| note.told = false);
                self.notes[n] = make(&mut self.w, slot, home);
            }
        }
        self.look();
    }

    fn wait(&mut self, me: Id<Thread>, n: usize) {
        self.w.enter(Call::Wait as u64, args([self.notes[n].slot, NEVER]));
        if self.w.state(me) == State::Waiting {
            self.waiting.insert(me.number(), (me, n));
        } else {
            self.took(me, n);
        }
    }

    /// What a thread's `Wait` gave it, unless it failed.
    fn took(&mut self, thread: Id<Thread>, n: usize) {
        let f = self.w.frame(thread);
        if f.rax == 0 {
            self.notes[n].gives(f.words[0]);
        }
    }

    /// Looks who was woken.
    fn look(&mut self) {
        for (thread, n) in self.waiting.clone().into_values() {
            self.w.on(self.notes[n].home);
            if self.w.state(thread) != State::Waiting {
                self.waiting.remove(&thread.number());
                self.took(thread, n);
            }
        }
    }

    /// All letters come, and all bits are taken.
    fn end(&mut self) {
        self.w.deliver();
        self.look();
        for n in 0..self.notes.len() {
            self.w.on(self.notes[n].home);
            // Once what came, once what gathered meanwhile.
            for _ in 0..2 {
                if !self.waiting.values().any(|(_, other)| *other == n) {
                    let me = self.w.current();
                    self.wait(me, n);
                }
            }
            assert_eq!(self.notes[n].owed, 0, "bits were lost");
        }
    }
}

fn make(w: &mut World, at: u64, home: u8) -> Note {
    w.root(Call::RegionCreate, [slot::REGION, Kind::Notification as u64, home.into(), at]);
    for bit in 0..BITS as u64 {
        w.root(Call::CapDerive, [0, at + 1 + bit, at, right::ALL.into(), 1 << bit]);
    }
    let pillion_core::Cap::Notification(made) = w.cap(at) else { panic!() };
    Note { slot: at, home, id: made.id(), set: [0; BITS], taken: [0; BITS], owed: 0, told: false }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: super::cases(60), failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn no_signal_is_lost(ops in prop::collection::vec(op(), 1..100)) {
        let mut story = Story::new();
        for op in &ops {
            story.step(op);
        }
        story.end();
    }
}
