//! Blocking signals, and waiting for them.

use super::{USER_BITS, after_wait, deliverable};
use crate::error::{EFAULT, EINTR, EINVAL, fail};
use crate::lock;
use crate::thread::{Thread, current};
use crate::wait::{How, block};
use core::ffi::{c_int, c_ulong};
use core::sync::atomic::Ordering::Relaxed;
use pillion_abi::NEVER;

const SIG_BLOCK: c_int = 0;
const SIG_UNBLOCK: c_int = 1;
const SIG_SETMASK: c_int = 2;

/// Replaces the program's signals in the caller's mask.
fn set_mask(me: &Thread, mask: u64) {
    let others = me.masked.load(Relaxed) & !USER_BITS;
    me.masked.store(others | mask & USER_BITS, Relaxed);
}

/// Blocks all of the program's signals.
pub(crate) fn mask_all(me: &Thread) {
    me.masked.fetch_or(USER_BITS, Relaxed);
}

/// Changes which signals the caller blocks. Returns 0 or an error number.
///
/// # Safety
/// `set` is null or readable, `old` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_sigmask(how: c_int, set: *const c_ulong, old: *mut c_ulong) -> c_int {
    let me = current();
    let mask = me.masked.load(Relaxed) & USER_BITS;
    // SAFETY: the caller's promise.
    if let Some(old) = unsafe { old.as_mut() } {
        *old = mask;
    }
    // SAFETY: as above.
    let Some(&set) = (unsafe { set.as_ref() }) else { return EFAULT };
    match how {
        SIG_BLOCK => set_mask(me, mask | set),
        SIG_UNBLOCK => set_mask(me, mask & !set),
        SIG_SETMASK => set_mask(me, set),
        _ => return EINVAL,
    }
    after_wait();
    0
}

/// As [`pthread_sigmask`], with -1 and errno.
///
/// # Safety
/// As there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sigprocmask(how: c_int, set: *const c_ulong, old: *mut c_ulong) -> c_int {
    // SAFETY: the caller's promise.
    match unsafe { pthread_sigmask(how, set, old) } {
        0 => 0,
        number => fail(number),
    }
}

/// Waits for a signal with another mask, and returns when its handler has run.
///
/// # Safety
/// `mask` is null or readable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sigsuspend(mask: *const c_ulong) -> c_int {
    // SAFETY: the caller's promise.
    let Some(&mask) = (unsafe { mask.as_ref() }) else { return fail(EFAULT) };
    let me = current();
    let before = me.masked.load(Relaxed);
    set_mask(me, mask);
    lock::with(|token| me.awaits.set(token, USER_BITS & !mask));
    loop {
        let token = lock::enter();
        if deliverable(&token, me) & How::POINT.signals != 0 {
            break;
        }
        block(token, None, How::POINT, NEVER);
    }
    after_wait();
    set_mask(me, before);
    after_wait();
    fail(EINTR)
}

/// Waits for any signal that has a handler.
#[unsafe(no_mangle)]
pub extern "C" fn pause() -> c_int {
    let mask = current().masked.load(Relaxed);
    // SAFETY: the mask is a variable here.
    unsafe { sigsuspend(&raw const mask) }
}

/// The caller's pending signals, blocked or not.
#[unsafe(no_mangle)]
pub extern "C" fn sigpending(set: Option<&mut c_ulong>) -> c_int {
    let Some(set) = set else { return fail(EFAULT) };
    *set = current().pending.load(Relaxed) & USER_BITS;
    0
}
