//! Releases of periodic threads.

/// A time that never comes.
pub const INFINITY: i64 = i64::MAX;

/// A thread's releases, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Releases {
    /// The next release, or [`INFINITY`].
    next: i64,
    /// Time between two releases; 0 if there is only one.
    period: i64,
    /// Whether the next release is the first.
    first: bool,
}

impl Default for Releases {
    fn default() -> Self {
        Releases::NONE
    }
}

impl Releases {
    /// No release at all.
    pub const NONE: Releases = Releases { next: INFINITY, period: 0, first: false };

    /// Releases at `start` and, unless it is 0, every `period` later. None if it is negative.
    #[must_use]
    pub fn new(start: i64, period: i64) -> Option<Releases> {
        (period >= 0).then_some(Releases { next: start, period, first: true })
    }

    /// Time between two releases, or 0.
    #[must_use]
    pub fn period(&self) -> i64 {
        self.period
    }

    /// The release that a thread waits for at `now`, and how many releases were missed before it.
    ///
    /// The very first release may lie in the past: it is due at once. Later releases that have
    /// passed are missed.
    pub fn wait(&mut self, now: i64) -> (i64, u64) {
        if self.first || self.next > now {
            return (self.next, 0);
        }
        if self.period == 0 {
            self.next = INFINITY;
            return (INFINITY, 0);
        }
        let missed;
        (self.next, missed) = skip(self.next, self.period, now);
        (self.next, missed)
    }

    /// Moves on to the next release: the awaited one has come.
    pub fn begin(&mut self) {
        self.first = false;
        self.next = match self.period {
            0 => INFINITY,
            period => self.next.saturating_add(period),
        };
    }
}

/// The first of the times `due`, `due + period`, ... after `now`, and how many come before it.
/// `due` has come, and `period` is positive. Constant work.
#[must_use]
pub fn skip(due: i64, period: i64, now: i64) -> (i64, u64) {
    let passed = i128::from(now) - i128::from(due);
    let count = passed.max(0) / i128::from(period) + 1;
    let next = i128::from(due) + count * i128::from(period);
    (i64::try_from(next).unwrap_or(INFINITY), u64::try_from(count).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_in_time_misses_nothing() {
        let mut r = Releases::new(100, 10).unwrap();
        for k in 0..5 {
            assert_eq!(r.wait(95 + 10 * k), (100 + 10 * k, 0));
            r.begin();
        }
    }

    #[test]
    fn a_first_release_in_the_past_is_due() {
        let mut r = Releases::new(100, 10).unwrap();
        assert_eq!(r.wait(123), (100, 0));
        r.begin();
        assert_eq!(r.wait(123), (130, 2));
    }

    #[test]
    fn late_threads_skip_to_the_future() {
        let mut r = Releases::new(0, 10).unwrap();
        r.begin();
        assert_eq!(r.wait(10), (20, 1));
        assert_eq!(r.wait(19), (20, 0));
        r.begin();
        assert_eq!(r.wait(59), (60, 3));
    }

    #[test]
    fn period_zero_is_one_release() {
        let mut r = Releases::new(5, 0).unwrap();
        assert_eq!(r.wait(0), (5, 0));
        r.begin();
        assert_eq!(r.wait(6), (INFINITY, 0));
        assert_eq!(Releases::new(5, -1), None);
        let mut stopped = Releases::new(INFINITY, 0).unwrap();
        assert_eq!(stopped.wait(7), (INFINITY, 0));
    }

    #[test]
    fn skipping_agrees_with_going_step_by_step() {
        for (due, period) in [(0, 1), (0, 7), (-20, 3), (5, 100)] {
            for now in due..due + 50 {
                let (mut next, mut count) = (due, 0);
                while next <= now {
                    (next, count) = (next + period, count + 1);
                }
                assert_eq!(skip(due, period, now), (next, count), "{due} {period} {now}");
            }
        }
        assert_eq!(skip(i64::MIN, 1, i64::MAX), (INFINITY, u64::MAX));
        assert_eq!(skip(0, i64::MAX, i64::MAX), (INFINITY, 2));
    }

    #[test]
    fn the_end_of_time_is_never_passed() {
        let mut r = Releases::new(INFINITY - 5, INFINITY - 1).unwrap();
        r.begin();
        assert_eq!(r.wait(INFINITY - 1), (INFINITY, 0));
    }
}
