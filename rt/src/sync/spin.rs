//! Spin locks.
//!
//! Taking a spin lock switches interrupts off, that is, takes the task's lock, and waits for it.
//! Who has that has all spin locks of the task, so it never spins.

use crate::cell::Guarded;
use crate::error::{EBUSY, EDEADLK};
use crate::lock;
use core::ffi::c_int;

/// `pthread_spinlock_t` and `spinlock_t`; also in `rtl_sync.h`. Zeros are a free lock.
#[repr(C)]
#[derive(Debug)]
pub struct Spin {
    taken: Guarded<c_int>,
}

/// Creates a spin lock.
///
/// # Safety
/// `spin` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_spin_init(spin: *mut Spin, _: c_int) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { spin.write(Spin { taken: Guarded::new(0) }) };
    0
}

/// Destroys a spin lock.
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
    // Only the caller itself can have the lock.
    // SAFETY: this function entered it.
    unsafe { lock::leave_open() };
    refused
}

/// Takes a spin lock.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_spin_lock(spin: &Spin) -> c_int {
    take(spin, EDEADLK)
}

/// Takes a spin lock if it is free.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_spin_trylock(spin: &Spin) -> c_int {
    take(spin, EBUSY)
}

/// Releases a spin lock.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_spin_unlock(spin: &Spin) -> c_int {
    if lock::with(|token| spin.taken.replace(token, 0)) != 0 {
        // SAFETY: the thread that took the spin lock entered the task's lock, and the program
        // releases a spin lock in the thread that took it.
        unsafe { lock::leave_open() };
    }
    0
}

/// RTLinux's name for [`pthread_spin_lock`]. A thread that already has the lock continues: spinning
/// would never end.
#[unsafe(no_mangle)]
pub extern "C" fn rtl_spin_take(spin: &Spin) {
    take(spin, EDEADLK);
}

/// Takes a spin lock if it is free; returns 1 if it was.
#[unsafe(no_mangle)]
pub extern "C" fn rtl_spin_try(spin: &Spin) -> c_int {
    c_int::from(take(spin, EBUSY) == 0)
}

/// RTLinux's name for [`pthread_spin_unlock`].
#[unsafe(no_mangle)]
pub extern "C" fn rtl_spin_give(spin: &Spin) {
    pthread_spin_unlock(spin);
}
