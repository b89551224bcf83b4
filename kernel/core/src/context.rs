//! Scheduling contexts: the right to a share of the CPU's time.
//!
//! A context has a priority, and a budget and a period in ticks. Its budget is replenished when it
//! begins to be used and at least a period has passed since the last replenishment. When the budget
//! is empty, the thread waits until that period is over.

use crate::{Opt, heap::Node, thread::Thread, timer::Due};
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
    /// Ticks used so far.
    pub consumed: u64,
    /// How often it ran out.
    pub exhausted: u64,
    /// What was left was forfeited for a call that needs more, which is made again with a whole
    /// budget.
    pub forfeited: bool,
    /// Thread that runs on it now.
    pub user: Opt<Thread>,
    /// Thread that it belongs to.
    pub owner: Opt<Thread>,
    /// Node on the agenda, while its thread waits for the replenishment.
    pub refill: Node<Due>,
}

impl Context {
    /// Whether the budget is limited at all.
    #[inline]
    pub fn is_limited(&self) -> bool {
        self.budget != NEVER
    }

    /// Replenishes the budget if it is time to. Returns whether any budget is left.
    #[inline]
    pub fn begin(&mut self, now: u64) -> bool {
        if now >= self.refill_at && self.is_limited() {
            self.left = self.budget;
            self.refill_at = now.saturating_add(self.period);
        }
        self.left != 0
    }

    /// Charges used ticks. Returns whether this exhausted the budget.
    #[inline]
    pub fn charge(&mut self, ticks: u64) -> bool {
        self.consumed = self.consumed.wrapping_add(ticks);
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
        /// In any window of one period the context gets no more than two budgets, and over k
        /// periods no more than k + 1.
        #[test]
        fn never_gets_more_than_its_share(budget in 1u64..50, extra in 0u64..100, steps in prop::collection::vec((0u64..40, 1u64..40), 1..200)) {
            let period = budget + extra;
            let mut c = Context { budget, period, ..Context::default() };
            let (mut now, mut used) = (0u64, 0u64);
            for (idle, want) in steps {
                now += idle;
                if c.begin(now) {
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
