//! Waiting for threads to end, and ending them.

use super::{Life, Thread, by_pointer, cancel_point, current, end, stop};
use crate::error::{EDEADLK, EINVAL, ESRCH};
use crate::lock::{self, Token};
use crate::wait::{How, Wake, block_and_return};
use core::ffi::{c_int, c_void};
use core::sync::atomic::Ordering::Relaxed;
use pillion_abi::NEVER;

/// Waits for a thread to end.
///
/// # Safety
/// `result` is null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_join(thread: *const Thread, result: *mut *mut c_void) -> c_int {
    cancel_point();
    let Some(thread) = by_pointer(thread) else { return ESRCH };
    if core::ptr::eq(thread, current()) {
        return EDEADLK;
    }
    let mut token = lock::enter();
    let identity = thread.identity();
    loop {
        // Another thread may have joined it.
        if thread.identity() != identity || thread.magic.load(Relaxed) != super::MAGIC {
            return ESRCH;
        }
        if thread.detached.get(&token) || thread.number() == 0 {
            return EINVAL;
        }
        if thread.life.get(&token) == Life::Ended {
            break;
        }
        let wake;
        (token, wake) = block_and_return(token, Some(&thread.joiners), How::POINT, NEVER);
        if wake == Wake::Interrupted {
            drop(token);
            cancel_point();
            token = lock::enter();
        }
    }
    let value = thread.result.load(Relaxed);
    stop::reap(&token, thread);
    drop(token);
    // SAFETY: the caller's promise.
    if let Some(result) = unsafe { result.as_mut() } {
        *result = value;
    }
    0
}

/// Declares that no thread will join this one.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_detach(thread: *const Thread) -> c_int {
    let Some(thread) = by_pointer(thread) else { return ESRCH };
    let token = lock::enter();
    match (thread.life.get(&token), thread.detached.replace(&token, true)) {
        (_, true) => EINVAL,
        (Life::Ended, false) => {
            stop::reap(&token, thread);
            0
        }
        _ => 0,
    }
}

/// Ends a thread wherever it stands, and frees what belongs to it.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_delete_np(thread: *const Thread) -> c_int {
    let Some(thread) = by_pointer(thread).filter(|t| t.number() != 0) else { return ESRCH };
    let token = lock::enter();
    if core::ptr::eq(thread, current()) {
        thread.detached.set(&token, true);
        drop(token);
        end::end_current();
    }
    delete(token, thread)
}

fn delete(mut token: Token, thread: &'static Thread) -> c_int {
    let identity = thread.identity();
    while identity.get(&token).is_some() && !stop::kill(&token, thread) {
        // The thread ends as soon as it can be stopped.
        (token, _) = block_and_return(token, Some(&thread.joiners), How::OBJECT, NEVER);
    }
    // Another thread may have freed it by now.
    let ended = matches!(thread.life.get(&token), Life::Ended | Life::Gone);
    if ended && thread.identity() == identity {
        stop::reap(&token, thread);
    }
    0
}
