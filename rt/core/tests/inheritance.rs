//! Checks priority inheritance against a model that follows from the definition, and in the
//! situations in which simpler protocols fail.
//!
//! The situations are those of R. Heursch's thesis "Linux for time-critical tasks" (2006), 4.6.5.

use pillion_rt_core::{
    inherit::{Inheritance, bits},
    urgency::Urgency,
};
use proptest::prelude::*;

const THREADS: usize = 6;
const MUTEXES: usize = 4;

/// Threads and mutexes in the simplest form.
#[derive(Clone, Default)]
struct Model {
    priority: [u32; THREADS],
    owner: [Option<usize>; MUTEXES],
    waits: [Option<usize>; THREADS],
}

impl Model {
    /// Threads that wait for a mutex.
    fn waiters(&self, mutex: usize) -> u64 {
        (0..THREADS).filter(|t| self.waits[*t] == Some(mutex)).fold(0, |set, t| set | 1 << t)
    }

    fn blocks(&self, owner: usize, waiter: usize) -> bool {
        self.waits[waiter].is_some_and(|mutex| self.owner[mutex] == Some(owner))
    }

    fn is_in_circle(&self, thread: usize) -> bool {
        let next = |at: &usize| self.waits[*at].and_then(|mutex| self.owner[mutex]);
        std::iter::successors(next(&thread), next).take(THREADS).any(|at| at == thread)
    }

    /// The highest priority of a thread and of all that wait for it, directly or not.
    fn effective(&self, thread: usize) -> u32 {
        let mut reached = [false; THREADS];
        let mut next = vec![thread];
        while let Some(at) = next.pop() {
            if !std::mem::replace(&mut reached[at], true) {
                next.extend((0..THREADS).filter(|t| self.blocks(at, *t)));
            }
        }
        (0..THREADS).filter(|t| reached[*t]).map(|t| self.priority[t]).max().unwrap()
    }
}

/// The model and the implementation, side by side.
struct Both {
    model: Model,
    real: Inheritance<Urgency>,
}

impl Both {
    fn new(priority: [u32; THREADS]) -> Both {
        let mut real = Inheritance::new(Urgency::MAIN);
        for (t, priority) in priority.into_iter().enumerate() {
            real.set_own(t, Urgency::of_priority(priority));
        }
        Both { model: Model { priority, ..Model::default() }, real }
    }

    fn set(&mut self, thread: usize, priority: u32) {
        self.step(|both| {
            both.model.priority[thread] = priority;
            both.real.set_own(thread, Urgency::of_priority(priority))
        });
    }

    fn lock(&mut self, thread: usize, mutex: usize) {
        if self.model.waits[thread].is_some() {
            return;
        }
        match self.model.owner[mutex] {
            None => self.model.owner[mutex] = Some(thread),
            Some(owner) => self.step(|both| {
                both.model.waits[thread] = Some(mutex);
                both.real.wait(thread, owner)
            }),
        }
    }

    fn give_up(&mut self, thread: usize) {
        self.step(|both| {
            both.model.waits[thread] = None;
            both.real.end_wait(thread)
        });
    }

    /// The mutex goes to the most urgent waiter.
    fn unlock(&mut self, mutex: usize) {
        let Some(owner) = self.model.owner[mutex] else { return };
        if self.model.waits[owner].is_some() {
            return;
        }
        let waiters = self.model.waiters(mutex);
        let next = bits(waiters).max_by_key(|t| self.real.effective(*t));
        self.step(|both| {
            both.model.owner[mutex] = next;
            let mut changed = bits(waiters).fold(0, |changed, w| changed | both.real.end_wait(w));
            if let Some(next) = next {
                both.model.waits[next] = None;
                for waiter in bits(waiters & !(1 << next)) {
                    changed |= both.real.wait(waiter, next);
                }
            }
            changed
        });
    }

    /// Makes a change, and checks all urgencies and the reported changes.
    fn step(&mut self, change: impl FnOnce(&mut Both) -> u64) {
        let before = self.urgencies();
        let said = change(self);
        for (t, old) in before.into_iter().enumerate() {
            let new = self.real.effective(t);
            let is_defined = (0..THREADS).all(|t| !self.model.is_in_circle(t));
            assert!(!is_defined || new == Urgency::of_priority(self.model.effective(t)), "thread {t}: {new:?}");
            assert!(new == old || said >> t & 1 == 1, "nobody said that thread {t} changed");
        }
    }

    fn urgencies(&self) -> [Urgency; THREADS] {
        std::array::from_fn(|t| self.real.effective(t))
    }

    fn priority(&self, thread: usize) -> u32 {
        let found = (0..=100).find(|p| Urgency::of_priority(*p) == self.real.effective(thread));
        found.unwrap()
    }
}

#[derive(Clone, Debug)]
enum Step {
    Lock(usize, usize),
    Unlock(usize),
    GiveUp(usize),
    Set(usize, u32),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..THREADS, 0..MUTEXES).prop_map(|(t, m)| Step::Lock(t, m)),
        2 => (0..MUTEXES).prop_map(Step::Unlock),
        1 => (0..THREADS).prop_map(Step::GiveUp),
        1 => (0..THREADS, 0..8u32).prop_map(|(t, p)| Step::Set(t, p)),
    ]
}

proptest! {
    #[test]
    fn urgencies_are_those_of_the_definition(
        priority in proptest::array::uniform6(0..8u32),
        steps in proptest::collection::vec(step(), 1..60),
    ) {
        let mut both = Both::new(priority);
        for step in steps {
            match step {
                Step::Lock(t, m) => both.lock(t, m),
                Step::Unlock(m) => both.unlock(m),
                Step::GiveUp(t) => both.give_up(t),
                Step::Set(t, p) => both.set(t, p),
            }
        }
    }
}

/// Threads 1 to 4 have these priorities; thread 0 is not used.
const RISING: [u32; THREADS] = [0, 10, 20, 30, 40, 50];

#[test]
fn a_released_mutex_takes_its_urgency_along() {
    let mut b = Both::new(RISING);
    b.lock(1, 0);
    b.lock(1, 1);
    b.lock(3, 1);
    assert_eq!(b.priority(1), 30);
    b.unlock(1);
    assert_eq!(b.priority(1), 10);
}

#[test]
fn chained_mutexes_pass_urgency_on() {
    let mut b = Both::new(RISING);
    b.lock(1, 0);
    b.lock(2, 1);
    b.lock(2, 0);
    assert_eq!(b.priority(1), 20);
    b.lock(4, 1);
    assert_eq!([b.priority(2), b.priority(1)], [40, 40]);
    b.give_up(4);
    assert_eq!([b.priority(2), b.priority(1)], [20, 20]);
}

#[test]
fn one_of_two_mutexes_leaves_the_higher_urgency() {
    let mut b = Both::new(RISING);
    b.lock(1, 0);
    b.lock(1, 1);
    b.lock(2, 1);
    b.lock(3, 0);
    assert_eq!(b.priority(1), 30);
    b.unlock(1);
    assert_eq!(b.priority(1), 30);
    b.unlock(0);
    assert_eq!(b.priority(1), 10);
}

#[test]
fn a_lesser_waiter_that_came_later_counts_afterwards() {
    let mut b = Both::new(RISING);
    b.lock(1, 0);
    b.lock(1, 1);
    b.lock(3, 0);
    b.lock(2, 1);
    assert_eq!(b.priority(1), 30);
    b.unlock(0);
    assert_eq!(b.priority(1), 20);
}

#[test]
fn a_waiter_whose_priority_rises_lends_more() {
    let mut b = Both::new(RISING);
    b.lock(1, 0);
    b.lock(2, 0);
    b.set(2, 60);
    assert_eq!(b.priority(1), 60);
    b.set(2, 5);
    assert_eq!(b.priority(1), 10);
}

#[test]
fn a_circle_that_is_opened_lends_again() {
    let mut b = Both::new(RISING);
    b.lock(1, 0);
    b.lock(4, 1);
    b.lock(1, 1);
    b.lock(4, 0);
    b.give_up(1);
    assert_eq!(b.priority(1), 40);
    b.unlock(0);
    assert_eq!([b.priority(1), b.priority(4)], [10, 40]);
}

#[test]
fn threads_that_end_lend_and_owe_nothing() {
    let mut real = Inheritance::new(Urgency::MAIN);
    real.set_own(2, Urgency::of_priority(20));
    real.set_own(3, Urgency::of_priority(30));
    real.wait(3, 2);
    real.wait(2, 1);
    assert_eq!(real.effective(1), Urgency::of_priority(30));
    real.remove(2);
    assert_eq!([real.effective(1), real.effective(2)], [Urgency::MAIN, Urgency::of_priority(20)]);
    assert_eq!(real.wait(2, 3) >> 3 & 1, 0);
}

#[test]
fn circles_are_seen_and_lend_nothing() {
    let mut real = Inheritance::new(Urgency::MAIN);
    real.set_own(1, Urgency::of_priority(10));
    real.wait(1, 2);
    real.wait(2, 3);
    assert!(real.closes_circle(3, 1) && real.closes_circle(1, 1) && !real.closes_circle(1, 3));
    assert_eq!(real.wait(3, 1), 0);
    assert_eq!(real.effective(3), Urgency::of_priority(10));
}
