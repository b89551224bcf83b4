//! Raw timers, which RTLinux programs take from the hardware: `rtl_setclockhandler`.

use super::{clock::Clock, deadline, mode, now_ns};
use crate::cell::Shared;
use crate::error::{EBUSY, EINVAL};
use crate::irq::service;
use crate::lock::{self, Token};
use core::ffi::{c_int, c_void};
use core::ptr::null_mut;
use core::sync::atomic::Ordering::Relaxed;
use pillion_abi::NEVER;
use pillion_rt_core::release::skip;
use pillion_runtime::now;

/// Handler of a raw timer.
pub(super) type Handler = extern "C" fn(*mut c_void);

#[derive(Clone, Copy, Debug)]
struct Raw {
    handler: Option<Handler>,
    /// When the timer fires next, in nanoseconds.
    due: Option<i64>,
    /// Time until the timer fires again, or 0.
    again: i64,
}

const IDLE: Raw = Raw { handler: None, due: None, again: 0 };

static RAW: Shared<[Raw; 2]> = Shared::new([IDLE; 2]);

/// Sets the handler of a raw timer that has none; [`EBUSY`] if it has one.
pub(super) fn take(number: usize, handler: Handler) -> Result<(), c_int> {
    let token = lock::enter();
    if RAW.borrow(&token)[number].handler.is_some() {
        return Err(EBUSY);
    }
    service::ensure(&token)?;
    RAW.borrow(&token)[number] = Raw { handler: Some(handler), ..IDLE };
    Ok(())
}

/// Stops a raw timer and removes its handler; `None` if it had none.
pub(super) fn release(number: usize) -> Option<Handler> {
    lock::with(|token| core::mem::replace(&mut RAW.borrow(token)[number], IDLE)).handler
}

/// Checks that a clock has a raw timer.
pub(super) extern "C" fn init(clock: &Clock) -> c_int {
    clock.raw_timer().map_or(-EINVAL, |_| 0)
}

/// Stops a clock's timer.
pub(super) extern "C" fn uninit(clock: &Clock) {
    arm(clock, None, 0);
}

/// Makes a clock's timer fire after `interval` ns and, in periodic mode, after each further one.
pub(super) extern "C" fn set_timer(clock: &Clock, interval: i64) -> c_int {
    if clock.raw_timer().is_none() || interval <= 0 {
        return -EINVAL;
    }
    clock.value.store(interval, Relaxed);
    let again = if clock.mode.load(Relaxed) == mode::PERIODIC { interval } else { 0 };
    arm(clock, Some(now_ns().saturating_add(interval)), again);
    0
}

/// Chooses between firing once and firing repeatedly.
pub(super) extern "C" fn set_mode(clock: &Clock, new: c_int) -> c_int {
    if clock.raw_timer().is_none() || (new != mode::ONESHOT && new != mode::PERIODIC) {
        return -EINVAL;
    }
    clock.mode.store(new, Relaxed);
    0
}

fn arm(clock: &Clock, due: Option<i64>, again: i64) {
    let Some(number) = clock.raw_timer() else { return };
    lock::with(|token| {
        let raw = &mut RAW.borrow(token)[number];
        (raw.due, raw.again) = (due, again);
        service::look_again(token);
    });
}

/// The tick at which the first raw timer fires.
pub(crate) fn earliest(token: &Token) -> u64 {
    RAW.borrow(token).iter().filter_map(|raw| raw.due).map(deadline).min().unwrap_or(NEVER)
}

/// Runs the handlers of raw timers that fired, with the lock held. Missed intervals are skipped.
pub(crate) fn run_due() {
    for number in 0..2 {
        let token = lock::enter();
        let handler = fire(&token, number);
        if let Some(handler) = handler {
            handler(null_mut());
        }
    }
}

fn fire(token: &Token, number: usize) -> Option<Handler> {
    let raw = &mut RAW.borrow(token)[number];
    let due = raw.due.filter(|due| deadline(*due) <= now())?;
    raw.due = (raw.again != 0).then(|| skip(due, raw.again, now_ns()).0);
    raw.handler
}
