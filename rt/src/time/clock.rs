//! What a clock is, and how it derives from the base time.

use super::{deadline, now_ns, raw};
use crate::{cell::Shared, irq::processor, lock::Token};
use core::ffi::c_int;
use core::ops::Range;
use core::sync::atomic::{AtomicI32, AtomicI64};
use pillion_rt_core::{clock::Reading, release::INFINITY};
use pillion_runtime::info::PROCESSORS;

/// A clock; it begins with the members of `struct rtl_clock` in `rtl_time.h`.
#[repr(C)]
#[derive(Debug)]
pub struct Clock {
    pub(super) init: extern "C" fn(&Clock) -> c_int,
    pub(super) uninit: extern "C" fn(&Clock),
    pub(super) settimer: extern "C" fn(&Clock, i64) -> c_int,
    pub(super) settimermode: extern "C" fn(&Clock, c_int) -> c_int,
    pub(super) gethrtime: extern "C" fn(&Clock) -> i64,
    /// `RTL_CLOCK_MODE_ONESHOT` or `RTL_CLOCK_MODE_PERIODIC`.
    pub(super) mode: AtomicI32,
    /// Length of its steps in nanoseconds.
    pub(super) resolution: AtomicI64,
    /// Time between two interrupts of a raw timer.
    pub(super) value: AtomicI64,
    pub(super) number: u32,
}

/// How each clock derives from the base time.
static READINGS: Shared<[Reading; 5]> = Shared::new([Reading { offset: 0, step: 0, origin: 0 }; 5]);

impl Clock {
    /// What the clock shows.
    pub(super) fn now(&self, token: &Token) -> i64 {
        READINGS.borrow(token)[self.number as usize].at(now_ns())
    }

    /// The tick at which the clock first shows `time`.
    pub(crate) fn deadline(&self, token: &Token, time: i64) -> u64 {
        match time {
            INFINITY => pillion_abi::NEVER,
            time => deadline(READINGS.borrow(token)[self.number as usize].base_of(time)),
        }
    }

    /// Changes the clock's reading; `change` also gets the base time.
    pub(super) fn change(&self, token: &Token, change: impl FnOnce(&mut Reading, i64)) {
        change(&mut READINGS.borrow(token)[self.number as usize], now_ns());
    }

    /// Returns whether the clock can be set.
    pub(super) fn is_settable(&self) -> bool {
        matches!(self.number, 1 | 2)
    }

    /// The clock's raw timers, by number: the timer chip's one, or that of each processor.
    pub(super) fn raw_timers(&self) -> Option<Range<usize>> {
        match self.number {
            3 => Some(raw::CHIP..raw::LOCAL),
            4 => Some(raw::LOCAL..raw::LOCAL + PROCESSORS),
            _ => None,
        }
    }

    /// Number of the raw timer that the caller sets through this clock.
    pub(super) fn raw_timer(&self) -> Option<usize> {
        let timers = self.raw_timers()?;
        Some(if timers.len() == 1 { timers.start } else { timers.start + processor() as usize })
    }
}
