//! Time.
//!
//! All clocks are based on the time-stamp counter, in nanoseconds since the processor started.

pub mod clock;
pub mod clocks;
mod mode;
mod posix;
mod raw;
mod sleep;
mod timer;
mod timespec;

pub(crate) use raw::{earliest as earliest_raw, release_local, replace_local, run_due as run_raw};
pub(crate) use sleep::spin;
pub(crate) use timer::{earliest as earliest_timer, run_due as run_timers};
pub use timespec::Timespec;

use crate::cell::Constant;
use pillion_abi::NEVER;
use pillion_rt_core::{clock::Scale, release::INFINITY};
use pillion_runtime::{info, now};

static SCALE: Constant<Scale> = Constant::new(Scale::new(0));

/// Reads the counter's frequency.
///
/// # Safety
/// The task has one thread.
pub(crate) unsafe fn start() {
    // SAFETY: the caller's promise.
    unsafe { SCALE.set(Scale::new(info::task().tsc_hz)) };
}

/// The scale between ticks and nanoseconds.
#[inline]
pub fn scale() -> Scale {
    SCALE.get()
}

/// Nanoseconds since the processor started.
#[inline]
pub fn now_ns() -> i64 {
    SCALE.get().ns(now()) as i64
}

/// The tick at which [`now_ns`] reaches `ns`; for `HRTIME_INFINITY`, one that never comes.
#[inline]
pub fn deadline(ns: i64) -> u64 {
    match ns {
        INFINITY => NEVER,
        ns => SCALE.get().ticks(ns.max(0) as u64),
    }
}
