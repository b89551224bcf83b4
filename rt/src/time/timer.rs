//! Timers that send signals to threads.

use super::{Timespec, clock::Clock, clocks, sleep::ABSOLUTE};
use crate::cell::Shared;
use crate::error::{EAGAIN, EINVAL, posix};
use crate::irq::service;
use crate::lock::{self, Token};
use crate::signal::{self, USER_BITS, USER_FIRST};
use crate::thread::{self, Identity, Thread};
use core::ffi::{c_int, c_void};
use core::sync::atomic::Ordering::Relaxed;
use pillion_abi::NEVER;
use pillion_rt_core::release::skip;

/// `struct sigevent`; also in `signal.h`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Event {
    sigev_notify: c_int,
    sigev_signo: c_int,
    sigev_value: *mut c_void,
}

/// `SIGEV_NONE`.
const NO_SIGNAL: c_int = 1;

/// `struct itimerspec`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Setting {
    it_interval: Timespec,
    it_value: Timespec,
}

#[derive(Clone, Copy)]
struct Timer {
    clock: &'static Clock,
    /// The thread that created the timer; see [`signal::receiver`].
    thread: Identity,
    /// 0 for none.
    signal: u32,
    /// The clock's time at which the timer fires.
    due: Option<i64>,
    interval: i64,
    /// `due` counts from when the timer was armed, whatever the clock is set to meanwhile.
    relative: bool,
    overruns: c_int,
}

const COUNT: usize = 32;

static TIMERS: Shared<[Option<Timer>; COUNT]> = Shared::new([None; COUNT]);

/// `timer_t`: index in the table plus one.
type Name = usize;

/// Runs a function on a timer.
fn with<R>(name: Name, f: impl FnOnce(&Token, &mut Timer) -> R) -> Result<R, c_int> {
    lock::with(|token| {
        let mut timers = TIMERS.borrow(token);
        let timer = name.checked_sub(1).and_then(|place| timers.get_mut(place)).and_then(Option::as_mut);
        timer.map(|timer| f(token, timer)).ok_or(EINVAL)
    })
}

/// Creates a timer, which sends signals to the calling thread.
#[unsafe(no_mangle)]
pub extern "C" fn timer_create(clock: *const Clock, event: Option<&Event>, name: &mut Name) -> c_int {
    let signal = match event {
        None => USER_FIRST,
        Some(event) if event.sigev_notify == NO_SIGNAL => 0,
        Some(event) => event.sigev_signo as u32,
    };
    posix(create(clock, signal).map(|made| *name = made))
}

fn create(clock: *const Clock, signal: u32) -> Result<Name, c_int> {
    let clock = clocks::find(clock).ok_or(EINVAL)?;
    if signal != 0 && (signal >= 32 || USER_BITS >> signal & 1 == 0) {
        return Err(EINVAL);
    }
    let token = lock::enter();
    service::ensure(&token)?;
    let mut timers = TIMERS.borrow(&token);
    let place = timers.iter().position(Option::is_none).ok_or(EAGAIN)?;
    let thread = thread::current().identity();
    timers[place] = Some(Timer { clock, thread, signal, due: None, interval: 0, relative: true, overruns: 0 });
    Ok(place + 1)
}

#[unsafe(no_mangle)]
pub extern "C" fn timer_delete(name: Name) -> c_int {
    posix(lock::with(|token| {
        let place = name.checked_sub(1).filter(|p| *p < COUNT).ok_or(EINVAL)?;
        TIMERS.borrow(token)[place].take().map(|_| ()).ok_or(EINVAL)
    }))
}

/// Arms a timer, or stops it with a value of 0.
///
/// # Safety
/// `old` is null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn timer_settime(name: Name, flags: c_int, new: &Setting, old: *mut Setting) -> c_int {
    let (Some(value), Some(interval)) = (new.it_value.length(), new.it_interval.length()) else {
        return posix(Err(EINVAL));
    };
    let was = with(name, |token, timer| {
        let was = timer.setting(token);
        timer.relative = flags & ABSOLUTE == 0;
        let start = if timer.relative { timer.clock.now(token) } else { 0 };
        timer.due = (value != 0).then(|| start.saturating_add(value));
        (timer.interval, timer.overruns) = (interval, 0);
        service::look_again(token);
        was
    });
    // SAFETY: the caller's promise.
    if let (Ok(was), Some(old)) = (was, unsafe { old.as_mut() }) {
        *old = was;
    }
    posix(was.map(|_| ()))
}

/// Time until a timer fires, and its interval.
#[unsafe(no_mangle)]
pub extern "C" fn timer_gettime(name: Name, setting: &mut Setting) -> c_int {
    posix(with(name, |token, timer| *setting = timer.setting(token)))
}

/// How often the timer fired in addition while its last signal was pending, or before it was sent.
#[unsafe(no_mangle)]
pub extern "C" fn timer_getoverrun(name: Name) -> c_int {
    with(name, |_, timer| timer.overruns).unwrap_or_else(|error| posix(Err(error)))
}

impl Timer {
    fn setting(&self, token: &Token) -> Setting {
        let left = self.due.map_or(0, |due| due.saturating_sub(self.clock.now(token)).max(1));
        Setting { it_interval: Timespec::of(self.interval), it_value: Timespec::of(left) }
    }

    /// If the timer is due, sets the next time it fires; returns the thread and the signal to send.
    fn fire(&mut self, token: &Token) -> Option<(&'static Thread, u32)> {
        let now = self.clock.now(token);
        let due = self.due.filter(|due| *due <= now)?;
        let times;
        (self.due, times) = match self.interval {
            0 => (None, 1),
            interval => {
                let (next, times) = skip(due, interval, now);
                (Some(next), times)
            }
        };
        let thread = signal::receiver(token, self.thread, self.signal).filter(|_| self.signal != 0)?;
        let pending = thread.pending.load(Relaxed) >> self.signal & 1 == 1;
        let before = if pending { self.overruns.saturating_add(1) } else { 0 };
        self.overruns = before.saturating_add(c_int::try_from(times - 1).unwrap_or(c_int::MAX));
        Some((thread, self.signal))
    }
}

/// A clock was set forward by `by` nanoseconds: keeps timers armed with a relative time firing when
/// they would have.
pub(super) fn clock_set(token: &Token, clock: &'static Clock, by: i64) {
    let mut timers = TIMERS.borrow(token);
    for timer in timers.iter_mut().flatten().filter(|t| t.relative && core::ptr::eq(t.clock, clock)) {
        timer.due = timer.due.map(|due| due.saturating_add(by));
    }
    service::look_again(token);
}

/// The tick at which the first timer fires.
pub(crate) fn earliest(token: &Token) -> u64 {
    TIMERS.borrow(token).iter().flatten().filter_map(|t| Some(t.clock.deadline(token, t.due?))).min().unwrap_or(NEVER)
}

/// Sends the signals of timers that have fired.
pub(crate) fn run_due() {
    for place in 0..COUNT {
        let token = lock::enter();
        let fired = TIMERS.borrow(&token)[place].as_mut().and_then(|timer| timer.fire(&token));
        if let Some((thread, signal)) = fired {
            signal::send(&token, thread, signal);
        }
    }
}
