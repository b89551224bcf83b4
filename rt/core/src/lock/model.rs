//! Threads on processors of their own that take the lock at once.

use super::{Lock, Threads};
use loom::cell::UnsafeCell;
use loom::sync::atomic::{
    AtomicU8,
    Ordering::{AcqRel, Acquire, Relaxed},
};
use loom::sync::{Arc, Notify};
use loom::thread;

const CEILING: u8 = 9;

/// The threads, and what the kernel knows of them.
struct Task {
    lock: Lock,
    levels: Vec<AtomicU8>,
    /// The levels that they run at.
    contexts: Vec<AtomicU8>,
    signals: Vec<Notify>,
    /// What the lock protects.
    protected: UnsafeCell<()>,
}

/// The task, as one of its threads acts on it.
struct By<'a> {
    task: &'a Task,
    me: usize,
}

impl Threads for By<'_> {
    fn level(&self, thread: usize) -> u8 {
        self.task.levels[thread].load(Relaxed)
    }

    fn ceiling(&self) -> Option<u8> {
        Some(CEILING)
    }

    fn run_at(&self, thread: usize, level: u8) {
        // The kernel of the thread's processor carries out one such call after the other.
        self.task.contexts[thread].swap(level, AcqRel);
    }

    /// Whoever is below the ceiling may be kept from running by what has nothing to do with the
    /// lock: it gets to its signal only when it is raised, or when nobody waits for that.
    fn signal(&self, thread: usize) {
        while self.task.contexts[self.me].load(Acquire) != CEILING && self.task.lock.is_waiter(thread) {
            thread::yield_now();
        }
        self.task.signals[thread].notify();
    }

    fn wait(&self, me: usize) {
        self.task.signals[me].wait();
    }

    fn yield_now(&self) {}
}

impl Task {
    fn new(levels: &[u8]) -> Task {
        let words = || levels.iter().map(|level| AtomicU8::new(*level)).collect();
        Task {
            lock: Lock::default(),
            levels: words(),
            contexts: words(),
            signals: levels.iter().map(|_| Notify::new()).collect(),
            protected: UnsafeCell::new(()),
        }
    }

    /// Has the lock once, and does something meanwhile.
    fn turn(&self, me: usize, inside: fn(&Task, usize)) {
        let by = By { task: self, me };
        if !self.lock.try_take(me) {
            self.lock.contend(me, &by);
        }
        // The model reports two accesses that nothing orders.
        self.protected.with_mut(|_| ());
        inside(self, me);
        if !self.lock.try_leave(me) {
            self.lock.hand_over(me, &by);
        }
    }
}

/// Goes on only when the thread runs at the ceiling, if another one waits: so it ends only if that
/// one raises it.
fn until_raised(task: &Task, me: usize) {
    while task.lock.is_contended() && task.contexts[me].load(Acquire) != CEILING {
        thread::yield_now();
    }
}

/// Changes the level of the first thread.
fn promote(task: &Task, _: usize) {
    task.levels[0].store(6, Relaxed);
    task.lock.settle(0, CEILING, &By { task, me: 1 });
}

fn story(levels: &'static [u8], bound: usize, inside: &'static [fn(&Task, usize)]) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(bound);
    model.check(move || {
        let task = Arc::new(Task::new(levels));
        let others: Vec<_> = (1..levels.len())
            .map(|me| {
                let task = task.clone();
                thread::spawn(move || task.turn(me, inside[me]))
            })
            .collect();
        task.turn(0, inside[0]);
        for other in others {
            other.join().unwrap();
        }
        assert!(task.lock.try_take(0), "left at last");
        for (level, context) in task.levels.iter().zip(&task.contexts) {
            assert_eq!(level.load(Relaxed), context.load(Relaxed), "lowered at last");
        }
    });
}

#[test]
fn two_are_raised_while_the_other_waits() {
    story(&[3, 5], 4, &[until_raised, until_raised]);
}

#[test]
fn three_are_raised_while_others_wait() {
    story(&[3, 5, 4], 2, &[until_raised, until_raised, until_raised]);
}

#[test]
fn a_level_that_changes_meanwhile() {
    story(&[3, 5], 4, &[until_raised, promote]);
    story(&[3, 5, 4], 2, &[until_raised, promote, until_raised]);
}
