//! The clocks.

use super::{clock::Clock, mode, raw};
use crate::error::EINVAL;
use crate::lock::{self, Token};
use core::ffi::c_int;
use core::sync::atomic::{AtomicI32, AtomicI64};

impl Clock {
    const fn new(number: u32) -> Clock {
        Clock {
            init: raw::init,
            uninit: raw::uninit,
            settimer: raw::set_timer,
            settimermode: raw::set_mode,
            gethrtime: clock_gethrtime,
            mode: AtomicI32::new(mode::ONESHOT),
            resolution: AtomicI64::new(1),
            value: AtomicI64::new(0),
            number,
        }
    }
}

macro_rules! clocks {
    ($($(#[$doc:meta])* $name:ident = $number:literal;)*) => {
        $(
            $(#[$doc])*
            #[unsafe(no_mangle)]
            #[allow(non_upper_case_globals, reason = "the name that C programs see")]
            pub static $name: Clock = Clock::new($number);
        )*
        static ALL: [&Clock; 5] = [$(&$name),*];
    };
}

clocks! {
    /// Never set, never stepped.
    rtl_clock_monotonic = 0;
    /// The scheduler's clock.
    rtl_clock_realtime = 1;
    /// Starts as the others do; a program can set it to Linux's time.
    rtl_clock_gpos = 2;
    /// Stands for the timer chip; has a raw timer of its own.
    rtl_clock_8254 = 3;
    /// Stands for the processors' timers; has a raw timer for each processor.
    rtl_clock_apic = 4;
}

/// The clock that a program's pointer names.
pub(crate) fn find(clock: *const Clock) -> Option<&'static Clock> {
    ALL.into_iter().find(|c| core::ptr::eq(*c, clock))
}

/// What a clock shows, in nanoseconds; -1 for an unknown clock.
#[unsafe(no_mangle)]
pub extern "C" fn clock_gethrtime(clock: &Clock) -> i64 {
    find(clock).map_or(-1, |clock| lock::with(|token| clock.now(token)))
}

/// Sets the handler of a clock's raw timers. The scheduler's clocks have no raw timers.
#[unsafe(no_mangle)]
pub extern "C" fn rtl_setclockhandler(clock: *const Clock, handler: Option<raw::Handler>) -> c_int {
    let (Some(timers), Some(handler)) = (find(clock).and_then(Clock::raw_timers), handler) else {
        return -EINVAL;
    };
    raw::take(timers, handler).map_or_else(|error| -error, |()| 0)
}

/// Removes the handler of a clock's raw timers.
#[unsafe(no_mangle)]
pub extern "C" fn rtl_unsetclockhandler(clock: *const Clock) -> c_int {
    let timers = find(clock).and_then(Clock::raw_timers);
    if timers.is_some_and(raw::release) { 0 } else { -EINVAL }
}

/// What the scheduler's clock shows.
pub(crate) fn schedule_now(token: &Token) -> i64 {
    rtl_clock_realtime.now(token)
}

/// The tick at which the scheduler's clock first shows `time`.
pub(crate) fn schedule_deadline(token: &Token, time: i64) -> u64 {
    rtl_clock_realtime.deadline(token, time)
}
