//! Priority inheritance: how urgently a thread runs while others wait for it.
//!
//! A thread that waits for a mutex lends its urgency to the owner. If the owner itself waits, the
//! urgency is passed on to the thread that it waits for. An owner of several mutexes has the
//! highest urgency lent through any of them; after releasing one, it keeps the highest that is lent
//! through the rest. Only which thread waits for which is recorded: a thread's urgency follows from
//! that at any time, so no sequence of operations can leave a wrong one behind.

/// Maximum number of threads.
pub const THREADS: usize = 64;

/// A thread's index.
pub type Thread = usize;

/// Which thread waits for which, and the urgency of each thread.
#[derive(Clone, Debug)]
pub struct Inheritance<Urgency> {
    own: [Urgency; THREADS],
    effective: [Urgency; THREADS],
    waits_for: [Option<Thread>; THREADS],
    /// Threads that wait for each thread and lend it their urgency, as bits.
    lenders: [u64; THREADS],
    /// Threads whose wait closed a circle, as bits: they lend nothing until the circle is open.
    closers: u64,
}

impl<Urgency: Copy + Ord> Inheritance<Urgency> {
    /// No thread waits, and all have the least urgency.
    #[must_use]
    pub const fn new(least: Urgency) -> Inheritance<Urgency> {
        Inheritance {
            own: [least; THREADS],
            effective: [least; THREADS],
            waits_for: [None; THREADS],
            lenders: [0; THREADS],
            closers: 0,
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
    /// closes a circle lends nothing as long as the circle is closed: no thread in it can run, and
    /// it opens if one of them gives up.
    pub fn wait(&mut self, waiter: Thread, owner: Thread) -> u64 {
        let changed = self.end_wait(waiter);
        self.waits_for[waiter] = Some(owner);
        if self.closes_circle(waiter, owner) {
            self.closers |= 1 << waiter;
            return changed;
        }
        changed | self.lend(waiter, owner)
    }

    fn lend(&mut self, waiter: Thread, owner: Thread) -> u64 {
        self.lenders[owner] |= 1 << waiter;
        self.follow(owner)
    }

    /// Ends a thread's wait. Returns the threads whose urgency changed.
    pub fn end_wait(&mut self, waiter: Thread) -> u64 {
        let Some(owner) = self.waits_for[waiter].take() else { return 0 };
        self.lenders[owner] &= !(1 << waiter);
        self.closers &= !(1 << waiter);
        bits(self.closers).fold(self.follow(owner), |changed, closer| changed | self.try_lend(closer))
    }

    /// Has a thread lend its urgency if the circle that its wait closed has been opened.
    fn try_lend(&mut self, closer: Thread) -> u64 {
        let owner = self.waits_for[closer].filter(|owner| !self.closes_circle(closer, *owner));
        let Some(owner) = owner else { return 0 };
        self.closers &= !(1 << closer);
        self.lend(closer, owner)
    }

    /// Removes a thread that has ended: it waits for no thread, and none waits for it. Returns the
    /// threads whose urgency changed.
    pub fn remove(&mut self, thread: Thread) -> u64 {
        let closers = bits(self.closers).filter(|closer| self.waits_for[*closer] == Some(thread));
        let waiters = closers.fold(self.lenders[thread], |waiters, closer| waiters | 1 << closer);
        bits(waiters).fold(self.end_wait(thread), |changed, waiter| changed | self.end_wait(waiter))
    }

    /// Returns whether a wait of `waiter` for `owner` would close a circle, or does.
    #[must_use]
    pub fn closes_circle(&self, waiter: Thread, owner: Thread) -> bool {
        let next = |at: &Thread| self.waits_for[*at].filter(|_| self.closers >> *at & 1 == 0);
        core::iter::successors(Some(owner), next).any(|at| at == waiter)
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
