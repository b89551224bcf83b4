//! How a clock or a raw timer goes; also in `rtl_time.h`.

use core::ffi::c_int;

/// Smoothly; the timer fires once.
pub const ONESHOT: c_int = 1;

/// In steps; the timer fires again and again.
pub const PERIODIC: c_int = 2;
