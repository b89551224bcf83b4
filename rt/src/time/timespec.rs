//! `struct timespec`.

use crate::thread;
use core::sync::atomic::Ordering::Relaxed;

const NSECS_PER_SEC: i64 = 1_000_000_000;

/// `struct timespec`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timespec {
    /// Seconds.
    pub tv_sec: i64,
    /// Nanoseconds.
    pub tv_nsec: i64,
}

impl Timespec {
    /// Creates one from nanoseconds.
    pub fn of(ns: i64) -> Timespec {
        Timespec { tv_sec: ns.div_euclid(NSECS_PER_SEC), tv_nsec: ns.rem_euclid(NSECS_PER_SEC) }
    }

    /// The time in nanoseconds, unless `tv_nsec` is out of range.
    pub fn ns(self) -> Option<i64> {
        let valid = (0..NSECS_PER_SEC).contains(&self.tv_nsec);
        valid.then(|| self.tv_sec.saturating_mul(NSECS_PER_SEC).saturating_add(self.tv_nsec))
    }

    /// The time in nanoseconds, unless `tv_nsec` is out of range or the time is negative.
    pub fn length(self) -> Option<i64> {
        self.ns().filter(|ns| *ns >= 0)
    }
}

/// Converts a time. The result lies in the calling thread's own storage until its next call.
#[unsafe(no_mangle)]
pub extern "C" fn rtl_hrt2ts(ns: i64) -> *const Timespec {
    let place = thread::current().time();
    let Timespec { tv_sec, tv_nsec } = Timespec::of(ns);
    place[0].store(tv_sec, Relaxed);
    place[1].store(tv_nsec, Relaxed);
    place.as_ptr().cast()
}
