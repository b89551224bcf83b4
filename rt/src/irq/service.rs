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
use pillion_runtime::{call, info::slot};

static STARTED: Guarded<bool> = Guarded::new(false);

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

/// Has it look at its deadlines again.
pub(crate) fn look_again(token: &Token) {
    if STARTED.get(token) {
        let _ = call::signal(slot::NOTIFICATION);
    }
}

extern "C" fn serve(_: *mut c_void) -> *mut c_void {
    loop {
        let deadline = lock::with(|token| time::earliest_timer(token).min(time::earliest_raw(token)));
        let bits = call::wait(slot::NOTIFICATION, deadline).map_or(0, |[bits, _]| bits);
        run_due(bits);
        time::run_raw();
        time::run_timers();
    }
}
