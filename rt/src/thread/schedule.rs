//! Priorities and processors, as the program sees them.

use super::{Thread, by_pointer, current, suspend::use_up_wakeup};
use crate::error::{EINVAL, ESRCH, fail};
use crate::sync::{SchedParam, prio_ok};
use crate::{lock, signal};
use core::{ffi::c_int, sync::atomic::Ordering::Relaxed};
use pillion_rt_core::urgency::PRIORITY_MAX;
use pillion_runtime::call;

/// The only policy.
pub(super) const SCHED_FIFO: c_int = 1;

#[unsafe(no_mangle)]
pub extern "C" fn pthread_self() -> *mut Thread {
    current().pointer()
}

/// The thread that stands for Linux: the main thread.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_linux() -> *mut Thread {
    super::by_number(0).pointer()
}

/// Returns whether two threads are the same.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_equal(one: *const Thread, other: *const Thread) -> c_int {
    c_int::from(core::ptr::eq(one, other))
}

/// Sets a thread's priority.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_setschedparam(thread: *const Thread, _: c_int, parameters: &SchedParam) -> c_int {
    let Some(thread) = by_pointer(thread) else { return ESRCH };
    if !prio_ok(parameters.sched_priority) {
        return EINVAL;
    }
    lock::with(|token| {
        thread.priority.set(token, parameters.sched_priority as u32);
        thread.show_priority(parameters.sched_priority as u32);
        crate::sync::mutex::refresh_ceiling(token, thread);
    });
    0
}

/// A thread's priority, without what it inherits.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_getschedparam(
    thread: *const Thread,
    policy: Option<&mut c_int>,
    parameters: &mut SchedParam,
) -> c_int {
    let Some(thread) = by_pointer(thread) else { return ESRCH };
    if let Some(policy) = policy {
        *policy = SCHED_FIFO;
    }
    parameters.sched_priority = lock::with(|token| thread.priority.get(token)) as c_int;
    0
}

/// Sets a thread's priority alone.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_setschedprio(thread: *const Thread, priority: c_int) -> c_int {
    pthread_setschedparam(thread, SCHED_FIFO, &SchedParam { sched_priority: priority })
}

/// Lets other threads of the same priority go first.
#[unsafe(no_mangle)]
pub extern "C" fn sched_yield() -> c_int {
    call::yield_now();
    signal::after_wait();
    use_up_wakeup(current());
    0
}

/// As [`sched_yield`].
#[unsafe(no_mangle)]
pub extern "C" fn pthread_yield() -> c_int {
    sched_yield()
}

/// Delivers signals that the program has marked as pending itself, and lets more urgent threads
/// run. Returns the caller's pending signals and clears its wake-up.
#[unsafe(no_mangle)]
pub extern "C" fn rtl_schedule() -> c_int {
    lock::with(|token| super::all().iter().for_each(|thread| signal::notice(token, thread)));
    signal::after_wait();
    let me = current();
    let pending = me.pending.load(Relaxed);
    use_up_wakeup(me);
    pending as c_int
}

/// Highest priority.
#[unsafe(no_mangle)]
pub extern "C" fn sched_get_priority_max(_: c_int) -> c_int {
    PRIORITY_MAX as c_int
}

/// Lowest priority.
#[unsafe(no_mangle)]
pub extern "C" fn sched_get_priority_min(_: c_int) -> c_int {
    0
}

/// Always fails: there are no time slices.
#[unsafe(no_mangle)]
pub extern "C" fn sched_rr_get_interval(_: c_int, _: usize) -> c_int {
    fail(crate::error::ENOSYS)
}

/// All threads may use floating point.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_setfp_np(thread: *const Thread, _: c_int) -> c_int {
    by_pointer(thread).map_or(ESRCH, |_| 0)
}
