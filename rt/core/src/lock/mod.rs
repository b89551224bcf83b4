//! The words of a task's lock, and who runs at which level for its sake.
//!
//! A free lock is taken and left by a compare-and-swap. Who finds it taken notes that it waits,
//! raises the owner and waits; who leaves it then makes the most urgent waiter the owner.
//!
//! Where all threads run on one processor, the owner is raised to the level of the waiter, which
//! lowers it again once it has the lock. Where they run on several, the owner of a lock that others
//! wait for runs at the task's ceiling, on its own processor: so it waits for no other thread of
//! the task there, and a waiter waits for one stretch of each thread that has the lock before it.
//! Each thread that changes what follows for another one's level sets the level and looks again
//! ([`Lock::settle`]), so the last one who sets it saw the last change.
//!
//! The model checker runs this very source:
//! `RUSTFLAGS="--cfg loom" cargo test -p pillion-rt-core --release --lib`.

#[cfg(all(test, loom))]
mod model;

use crate::inherit::bits;
#[cfg(not(loom))]
use core::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed, Release, SeqCst},
};
#[cfg(loom)]
use loom::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed, Release, SeqCst},
};

/// In [`Lock::word`]: a thread waits.
const CONTENDED: u32 = 0x100;

/// In [`Lock::word`], for each thread that began to wait since the owner has the lock, modulo 2^23:
/// the owner, which looks who waits, sees that another has come since.
const ONE_MORE: u32 = 0x200;

/// The owner in [`Lock::word`].
const OWNER: u32 = CONTENDED - 1;

/// What the lock needs of the task's threads, which have numbers below 64.
pub trait Threads {
    /// The level of a thread that the lock does not concern. Only the lock's owner changes it, and
    /// has the kernel follow ([`Lock::settle`]).
    fn level(&self, thread: usize) -> u8;

    /// The level of an owner that others wait for, if the task has threads on several processors.
    fn ceiling(&self) -> Option<u8>;

    /// Runs a thread at a level.
    fn run_at(&self, thread: usize, level: u8);

    /// Ends a thread's [`Threads::wait`], the present or the next one.
    fn signal(&self, thread: usize);

    /// The caller waits for a signal; it may also go on without one.
    fn wait(&self, me: usize);

    /// Lets another thread of the caller's level and processor run.
    fn yield_now(&self);
}

/// A lock of threads that do not take it while they have it.
#[derive(Debug, Default)]
pub struct Lock {
    /// The owner's number plus one, or 0; [`CONTENDED`]; and how often [`ONE_MORE`].
    word: AtomicU32,
    /// Threads that wait.
    waiters: AtomicU64,
}

impl Lock {
    /// A free one.
    #[cfg(not(loom))]
    #[must_use]
    pub const fn new() -> Lock {
        Lock { word: AtomicU32::new(0), waiters: AtomicU64::new(0) }
    }

    /// Takes the lock if it is free.
    #[inline(always)]
    pub fn try_take(&self, me: usize) -> bool {
        self.word.compare_exchange(0, word_of(me), Acquire, Relaxed).is_ok()
    }

    /// Leaves the lock if no thread waits for it.
    #[inline(always)]
    pub fn try_leave(&self, me: usize) -> bool {
        self.word.compare_exchange(word_of(me), 0, Release, Relaxed).is_ok()
    }

    /// Returns whether a thread waits for the lock, or has got it and not gone on yet.
    pub fn is_waiter(&self, thread: usize) -> bool {
        self.waiters.load(SeqCst) >> thread & 1 != 0
    }

    /// Returns whether a thread waits for the lock, so that its owner may be raised.
    pub fn is_contended(&self) -> bool {
        self.word.load(Relaxed) & CONTENDED != 0
    }

    /// Takes a lock that was found taken.
    pub fn contend(&self, me: usize, threads: &impl Threads) {
        let bit = 1 << me;
        self.waiters.fetch_or(bit, SeqCst);
        let mut raised = None;
        loop {
            let word = self.word.load(Acquire);
            let Some(owner) = owner_of(word) else {
                if self.try_take(me) {
                    break;
                }
                continue;
            };
            if owner == me {
                break;
            }
            let after = word.wrapping_add(ONE_MORE) | CONTENDED;
            if self.word.compare_exchange(word, after, SeqCst, Relaxed).is_err() {
                continue;
            }
            let mut owner = owner;
            if let Some(ceiling) = threads.ceiling() {
                // At the ceiling itself, since what it asks of another processor is done there at
                // its own level.
                threads.run_at(me, ceiling);
                self.settle(owner, ceiling, threads);
                // Who was just settled may have left the lock meanwhile, and not be at the ceiling
                // when it is to signal the next owner: what it owes is done here.
                match owner_of(self.word.load(SeqCst)) {
                    Some(next) if next != me => owner = next,
                    _ => continue,
                }
            } else if threads.level(me) > threads.level(owner) {
                raised = Some(owner);
                threads.run_at(owner, threads.level(me));
            }
            // The owner may have been given the lock without having been signalled yet.
            if self.is_waiter(owner) {
                threads.signal(owner);
            }
            threads.wait(me);
        }
        self.waiters.fetch_and(!bit, SeqCst);
        // Only the lock's owner changes levels permanently, and the caller is the owner now.
        if let Some(ceiling) = threads.ceiling() {
            self.settle(me, ceiling, threads);
        } else if let Some(raised) = raised {
            threads.run_at(raised, threads.level(raised));
        }
    }

    /// Leaves the lock to the most urgent waiter. Begins again if a thread began to wait meanwhile:
    /// at most once for each.
    pub fn hand_over(&self, me: usize, threads: &impl Threads) {
        loop {
            // In this order: who began to wait before is among the waiters, and who does so later
            // changes the word.
            let word = self.word.load(SeqCst);
            let others = self.waiters.load(SeqCst) & !(1 << me);
            let next = most_urgent(others, threads);
            let more = if others & others.wrapping_sub(1) == 0 { 0 } else { CONTENDED };
            let after = next.map_or(0, |next| word_of(next) | more);
            if self.word.compare_exchange(word, after, Release, Relaxed).is_err() {
                continue;
            }
            let Some(ceiling) = threads.ceiling() else {
                if let Some(next) = next {
                    threads.signal(next);
                    // The caller may run at `next`'s level; `next` is then queued behind it.
                    threads.yield_now();
                }
                return;
            };
            if let Some(next) = next {
                // The others wait for it, wherever they are.
                if more != 0 {
                    self.settle(next, ceiling, threads);
                }
                threads.signal(next);
            }
            return self.settle(me, ceiling, threads);
        }
    }

    /// Runs a thread at the level that it ought to have, in a task with threads on several
    /// processors: for whoever has changed the word, or the thread's own level. Repeats its step at
    /// most once for each such change by others.
    pub fn settle(&self, thread: usize, ceiling: u8, threads: &impl Threads) {
        let wanted = || {
            let word = self.word.load(SeqCst);
            let is_raised = word & CONTENDED != 0 && owner_of(word) == Some(thread);
            if is_raised { ceiling } else { threads.level(thread) }
        };
        let mut level = wanted();
        loop {
            threads.run_at(thread, level);
            // Who sets the level later sees what has changed before; see the module.
            let now = wanted();
            if now == level {
                return;
            }
            level = now;
        }
    }
}

/// The most urgent thread of a set, by level.
pub fn most_urgent(set: u64, threads: &impl Threads) -> Option<usize> {
    bits(set).reduce(|a, b| if threads.level(b) > threads.level(a) { b } else { a })
}

#[inline(always)]
fn word_of(thread: usize) -> u32 {
    thread as u32 + 1
}

fn owner_of(word: u32) -> Option<usize> {
    (word & OWNER).checked_sub(1).map(|number| number as usize)
}
