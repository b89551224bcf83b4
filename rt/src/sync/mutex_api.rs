//! `pthread_mutex_*`.

use super::{
    deadline_of,
    mutex::{Mutex, flag, settle},
    mutex_attributes::Attributes,
    prio_ok,
};
use crate::{
    error::{EBUSY, EINVAL, number},
    lock,
    time::Timespec,
};
use core::{ffi::c_int, sync::atomic::Ordering::Relaxed};
use pillion_abi::NEVER;

/// Creates a mutex.
///
/// # Safety
///
/// `mutex` is writable, `attributes` null or readable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_mutex_init(mutex: *mut Mutex, attributes: *const Attributes) -> c_int {
    // SAFETY: the caller's promise.
    let (flags, ceiling) = unsafe { attributes.as_ref() }.map_or((0, 0), |a| (a.flags, a.ceiling));
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

/// Takes a mutex.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_mutex_lock(mutex: &Mutex) -> c_int {
    if mutex.take_fast() { 0 } else { lock_slowly(mutex) }
}

#[inline(never)]
fn lock_slowly(mutex: &Mutex) -> c_int {
    if is_spinlock(mutex) {
        lock::enter_open();
    }
    number(mutex.lock(lock::enter(), NEVER))
}

/// Takes a mutex if it is free.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_mutex_trylock(mutex: &Mutex) -> c_int {
    if mutex.take_fast() {
        return 0;
    }
    let result = lock::with(|token| mutex.try_take(token));
    if result.is_ok() && is_spinlock(mutex) {
        lock::enter_open();
    }
    number(result)
}

/// Takes a mutex, and gives up when the scheduler's clock reaches a time.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_mutex_timedlock(mutex: &Mutex, time: &Timespec) -> c_int {
    if mutex.take_fast() {
        return 0;
    }
    let token = lock::enter();
    match deadline_of(&token, time) {
        Ok(deadline) => number(mutex.lock(token, deadline)),
        Err(error) => mutex.try_take(&token).map_or_else(|e| if e == EBUSY { error } else { e }, |()| 0),
    }
}

/// Releases a mutex.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_mutex_unlock(mutex: &Mutex) -> c_int {
    if mutex.release_fast() { 0 } else { unlock_slowly(mutex) }
}

#[inline(never)]
fn unlock_slowly(mutex: &Mutex) -> c_int {
    let result = lock::with(|token| mutex.release(token));
    if result.is_ok() && is_spinlock(mutex) {
        lock::leave_open();
    }
    settle();
    number(result)
}

/// Declares what a mutex protects to be consistent again, after its owner ended.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_mutex_consistent(mutex: &Mutex) -> c_int {
    number(lock::with(|token| mutex.repaired(token)))
}

/// The ceiling of a mutex.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_mutex_getprioceiling(mutex: &Mutex, ceiling: &mut c_int) -> c_int {
    *ceiling = lock::with(|token| mutex.ceiling.get(token)) as c_int;
    if mutex.flags.load(Relaxed) & flag::PROTECT != 0 { 0 } else { EINVAL }
}

/// Sets the ceiling of a mutex.
///
/// # Safety
///
/// `old` is null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_mutex_setprioceiling(mutex: &Mutex, ceiling: c_int, old: *mut c_int) -> c_int {
    if !prio_ok(ceiling) || mutex.flags.load(Relaxed) & flag::PROTECT == 0 {
        return EINVAL;
    }
    let was = lock::with(|token| mutex.set_ceiling(token, ceiling as u32));
    // SAFETY: the caller's promise.
    if let Some(old) = unsafe { old.as_mut() } {
        *old = was as c_int;
    }
    0
}

fn is_spinlock(mutex: &Mutex) -> bool {
    mutex.flags.load(Relaxed) & flag::TYPE == flag::SPINLOCK
}
