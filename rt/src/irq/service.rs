//! The service thread, which runs handlers.

use super::run_due;
use crate::cell::Guarded;
use crate::lock::{self, Token};
use crate::thread::{self, Kind, Start};
use crate::time;
use core::ffi::{c_int, c_void};
use core::ptr::null_mut;
use pillion_abi::NEVER;
use pillion_runtime::{call, info::slot, now};

static STARTED: Guarded<bool> = Guarded::new(false);

/// Whether timers were set since the thread last looked for the earliest.
static TIMERS_SET: Guarded<bool> = Guarded::new(true);

/// Stack for the program's handlers.
const STACK: usize = 20480;

/// Starts the service thread unless it is running.
pub(crate) fn ensure(token: &Token) -> Result<(), c_int> {
    if !STARTED.get(token) {
        thread::start(&HOW, |_| {})?;
        STARTED.set(token, true);
    }
    Ok(())
}

const HOW: Start = Start {
    kind: Kind::Handlers,
    cpu: None,
    priority: 0,
    detached: true,
    stack: null_mut(),
    stack_size: STACK,
    entry: serve,
    argument: null_mut(),
};

/// Makes the service thread look again at its deadlines and at lines that were held back.
pub(crate) fn look_again(token: &Token) {
    TIMERS_SET.set(token, true);
    if STARTED.get(token) {
        let _ = call::signal(slot::NOTIFICATION);
    }
}

/// Threads that a handler woke run only when the service thread waits again, so it goes through the
/// timers only if one may be due or was set.
extern "C" fn serve(_: *mut c_void) -> *mut c_void {
    let mut deadline = NEVER;
    loop {
        lock::with(|token| {
            if TIMERS_SET.replace(token, false) {
                deadline = time::earliest_timer(token).min(time::earliest_raw(token));
            }
        });
        let bits = call::wait(slot::NOTIFICATION, deadline).map_or(0, |[bits, _]| bits);
        run_due(bits);
        if deadline <= now() {
            time::run_raw();
            time::run_timers();
            lock::with(|token| TIMERS_SET.set(token, true));
        }
    }
}
