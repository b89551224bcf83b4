//! The clocks.

use super::{deadline, now_ns, raw};
use crate::{cell::Shared, lock::Token};
use core::{
    ffi::c_int,
    sync::atomic::{AtomicI32, AtomicI64},
};
use pillion_rt_core::{clock::Reading, release::INFINITY};

/// A clock; its beginning is `struct rtl_clock` in `rtl_time.h`.
#[repr(C)]
#[derive(Debug)]
pub struct Clock {
    init: extern "C" fn(&Clock) -> c_int,
    uninit: extern "C" fn(&Clock),
    settimer: extern "C" fn(&Clock, i64) -> c_int,
    settimermode: extern "C" fn(&Clock, c_int) -> c_int,
    gethrtime: extern "C" fn(&Clock) -> i64,
    /// `RTL_CLOCK_MODE_ONESHOT` or `RTL_CLOCK_MODE_PERIODIC`.
    pub(super) mode: AtomicI32,
    /// Length of its steps in nanoseconds.
    pub(super) resolution: AtomicI64,
    /// Time between two interrupts of a raw timer.
    pub(super) value: AtomicI64,
    number: u32,
}

impl Clock {
    const fn new(number: u32) -> Clock {
        Clock {
            init: raw::init,
            uninit: raw::uninit,
            settimer: raw::set_timer,
            settimermode: raw::set_mode,
            gethrtime: super::posix::clock_gethrtime,
            mode: AtomicI32::new(super::mode::ONESHOT),
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
    /// Stands for the timer chip; a timer of its own.
    rtl_clock_8254 = 3;
    /// Stands for the processor's timer; a timer of its own.
    rtl_clock_apic = 4;
}

/// How each clock goes.
static READINGS: Shared<[Reading; 5]> = Shared::new([Reading { offset: 0, step: 0, origin: 0 }; 5]);

/// The clock that a program means.
pub(crate) fn find(clock: *const Clock) -> Option<&'static Clock> {
    ALL.into_iter().find(|c| core::ptr::eq(*c, clock))
}

impl Clock {
    /// What it shows.
    pub(super) fn now(&self, token: &Token) -> i64 {
        READINGS.borrow(token)[self.number as usize].at(now_ns())
    }

    /// The tick at which it first shows `time`.
    pub(crate) fn deadline(&self, token: &Token, time: i64) -> u64 {
        match time {
            INFINITY => pillion_abi::NEVER,
            time => deadline(READINGS.borrow(token)[self.number as usize].base_of(time)),
        }
    }

    /// Changes how it goes, given the base time.
    pub(super) fn change(&self, token: &Token, change: impl FnOnce(&mut Reading, i64)) {
        change(&mut READINGS.borrow(token)[self.number as usize], now_ns());
    }

    /// Can it be set?
    pub(super) fn is_settable(&self) -> bool {
        matches!(self.number, 1 | 2)
    }

    /// Number of its raw timer, if it has one.
    pub(super) fn raw_timer(&self) -> Option<usize> {
        self.number.checked_sub(3).map(|n| n as usize)
    }
}

/// What the scheduler's clock shows.
pub(crate) fn schedule_now(token: &Token) -> i64 {
    rtl_clock_realtime.now(token)
}

/// The tick at which the scheduler's clock first shows `time`.
pub(crate) fn schedule_deadline(token: &Token, time: i64) -> u64 {
    rtl_clock_realtime.deadline(token, time)
}
