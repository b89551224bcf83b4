//! Modes of clocks and raw timers; also in `rtl_time.h`.

use core::ffi::c_int;

/// The clock advances smoothly; the timer fires once.
pub const ONESHOT: c_int = 1;

/// The clock advances in steps; the timer fires repeatedly.
pub const PERIODIC: c_int = 2;
