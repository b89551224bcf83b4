//! Spin locks.
//!
//! A spin lock switches interrupts off, that is, takes the task's lock; nobody else of the task
//! runs meanwhile, so that it never spins.

use crate::{
    cell::Guarded,
    error::{EBUSY, EDEADLK},
    lock,
};
use core::ffi::c_int;

/// `pthread_spinlock_t` and `spinlock_t`; also in `rtl_sync.h`. Zeros are a free one.
#[repr(C)]
#[derive(Debug)]
pub struct Spin {
    taken: Guarded<c_int>,
}

/// Makes a spin lock.
///
/// # Safety
///
/// `spin` is to be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_spin_init(spin: *mut Spin, _: c_int) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { spin.write(Spin { taken: Guarded::new(0) }) };
    0
}

/// Ends a spin lock.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_spin_destroy(spin: &Spin) -> c_int {
    lock::with(|token| if spin.taken.get(token) == 0 { 0 } else { EBUSY })
}

fn take(spin: &Spin, refused: c_int) -> c_int {
    lock::enter_open();
    let taken = lock::with(|token| spin.taken.replace(token, 1));
    if taken == 0 {
        return 0;
    }
    // Only the caller itself can have it.
    lock::leave_open();
    refused
}

/// Takes it.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_spin_lock(spin: &Spin) -> c_int {
    take(spin, EDEADLK)
}

/// Takes it if it is free.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_spin_trylock(spin: &Spin) -> c_int {
    take(spin, EBUSY)
}

/// Releases it.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_spin_unlock(spin: &Spin) -> c_int {
    if lock::with(|token| spin.taken.replace(token, 0)) != 0 {
        lock::leave_open();
    }
    0
}

/// RTLinux's name for [`pthread_spin_lock`]. A thread that has it already goes on: spinning would
/// never end.
#[unsafe(no_mangle)]
pub extern "C" fn rtl_spin_take(spin: &Spin) {
    take(spin, EDEADLK);
}

/// Takes it if it is free; 1 if it was.
#[unsafe(no_mangle)]
pub extern "C" fn rtl_spin_try(spin: &Spin) -> c_int {
    c_int::from(take(spin, EBUSY) == 0)
}

/// RTLinux's name for [`pthread_spin_unlock`].
#[unsafe(no_mangle)]
pub extern "C" fn rtl_spin_give(spin: &Spin) {
    pthread_spin_unlock(spin);
}
