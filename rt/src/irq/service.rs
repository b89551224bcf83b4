//! The service threads, which run handlers: one on the processor that the task starts on, for
//! lines, timers and what that processor is sent, and one on each other processor that the program
//! gives a handler.

use super::{local, run_due};
use crate::cell::{Guarded, Shared};
use crate::lock::{self, Token};
use crate::thread::{self, Kind, Start, Thread};
use crate::time;
use core::ffi::{c_int, c_void};
use core::ptr::null_mut;
use pillion_abi::NEVER;
use pillion_runtime::info::{self, PROCESSORS, slot};
use pillion_runtime::{call, now};

/// By processor.
static SERVERS: Shared<[Option<&'static Thread>; PROCESSORS]> = Shared::new([None; PROCESSORS]);

/// Processors whose timers were set since their threads last looked for the earliest.
static TIMERS_SET: Guarded<u64> = Guarded::new(u64::MAX);

/// Stack for the program's handlers.
const STACK: usize = 20480;

/// Starts the service thread of the processor that the task starts on, unless it is running.
pub(crate) fn ensure(token: &Token) -> Result<(), c_int> {
    ensure_on(token, info::task().cpu)
}

/// Starts the service thread of one of the task's processors, unless it is running.
pub(crate) fn ensure_on(token: &Token, cpu: u64) -> Result<(), c_int> {
    if SERVERS.borrow(token)[cpu as usize].is_none() {
        let thread = thread::start(&how(cpu), |_| {})?;
        SERVERS.borrow(token)[cpu as usize] = Some(thread);
    }
    Ok(())
}

const fn how(cpu: u64) -> Start {
    Start {
        kind: Kind::Handlers,
        cpu: Some(cpu),
        priority: 0,
        detached: true,
        stack: null_mut(),
        stack_size: STACK,
        entry: serve,
        argument: null_mut(),
    }
}

/// Makes the service thread look again at its deadlines and at lines that were held back.
pub(crate) fn look_again(token: &Token) {
    look_again_on(token, info::task().cpu);
}

/// Makes a processor's service thread look again at its deadlines.
pub(crate) fn look_again_on(token: &Token, cpu: u64) {
    TIMERS_SET.set(token, TIMERS_SET.get(token) | 1 << cpu);
    nudge(token, cpu);
}

/// Wakes a processor's service thread, if there is one, once the lock has been left if it is not
/// the first.
pub(super) fn nudge(token: &Token, cpu: u64) {
    let server = SERVERS.borrow(token)[cpu as usize];
    match server {
        Some(_) if cpu == info::task().cpu => {
            let _ = call::signal(slot::NOTIFICATION);
        }
        Some(thread) => lock::wake_later(token, thread),
        None => {}
    }
}

/// Threads that a handler woke run only when the service thread waits again, so it goes through the
/// timers only if one may be due or was set.
///
/// What it is to do is said with the lock held, and then it is signalled. So a thread that waits by
/// its own notification, as that of another processor than the first does, may lose signals that
/// come while it waits for the lock, before it looks.
extern "C" fn serve(_: *mut c_void) -> *mut c_void {
    let me = thread::current();
    let cpu = me.processor();
    let is_first = cpu == info::task().cpu;
    let mut deadline = NEVER;
    loop {
        let is_sent = lock::with(|token| {
            let set = TIMERS_SET.get(token);
            if set >> cpu & 1 != 0 {
                TIMERS_SET.set(token, set & !(1 << cpu));
                deadline = time::earliest_raw(token, cpu);
                if is_first {
                    deadline = deadline.min(time::earliest_timer(token));
                }
            }
            local::take(token, cpu)
        });
        let until = if is_sent { 0 } else { deadline };
        if is_first {
            run_due(call::wait(slot::NOTIFICATION, until).map_or(0, |[bits, _]| bits));
        } else {
            me.wait_for_signal(until);
        }
        if is_sent {
            local::run(cpu);
        }
        if deadline <= now() {
            time::run_raw(cpu);
            if is_first {
                time::run_timers();
            }
            lock::with(|token| TIMERS_SET.set(token, TIMERS_SET.get(token) | 1 << cpu));
        }
    }
}
