//! Boosts: a context is used above its own priority, for a limited part of the time.
//!
//! A guest runs on one of the least urgent contexts, and yet some of what it runs can be urgent. A
//! boost has a budget and a period of its own. When that budget is empty, the context falls back to
//! its own priority and goes on with its own budget: nothing stops. So whatever the guest asks for,
//! others lose no more time to it than the boost's budget.

use crate::{Id, Kernel, Machine, context::Context, timer::Due};

/// Time in each period.
#[derive(Debug, Default, Clone, Copy)]
pub struct Share {
    /// See [`Context::budget`].
    pub budget: u64,
    /// See [`Context::period`].
    pub period: u64,
    /// See [`Context::left`].
    pub left: u64,
    /// See [`Context::refill_at`].
    pub refill_at: u64,
}

/// What a context may use above its own priority.
#[derive(Debug, Default)]
pub struct Boost {
    /// Highest priority of a boost; 0: it gets none.
    pub ceiling: u8,
    /// The context's own priority while it is boosted, else 0.
    pub base: u8,
    /// The boost's share of time; while the context is boosted, its own.
    pub other: Share,
}

impl Context {
    /// Whether it is used above its own priority.
    #[inline]
    pub const fn is_boosted(&self) -> bool {
        self.boost.base != 0
    }

    /// Changes between its own share of time and the boost's.
    fn exchange(&mut self) {
        let other = self.boost.other;
        self.boost.other =
            Share { budget: self.budget, period: self.period, left: self.left, refill_at: self.refill_at };
        (self.budget, self.period, self.left, self.refill_at) =
            (other.budget, other.period, other.left, other.refill_at);
        self.forfeited = false;
    }
}

impl<M: Machine> Kernel<M> {
    /// Allows a context boosts up to a priority, for a budget in each period; a priority of 0
    /// forbids them.
    pub(crate) fn allow_boost(&mut self, id: Id<Context>, ceiling: u8, budget: u64, period: u64) {
        self.end_boost(id);
        // A budget that was used up under the former rules is not replenished earlier by new ones.
        let Share { refill_at, .. } = self.m.get(id).boost.other;
        let other = Share { budget, period, left: 0, refill_at };
        let boost = &mut self.m.get(id).boost;
        (boost.ceiling, boost.other) = (ceiling, other);
    }

    /// Has a context used at a priority, at most at the ceiling of its boosts, as long as their
    /// budget lasts. A priority that is not above the context's own ends its boost.
    ///
    /// Work: as [`Kernel::set_context_priority`], and O(log n) for the agenda.
    #[inline]
    pub(crate) fn boost(&mut self, id: Id<Context>, priority: u8) {
        let c = self.m.get(id);
        if c.boost.ceiling != 0 {
            self.boost_to(id, priority);
        }
    }

    fn boost_to(&mut self, id: Id<Context>, priority: u8) {
        let c = self.m.get(id);
        let priority = priority.min(c.boost.ceiling);
        let own = if c.is_boosted() { c.boost.base } else { c.priority };
        if priority <= own {
            self.end_boost(id);
        } else if !c.is_boosted() {
            self.begin_boost(id, priority);
        } else if c.priority != priority {
            self.set_context_priority(id, priority);
        }
    }

    fn begin_boost(&mut self, id: Id<Context>, priority: u8) {
        let now = self.m.now();
        self.charge(now);
        let c = self.m.get(id);
        c.exchange();
        if !c.begin(now, now) {
            c.exchange();
            return;
        }
        c.boost.base = c.priority;
        let user = c.user;
        self.disarm(Due::Context(id));
        self.set_context_priority(id, priority);
        // Its own budget may have been empty.
        if let Some(user) = user {
            self.resume_parked(user);
        }
    }

    /// Ends a context's boost, if there is one. Its users have its own priority again, and use its
    /// own budget.
    pub(crate) fn end_boost(&mut self, id: Id<Context>) {
        if !self.m.get(id).is_boosted() {
            return;
        }
        let now = self.m.now();
        self.charge(now);
        let c = self.m.get(id);
        c.exchange();
        let own = core::mem::take(&mut c.boost.base);
        self.cpu.timers_changed = true;
        self.set_context_priority(id, own);
    }
}
