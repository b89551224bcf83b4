//! Suspending and waking threads.

use super::{Thread, by_pointer, cancel_point, current, stop};
use crate::error::ESRCH;
use crate::lock;
use crate::signal::{self, WAKEUP, WAKEUP_BIT};
use crate::wait::{self, How};
use core::{ffi::c_int, sync::atomic::Ordering::Relaxed};
use pillion_abi::NEVER;

/// Suspends a thread until it is woken; one that suspends itself, not if a wake-up is pending.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_suspend_np(thread: *const Thread) -> c_int {
    let Some(thread) = by_pointer(thread) else { return 0 };
    if !core::ptr::eq(thread, current()) {
        lock::with(|token| signal::send(token, thread, signal::SUSPEND));
        return 0;
    }
    cancel_point();
    suspend_self();
    0
}

pub(crate) fn suspend_self() {
    let me = current();
    wait::block(lock::enter(), None, How::SUSPENDED, NEVER);
    me.pending.fetch_and(!WAKEUP_BIT, Relaxed);
    signal::after_wait();
}

/// Wakes a thread that is suspended, or that waits for its period or for a point in time. It runs
/// at once if it is more urgent than the caller. Clears the caller's own pending wake-up.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_wakeup_np(thread: *const Thread) -> c_int {
    let Some(thread) = by_pointer(thread) else { return ESRCH };
    lock::with(|token| signal::send(token, thread, WAKEUP));
    use_up_wakeup(current());
    0
}

/// Clears a pending wake-up: a running thread has no use for it, and RTLinux's scheduler clears it
/// when it chooses the thread. It is kept while a signal handler runs inside a wait, so that the
/// handler can end that wait.
pub(super) fn use_up_wakeup(me: &Thread) {
    if me.pending.load(Relaxed) & WAKEUP_BIT != 0 && !me.between_waits.load(Relaxed) {
        me.pending.fetch_and(!WAKEUP_BIT, Relaxed);
    }
}

/// Resumes a thread that another one suspended.
pub(crate) fn resume(token: &lock::Token, thread: &'static Thread) -> bool {
    stop::resume(token, thread)
}

pub(crate) fn suspend_other(token: &lock::Token, thread: &'static Thread) {
    if thread.number() != 0 {
        stop::suspend(token, thread);
    }
}
