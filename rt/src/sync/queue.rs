//! RTLinux's own queues of waiting threads.

use crate::wait::{How, Queue, Wake, block};
use crate::{lock, signal};
use core::ffi::{c_int, c_void};
use pillion_abi::NEVER;

/// Initializes an empty queue, an `rtl_wait_t`.
///
/// # Safety
/// `queue` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rtl_wait_init(queue: *mut Queue) {
    // SAFETY: the caller's promise.
    unsafe { queue.write(Queue::new()) };
}

/// Waits in a queue. Releases the caller's spin lock meanwhile, as it does all spin locks. Returns
/// a positive number if a signal ended the wait.
#[unsafe(no_mangle)]
pub extern "C" fn rtl_wait_sleep(queue: &Queue, _: *mut c_void) -> c_int {
    let wake = block(lock::enter(), Some(queue), How::POINT, NEVER);
    signal::after_wait();
    c_int::from(wake == Wake::Interrupted)
}

/// Wakes all threads in a queue.
#[unsafe(no_mangle)]
pub extern "C" fn rtl_wait_wakeup(queue: &Queue) {
    lock::with(|token| queue.wake_all(token));
}
