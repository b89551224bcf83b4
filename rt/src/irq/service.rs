//! The thread that runs handlers.

use super::run_due;
use crate::{
    cell::Guarded,
    lock::{self, Token},
    thread::{self, Kind, Start},
    time,
};
use core::{
    ffi::{c_int, c_void},
    ptr::null_mut,
};
use pillion_abi::NEVER;
use pillion_runtime::{call, info::slot, now};

static STARTED: Guarded<bool> = Guarded::new(false);

/// Were timers set since the thread last looked for the earliest?
static TIMERS_SET: Guarded<bool> = Guarded::new(true);

/// Stack for the program's handlers.
const STACK: usize = 20480;

/// Makes sure that the thread is there.
pub(crate) fn ensure(token: &Token) -> Result<(), c_int> {
    if !STARTED.get(token) {
        thread::start(&HOW, |_| {})?;
        STARTED.set(token, true);
    }
    Ok(())
}

const HOW: Start = Start {
    kind: Kind::Handlers,
    priority: 0,
    detached: true,
    stack: null_mut(),
    stack_size: STACK,
    entry: serve,
    argument: null_mut(),
};

/// Has it look at its deadlines, and at lines that were held back, again.
pub(crate) fn look_again(token: &Token) {
    TIMERS_SET.set(token, true);
    if STARTED.get(token) {
        let _ = call::signal(slot::NOTIFICATION);
    }
}

/// Threads that a handler woke run when this one waits again: so it goes through the timers only
/// when one may be due, or was set.
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
