//! Sleeping.

use super::{Timespec, clock::Clock, clocks, now_ns};
use crate::error::{EINTR, EINVAL, fail};
use crate::signal::{self, WAKEUP_BIT};
use crate::wait::{How, Wake, block};
use crate::{lock, thread};
use core::{ffi::c_int, sync::atomic::Ordering::Relaxed};
use pillion_runtime::now;

/// `TIMER_ABSTIME`.
pub(super) const ABSOLUTE: c_int = 1;

/// Sleeps until a clock reaches a time.
fn sleep_until(clock: &'static Clock, time: i64) -> Wake {
    signal::after_wait();
    let token = lock::enter();
    let deadline = clock.deadline(&token, time);
    let wake = if deadline <= now() { Wake::TimedOut } else { block(token, None, How::SLEEP, deadline) };
    if wake == Wake::Interrupted {
        thread::current().pending.fetch_and(!WAKEUP_BIT, Relaxed);
    }
    signal::after_wait();
    wake
}

/// # Safety
/// `rest` is null or writable.
unsafe fn sleep(clock: &'static Clock, flags: c_int, request: Timespec, rest: *mut Timespec) -> Result<(), c_int> {
    let asked = request.length().ok_or(EINVAL)?;
    let absolute = flags & ABSOLUTE != 0;
    let until = if absolute { asked } else { lock::with(|token| clock.now(token)).saturating_add(asked) };
    if sleep_until(clock, until) != Wake::Interrupted {
        return Ok(());
    }
    // SAFETY: the caller's promise.
    if let (false, Some(rest)) = (absolute, unsafe { rest.as_mut() }) {
        *rest = Timespec::of(until.saturating_sub(lock::with(|token| clock.now(token))).max(0));
    }
    Err(EINTR)
}

/// Sleeps for a time, or until a clock reaches one. Returns 0 or an error number.
///
/// # Safety
/// `request` is readable, `rest` null or writable; both may be the same place.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clock_nanosleep(
    clock: *const Clock,
    flags: c_int,
    request: *const Timespec,
    rest: *mut Timespec,
) -> c_int {
    let Some(clock) = clocks::find(clock) else { return EINVAL };
    // SAFETY: the caller's promise.
    crate::error::number(unsafe { sleep(clock, flags, *request, rest) })
}

/// Sleeps for a time.
///
/// # Safety
/// As for [`clock_nanosleep`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nanosleep(request: *const Timespec, rest: *mut Timespec) -> c_int {
    // SAFETY: the caller's promise.
    crate::error::posix(unsafe { sleep(&clocks::rtl_clock_monotonic, 0, *request, rest) })
}

/// Sleeps for `microseconds`.
#[unsafe(no_mangle)]
pub extern "C" fn usleep(microseconds: u32) -> c_int {
    let until = now_ns() + i64::from(microseconds) * 1000;
    match sleep_until(&clocks::rtl_clock_monotonic, until) {
        Wake::Interrupted => fail(EINTR),
        _ => 0,
    }
}

/// Sleeps for `seconds`; returns how many are left.
#[unsafe(export_name = "sleep")]
pub extern "C" fn sleep_seconds(seconds: u32) -> u32 {
    let until = now_ns() + i64::from(seconds) * 1_000_000_000;
    match sleep_until(&clocks::rtl_clock_monotonic, until) {
        Wake::Interrupted => ((until - now_ns()).max(0) as u64).div_ceil(1_000_000_000) as u32,
        _ => 0,
    }
}

/// Busy-waits for `ns` nanoseconds.
pub(crate) fn spin(ns: u64) {
    let end = super::deadline(now_ns().saturating_add_unsigned(ns));
    while now() < end {
        core::hint::spin_loop();
    }
}

/// Busy-waits for `ns` nanoseconds.
#[unsafe(no_mangle)]
pub extern "C" fn rtl_delay(ns: core::ffi::c_long) {
    spin(ns.max(0) as u64);
}
