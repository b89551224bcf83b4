//! Raw timers, which RTLinux programs take from the hardware: `rtl_setclockhandler`.

use super::{clock::Clock, deadline, mode, now_ns};
use crate::cell::Shared;
use crate::error::{EBUSY, EINVAL};
use crate::irq::{local, service};
use crate::lock::{self, Token};
use core::ffi::{c_int, c_void};
use core::ops::Range;
use core::ptr::null_mut;
use core::sync::atomic::Ordering::Relaxed;
use pillion_abi::NEVER;
use pillion_rt_core::release::skip;
use pillion_runtime::info::{self, PROCESSORS};
use pillion_runtime::now;

/// Handler of a raw timer.
pub(super) type Handler = extern "C" fn(*mut c_void);

/// How a handler was set.
#[derive(Clone, Copy, Debug)]
enum Set {
    /// By `rtl_setclockhandler`.
    Clock(Handler),
    /// By `rtl_request_local_irq`.
    Local(local::Handler),
}

#[derive(Clone, Copy, Debug)]
struct Raw {
    handler: Option<Set>,
    /// When the timer fires next, in nanoseconds.
    due: Option<i64>,
    /// Time until the timer fires again, or 0.
    again: i64,
}

const IDLE: Raw = Raw { handler: None, due: None, again: 0 };

/// Number of the timer that stands for the timer chip, whose handler runs where those of lines do.
pub(super) const CHIP: usize = 0;

/// Number of the first processor's own timer.
pub(super) const LOCAL: usize = 1;

static RAW: Shared<[Raw; LOCAL + PROCESSORS]> = Shared::new([IDLE; LOCAL + PROCESSORS]);

/// The processor that a timer's handler runs on.
fn processor_of(number: usize) -> u64 {
    number.checked_sub(LOCAL).map_or(info::task().cpu, |cpu| cpu as u64)
}

/// The timers whose handlers run on a processor.
fn timers_of(cpu: u64) -> impl Iterator<Item = usize> {
    [CHIP, LOCAL + cpu as usize].into_iter().filter(move |number| processor_of(*number) == cpu)
}

/// Sets the handler of a clock's raw timers, of which none has one; [`EBUSY`] if one has.
pub(super) fn take(timers: Range<usize>, handler: Handler) -> Result<(), c_int> {
    let token = lock::enter();
    if RAW.borrow(&token)[timers.clone()].iter().any(|raw| raw.handler.is_some()) {
        return Err(EBUSY);
    }
    service::ensure(&token)?;
    RAW.borrow(&token)[timers].fill(Raw { handler: Some(Set::Clock(handler)), ..IDLE });
    Ok(())
}

/// Stops a clock's raw timers and removes their handlers; returns whether there were any.
pub(super) fn release(timers: Range<usize>) -> bool {
    lock::with(|token| {
        let raw = &mut RAW.borrow(token)[timers];
        let any = raw.iter().any(|raw| raw.handler.is_some());
        raw.fill(IDLE);
        any
    })
}

/// Sets the handler of a processor's own timer, which is stopped.
pub(crate) fn replace_local(token: &Token, cpu: u64, handler: local::Handler) -> Result<(), c_int> {
    service::ensure_on(token, cpu)?;
    RAW.borrow(token)[LOCAL + cpu as usize] = Raw { handler: Some(Set::Local(handler)), ..IDLE };
    Ok(())
}

/// Stops a processor's own timer and removes its handler.
pub(crate) fn release_local(token: &Token, cpu: u64) {
    RAW.borrow(token)[LOCAL + cpu as usize] = IDLE;
}

/// Checks that a clock has a raw timer.
pub(super) extern "C" fn init(clock: &Clock) -> c_int {
    clock.raw_timer().map_or(-EINVAL, |_| 0)
}

/// Stops a clock's timer; of several, the caller's processor's.
pub(super) extern "C" fn uninit(clock: &Clock) {
    if let Some(number) = clock.raw_timer() {
        lock::with(|token| arm(token, number, None, 0));
    }
}

/// Makes a clock's timer fire after `interval` ns and, in periodic mode, after each further one. Of
/// several, it is the caller's processor's.
pub(super) extern "C" fn set_timer(clock: &Clock, interval: i64) -> c_int {
    let Some(number) = clock.raw_timer().filter(|_| interval > 0) else { return -EINVAL };
    clock.value.store(interval, Relaxed);
    let again = if clock.mode.load(Relaxed) == mode::PERIODIC { interval } else { 0 };
    let token = lock::enter();
    if RAW.borrow(&token)[number].handler.is_some()
        && let Err(error) = service::ensure_on(&token, processor_of(number))
    {
        return -error;
    }
    arm(&token, number, Some(now_ns().saturating_add(interval)), again);
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

fn arm(token: &Token, number: usize, due: Option<i64>, again: i64) {
    let raw = &mut RAW.borrow(token)[number];
    (raw.due, raw.again) = (due, again);
    service::look_again_on(token, processor_of(number));
}

/// The tick at which the first raw timer of a processor fires.
pub(crate) fn earliest(token: &Token, cpu: u64) -> u64 {
    let raw = RAW.borrow(token);
    timers_of(cpu).filter_map(|number| raw[number].due).map(deadline).min().unwrap_or(NEVER)
}

/// Runs the handlers of a processor's raw timers that fired, with the lock held. Missed intervals
/// are skipped.
pub(crate) fn run_due(cpu: u64) {
    for number in timers_of(cpu) {
        let token = lock::enter();
        match fire(&token, number) {
            Some(Set::Clock(handler)) => handler(null_mut()),
            Some(Set::Local(handler)) => {
                handler(null_mut());
            }
            None => {}
        }
    }
}

fn fire(token: &Token, number: usize) -> Option<Set> {
    let raw = &mut RAW.borrow(token)[number];
    let due = raw.due.filter(|due| deadline(*due) <= now())?;
    raw.due = (raw.again != 0).then(|| skip(due, raw.again, now_ns()).0);
    raw.handler
}
