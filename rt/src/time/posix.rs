//! Reading and setting clocks.

use super::{Timespec, clock::Clock, clocks, mode, now_ns, timer};
use crate::error::{EINVAL, fail};
use crate::irq::service;
use crate::lock;
use core::{ffi::c_int, ptr::null, sync::atomic::Ordering::Relaxed};

/// Nanoseconds since the processor started.
#[unsafe(no_mangle)]
pub extern "C" fn gethrtime() -> i64 {
    now_ns()
}

/// Resolution of [`gethrtime`].
#[unsafe(no_mangle)]
pub extern "C" fn gethrtimeres() -> i64 {
    1
}

/// What a clock shows.
#[unsafe(no_mangle)]
pub extern "C" fn clock_gettime(clock: *const Clock, time: &mut Timespec) -> c_int {
    let Some(clock) = clocks::find(clock) else { return fail(EINVAL) };
    *time = Timespec::of(lock::with(|token| clock.now(token)));
    0
}

#[unsafe(no_mangle)]
pub extern "C" fn clock_settime(clock: *const Clock, time: &Timespec) -> c_int {
    let clock = clocks::find(clock).filter(|c| c.is_settable());
    let (Some(clock), Some(ns)) = (clock, time.length()) else { return fail(EINVAL) };
    lock::with(|token| {
        let mut by = 0;
        clock.change(token, |reading, base| {
            by = ns.saturating_sub(reading.at(base));
            reading.set(base, ns);
        });
        timer::clock_set(token, clock, by);
    });
    0
}

#[unsafe(no_mangle)]
pub extern "C" fn clock_getres(clock: *const Clock, resolution: Option<&mut Timespec>) -> c_int {
    let Some(clock) = clocks::find(clock) else { return fail(EINVAL) };
    if let Some(resolution) = resolution {
        *resolution = Timespec::of(clock.resolution.load(Relaxed));
    }
    0
}

/// Seconds on the scheduler's clock.
#[unsafe(no_mangle)]
pub extern "C" fn time(to: Option<&mut i64>) -> i64 {
    let seconds = Timespec::of(lock::with(clocks::schedule_now)).tv_sec;
    if let Some(to) = to {
        *to = seconds;
    }
    seconds
}

/// The scheduler's clock.
#[unsafe(no_mangle)]
pub extern "C" fn rtl_getschedclock() -> *const Clock {
    &raw const clocks::rtl_clock_realtime
}

/// The best clock of a processor.
#[unsafe(no_mangle)]
pub extern "C" fn rtl_getbestclock(cpu: u32) -> *const Clock {
    if crate::irq::processor_exists(cpu as c_int) { &raw const clocks::rtl_clock_apic } else { null() }
}

/// Makes a clock advance smoothly, or in steps of `period` nanoseconds.
#[unsafe(no_mangle)]
pub extern "C" fn rtl_setclockmode(clock: *const Clock, mode: c_int, period: i64) -> c_int {
    let Some(clock) = clocks::find(clock) else { return -EINVAL };
    let step = match mode {
        mode::ONESHOT => 0,
        mode::PERIODIC if period > 0 => period,
        _ => return -EINVAL,
    };
    // Only the clocks that can be set can advance in steps.
    if !clock.is_settable() && step != 0 {
        return -EINVAL;
    }
    lock::with(|token| {
        clock.change(token, |reading, base| reading.set_step(base, step));
        service::look_again(token);
    });
    clock.mode.store(mode, Relaxed);
    clock.resolution.store(step.max(1), Relaxed);
    0
}
