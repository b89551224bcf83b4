//! When a periodic thread is released.

/// A time that never comes.
pub const INFINITY: i64 = i64::MAX;

/// Releases of a thread, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Releases {
    /// The next one, or [`INFINITY`].
    next: i64,
    /// Time between two; 0 when there is only one.
    period: i64,
    /// The next one is the first.
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

    /// Releases at `start` and, unless `period` is 0, every `period` afterwards. None when `period` is negative.
    #[must_use]
    pub fn new(start: i64, period: i64) -> Option<Releases> {
        (period >= 0).then_some(Releases { next: start, period, first: true })
    }

    /// Time between two releases, or 0.
    #[must_use]
    pub fn period(&self) -> i64 {
        self.period
    }

    /// The release that a thread waits for from `now` on, and how many were missed before it.
    ///
    /// The very first release may lie in the past: it is due at once. Later ones that have passed are missed.
    pub fn wait(&mut self, now: i64) -> (i64, u64) {
        if self.first || self.next > now {
            return (self.next, 0);
        }
        if self.period == 0 {
            self.next = INFINITY;
            return (INFINITY, 0);
        }
        let missed = now.saturating_sub(self.next) / self.period + 1;
        self.next = missed.checked_mul(self.period).and_then(|skip| self.next.checked_add(skip)).unwrap_or(INFINITY);
        (self.next, missed as u64)
    }

    /// The awaited release has come.
    pub fn begin(&mut self) {
        self.first = false;
        self.next = match self.period {
            0 => INFINITY,
            period => self.next.saturating_add(period),
        };
    }
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
    fn the_end_of_time_is_never_passed() {
        let mut r = Releases::new(INFINITY - 5, INFINITY - 1).unwrap();
        r.begin();
        assert_eq!(r.wait(INFINITY - 1), (INFINITY, 0));
    }
}
