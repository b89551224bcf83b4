//! Scheduling contexts: the right to a share of the CPU's time.
//!
//! A context has a priority, and a budget and a period in ticks. Its budget is replenished, and a
//! period begins, when its thread becomes ready and the period before is over. When the budget is
//! empty, the thread waits until the period is over.

use crate::{Opt, boost::Boost, endpoint::Endpoint, heap::Node, id::GRANULE, thread::Thread, timer::Due};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use pillion_abi::NEVER;

/// A scheduling context.
#[derive(Debug, Default)]
pub struct Context {
    /// Priority of threads that run on it; 0 until it is configured.
    pub priority: u8,
    /// Highest priority that its holder may give it.
    pub ceiling: u8,
    /// Ticks in each period; [`NEVER`] for no limit.
    pub budget: u64,
    /// Ticks between two replenishments.
    pub period: u64,
    /// Ticks of the budget that are left.
    pub left: u64,
    /// When it can be replenished next.
    pub refill_at: u64,
    /// What was left was forfeited for a call that needs more, which is made again with a whole
    /// budget.
    pub forfeited: bool,
    /// Thread that runs on it now.
    pub user: Opt<Thread>,
    /// Thread that it belongs to.
    pub owner: Opt<Thread>,
    /// Endpoint whose visitors it is for.
    pub endpoint: Opt<Endpoint>,
    /// Node on the agenda, while its thread, or a visitor, waits for the replenishment.
    pub refill: Node<Due>,
    /// What it may use above its own priority.
    pub boost: Boost,
}

/// What a context has been used for, which any processor may read. It lies behind the context, and
/// only the context's home writes it.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub struct Used {
    /// Ticks so far, up to the home's last look at its clock.
    ticks: AtomicU64,
    /// How often the budget ran out.
    exhausted: AtomicU64,
}

impl Used {
    /// Bytes from the start of a context to this.
    pub const AT: u64 = (size_of::<Context>() as u64).next_multiple_of(GRANULE);

    /// Counts, at home, what was charged.
    #[inline(always)]
    pub(crate) fn add(&self, ticks: u64) {
        self.ticks.store(self.ticks.load(Relaxed).wrapping_add(ticks), Relaxed);
    }

    /// Counts, at home, that the budget ran out.
    #[inline(always)]
    pub(crate) fn add_exhausted(&self) {
        self.exhausted.store(self.exhausted.load(Relaxed).wrapping_add(1), Relaxed);
    }

    /// Ticks, and how often the budget ran out.
    #[must_use]
    pub fn so_far(&self) -> [u64; 2] {
        [self.ticks.load(Relaxed), self.exhausted.load(Relaxed)]
    }
}

impl Context {
    /// Whether the budget is limited at all.
    #[inline]
    pub fn is_limited(&self) -> bool {
        self.budget != NEVER
    }

    /// Whether so many ticks are left, or the whole budget if that is less.
    #[inline]
    pub fn has(&self, need: u64) -> bool {
        !self.is_limited() || self.left >= need.clamp(1, self.budget)
    }

    /// Replenishes the budget if it is time to, for a thread that has been ready since `since`.
    /// Returns whether any budget is left.
    ///
    /// The new period begins when the last one was over and the thread was ready, however late the
    /// kernel notices, because more urgent threads ran: a period that began at the notice would
    /// begin later each time. A period that would be over by now is lost.
    #[inline]
    pub fn begin(&mut self, now: u64, since: u64) -> bool {
        if now >= self.refill_at && self.is_limited() {
            self.left = self.budget;
            let end = self.refill_at.max(since).saturating_add(self.period);
            self.refill_at = if end > now { end } else { now.saturating_add(self.period) };
        }
        self.left != 0
    }

    /// Takes used ticks from the budget. Returns whether this exhausted it.
    #[inline]
    pub fn charge(&mut self, ticks: u64) -> bool {
        if !self.is_limited() {
            return false;
        }
        let had = self.left != 0;
        self.left = self.left.saturating_sub(ticks);
        had && self.left == 0
    }

    /// When the budget runs out if it is used from `now` on.
    #[inline]
    pub fn ends_at(&self, now: u64) -> u64 {
        if self.is_limited() { now.saturating_add(self.left) } else { NEVER }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Over k periods the context gets no more than k + 2 budgets, whatever it was ready for.
        #[test]
        fn never_gets_more_than_its_share(budget in 1u64..50, extra in 0u64..100, steps in prop::collection::vec((0u64..40, 1u64..40, 0u64..60), 1..200)) {
            let period = budget + extra;
            let mut c = Context { budget, period, ..Context::default() };
            let (mut now, mut used) = (0u64, 0u64);
            for (idle, want, late) in steps {
                now += idle;
                if c.begin(now, now.saturating_sub(late)) {
                    let run = want.min(c.left);
                    c.charge(run);
                    now += run;
                    used += run;
                }
                prop_assert!(used <= (now / period + 2) * budget);
            }
        }
    }
}
