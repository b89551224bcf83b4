//! Releases of periodic threads.

use super::{Objects, Party, error};

/// Shortest period, in nanoseconds.
const SHORTEST: u64 = 1_000;
/// Latest time of a clock that counts: some hundred years.
const LATEST: u64 = 1 << 62;

/// A thread's releases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Period {
    /// Linux's number of the clock.
    pub clock: u64,
    /// Time of the next release, in nanoseconds.
    pub next: u64,
    length: u64,
}

impl Objects {
    /// Makes a thread periodic from a time on; a length of 0 ends that.
    pub fn period_set(&mut self, party: Party, clock: u64, first: u64, length: u64) -> i64 {
        if length != 0 && !(SHORTEST..LATEST).contains(&length) || first >= LATEST {
            return error::EINVAL;
        }
        self.parties[party].period = (length != 0).then_some(Period { clock, next: first, length });
        0
    }

    /// The next release, if the thread is periodic.
    #[must_use]
    pub fn period(&self, party: Party) -> Option<Period> {
        self.parties[party].period
    }

    /// The thread was released at that time of its clock, or before. Returns how many more releases
    /// have passed.
    pub fn released(&mut self, party: Party, now: u64) -> i64 {
        let Some(period) = &mut self.parties[party].period else { return error::EPERM };
        let missed = now.saturating_sub(period.next) / period.length;
        period.next = period.next.saturating_add((missed + 1).saturating_mul(period.length)).min(LATEST);
        missed.cast_signed()
    }
}
