//! `pthread_mutex_*`.

use super::mutex::{Mutex, flag, settle};
use super::mutex_attributes::Attributes;
use super::{deadline_of, prio_ok};
use crate::error::{EBUSY, EINVAL, EOWNERDEAD, number};
use crate::lock::{self, Token};
use crate::time::Timespec;
use core::{ffi::c_int, sync::atomic::Ordering::Relaxed};
use pillion_abi::NEVER;

/// Creates a mutex.
///
/// # Safety
/// `mutex` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_mutex_init(mutex: *mut Mutex, attributes: Option<&Attributes>) -> c_int {
    let (flags, ceiling) = attributes.map_or((0, 0), |a| (a.flags, a.ceiling));
    // SAFETY: the caller's promise.
    unsafe { mutex.write(Mutex::new(flags, ceiling)) };
    0
}

/// Destroys a mutex unless a thread has it.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_mutex_destroy(mutex: &Mutex) -> c_int {
    lock::with(|_| {
        if mutex.is_taken() {
            return EBUSY;
        }
        mutex.flags.fetch_or(flag::DESTROYED, Relaxed);
        0
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn pthread_mutex_lock(mutex: &Mutex) -> c_int {
    if mutex.take_fast() { 0 } else { lock_slowly(mutex) }
}

#[inline(never)]
fn lock_slowly(mutex: &Mutex) -> c_int {
    number(lock_until(mutex, lock::enter(), NEVER))
}

/// Takes a mutex, and with a spin lock the task's lock as well: it is entered before the wait, so
/// that the thread has it again when it goes on.
fn lock_until(mutex: &Mutex, token: Token, deadline: u64) -> Result<(), c_int> {
    if !is_spinlock(mutex) {
        return mutex.lock(token, deadline);
    }
    lock::enter_open();
    let result = mutex.lock(token, deadline);
    if !is_taken(result) {
        // SAFETY: this function entered it.
        unsafe { lock::leave_open() };
    }
    result
}

/// Whether the caller has the mutex: also if it has to repair what the mutex protects.
fn is_taken(result: Result<(), c_int>) -> bool {
    matches!(result, Ok(()) | Err(EOWNERDEAD))
}

/// Takes a mutex if it is free.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_mutex_trylock(mutex: &Mutex) -> c_int {
    if mutex.take_fast() {
        return 0;
    }
    number(lock::with(|token| try_take(mutex, token)))
}

fn try_take(mutex: &Mutex, token: &Token) -> Result<(), c_int> {
    let result = mutex.try_take(token);
    if is_taken(result) && is_spinlock(mutex) {
        lock::enter_open();
    }
    result
}

/// Takes a mutex, and gives up when the scheduler's clock reaches a time.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_mutex_timedlock(mutex: &Mutex, time: &Timespec) -> c_int {
    if mutex.take_fast() {
        return 0;
    }
    let token = lock::enter();
    match deadline_of(&token, time) {
        Ok(deadline) => number(lock_until(mutex, token, deadline)),
        Err(error) => number(try_take(mutex, &token).map_err(|e| if e == EBUSY { error } else { e })),
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn pthread_mutex_unlock(mutex: &Mutex) -> c_int {
    if mutex.release_fast() { 0 } else { unlock_slowly(mutex) }
}

#[inline(never)]
fn unlock_slowly(mutex: &Mutex) -> c_int {
    let result = lock::with(|token| mutex.release(token));
    if result.is_ok() && is_spinlock(mutex) {
        // SAFETY: the thread that took the mutex entered the lock, and the program releases such a
        // mutex in the thread that took it.
        unsafe { lock::leave_open() };
    }
    settle();
    number(result)
}

/// Declares what a mutex protects to be consistent again, after its owner ended.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_mutex_consistent(mutex: &Mutex) -> c_int {
    number(lock::with(|token| mutex.repaired(token)))
}

#[unsafe(no_mangle)]
pub extern "C" fn pthread_mutex_getprioceiling(mutex: &Mutex, ceiling: &mut c_int) -> c_int {
    *ceiling = lock::with(|token| mutex.ceiling.get(token)) as c_int;
    if mutex.flags.load(Relaxed) & flag::PROTECT != 0 { 0 } else { EINVAL }
}

#[unsafe(no_mangle)]
pub extern "C" fn pthread_mutex_setprioceiling(mutex: &Mutex, ceiling: c_int, old: Option<&mut c_int>) -> c_int {
    if !prio_ok(ceiling) || mutex.flags.load(Relaxed) & flag::PROTECT == 0 {
        return EINVAL;
    }
    let was = lock::with(|token| mutex.set_ceiling(token, ceiling as u32));
    if let Some(old) = old {
        *old = was as c_int;
    }
    0
}

fn is_spinlock(mutex: &Mutex) -> bool {
    mutex.flags.load(Relaxed) & flag::TYPE == flag::SPINLOCK
}
