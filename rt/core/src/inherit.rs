//! Priority inheritance: how urgently a thread runs while others wait for it.
//!
//! A thread that waits for a mutex lends its urgency to the owner. If the owner itself waits, the
//! urgency is passed on to the thread that it waits for. An owner of several mutexes has the
//! highest urgency lent through any of them; after releasing one, it keeps the highest that is lent
//! through the rest. Only which thread waits for which is recorded: a thread's urgency follows from
//! that at any time, so no sequence of operations can leave a wrong one behind.

use crate::urgency::Urgency;

/// Maximum number of threads.
pub const THREADS: usize = 64;

/// A thread's index.
pub type Thread = usize;

/// Which thread waits for which, and the urgency of each thread.
#[derive(Clone, Debug)]
pub struct Inheritance {
    own: [Urgency; THREADS],
    effective: [Urgency; THREADS],
    waits_for: [Option<Thread>; THREADS],
    /// Threads that wait for each thread, as bits.
    lenders: [u64; THREADS],
}

impl Default for Inheritance {
    fn default() -> Self {
        Inheritance::new()
    }
}

impl Inheritance {
    /// No thread waits, and none is urgent.
    #[must_use]
    pub const fn new() -> Inheritance {
        Inheritance {
            own: [Urgency::MAIN; THREADS],
            effective: [Urgency::MAIN; THREADS],
            waits_for: [None; THREADS],
            lenders: [0; THREADS],
        }
    }

    /// A thread's urgency, including what it inherits.
    #[must_use]
    pub fn effective(&self, thread: Thread) -> Urgency {
        self.effective[thread]
    }

    /// Sets a thread's own urgency. Returns the threads whose urgency changed, as bits.
    pub fn set_own(&mut self, thread: Thread, urgency: Urgency) -> u64 {
        self.own[thread] = urgency;
        self.follow(thread)
    }

    /// Makes a thread wait for another. Returns the threads whose urgency changed. A wait that
    /// would close a circle lends nothing: no thread in the circle can run.
    pub fn wait(&mut self, waiter: Thread, owner: Thread) -> u64 {
        let changed = self.end_wait(waiter);
        if self.closes_circle(waiter, owner) {
            return changed;
        }
        self.waits_for[waiter] = Some(owner);
        self.lenders[owner] |= 1 << waiter;
        changed | self.follow(owner)
    }

    /// Ends a thread's wait. Returns the threads whose urgency changed.
    pub fn end_wait(&mut self, waiter: Thread) -> u64 {
        let Some(owner) = self.waits_for[waiter].take() else { return 0 };
        self.lenders[owner] &= !(1 << waiter);
        self.follow(owner)
    }

    /// Removes a thread that has ended: it waits for no thread, and none waits for it. Returns the
    /// threads whose urgency changed.
    pub fn remove(&mut self, thread: Thread) -> u64 {
        bits(self.lenders[thread]).fold(self.end_wait(thread), |changed, lender| changed | self.end_wait(lender))
    }

    /// Returns whether a wait of `waiter` for `owner` would close a circle.
    #[must_use]
    pub fn closes_circle(&self, waiter: Thread, owner: Thread) -> bool {
        core::iter::successors(Some(owner), |&at| self.waits_for[at]).any(|at| at == waiter)
    }

    /// Updates the urgency of a thread, and of those that it waits for in turn. There are no
    /// circles, so this ends.
    fn follow(&mut self, start: Thread) -> u64 {
        let (mut at, mut changed) = (start, 0);
        loop {
            let lent = bits(self.lenders[at]).map(|l| self.effective[l]).max();
            let new = lent.map_or(self.own[at], |lent| lent.max(self.own[at]));
            if new == self.effective[at] {
                return changed;
            }
            self.effective[at] = new;
            changed |= 1 << at;
            match self.waits_for[at] {
                Some(next) => at = next,
                None => return changed,
            }
        }
    }
}

/// The numbers of the bits set in `set`.
pub fn bits(mut set: u64) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        let first = (set != 0).then(|| set.trailing_zeros() as usize)?;
        set &= set - 1;
        Some(first)
    })
}
