//! Cancellation.

use super::{Thread, by_pointer, current, end::pthread_exit};
use crate::error::{EINVAL, ESRCH, number};
use crate::lock;
use crate::signal::{self, CANCEL, CANCEL_BIT};
use core::ffi::{c_int, c_void};
use core::sync::atomic::Ordering::Relaxed;

/// Result of a cancelled thread, for `pthread_join`.
const CANCELED: *mut c_void = usize::MAX as *mut c_void;

/// `PTHREAD_CANCEL_DISABLE`; `PTHREAD_CANCEL_ENABLE` is 0.
const DISABLE: c_int = 1;

/// `PTHREAD_CANCEL_ASYNCHRONOUS`; `PTHREAD_CANCEL_DEFERRED` is 0.
const ASYNCHRONOUS: c_int = 1;

/// Cancels a thread: it ends at its next cancellation point.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_cancel(thread: *const Thread) -> c_int {
    let Some(thread) = by_pointer(thread).filter(|t| t.number() != 0) else { return ESRCH };
    lock::with(|token| signal::send(token, thread, CANCEL));
    if core::ptr::eq(thread, current()) && thread.asynchronous.load(Relaxed) {
        cancel_point();
    }
    0
}

/// Ends the calling thread if it was cancelled and cancellation is enabled.
#[inline]
pub fn cancel_point() {
    let me = current();
    if me.pending.load(Relaxed) & !me.masked.load(Relaxed) & CANCEL_BIT != 0 {
        pthread_exit(CANCELED);
    }
}

/// Ends the calling thread if it was cancelled and cancellation is enabled.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_testcancel() {
    cancel_point();
}

/// Enables or disables cancellation.
///
/// # Safety
/// `old` is null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_setcancelstate(state: c_int, old: *mut c_int) -> c_int {
    let me = current();
    let was = c_int::from(me.masked.load(Relaxed) & CANCEL_BIT != 0);
    match state {
        DISABLE => {
            me.masked.fetch_or(CANCEL_BIT, Relaxed);
        }
        0 if !me.ending.load(Relaxed) => {
            me.masked.fetch_and(!CANCEL_BIT, Relaxed);
        }
        0 => {}
        _ => return EINVAL,
    }
    // SAFETY: the caller's promise.
    unsafe { put(old, was) };
    if me.asynchronous.load(Relaxed) {
        cancel_point();
    }
    0
}

/// Chooses between cancellation at the next cancellation point and at once, which means at the
/// thread's next call of this library.
///
/// # Safety
/// `old` is null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_setcanceltype(kind: c_int, old: *mut c_int) -> c_int {
    if kind != 0 && kind != ASYNCHRONOUS {
        return number(Err(EINVAL));
    }
    let me = current();
    // SAFETY: the caller's promise.
    unsafe { put(old, c_int::from(me.asynchronous.load(Relaxed))) };
    me.asynchronous.store(kind == ASYNCHRONOUS, Relaxed);
    if kind == ASYNCHRONOUS {
        cancel_point();
    }
    0
}

/// # Safety
/// `to` is null or writable.
unsafe fn put(to: *mut c_int, value: c_int) {
    // SAFETY: the caller's promise.
    if let Some(to) = unsafe { to.as_mut() } {
        *to = value;
    }
}
