//! Barriers.

use crate::{
    cell::Guarded,
    error::{EBUSY, EINVAL, number},
    lock,
    wait::{How, Queue, Wake, block_and_return, run_handlers},
};
use core::ffi::{c_int, c_uint, c_void};
use pillion_abi::NEVER;

/// `PTHREAD_BARRIER_SERIAL_THREAD`.
const SERIAL: c_int = -1;

/// `pthread_barrier_t`; also in `pthread.h`.
#[repr(C)]
#[derive(Debug)]
pub struct Barrier {
    /// How many come together.
    count: Guarded<c_uint>,
    /// Those who have come; one that ends while it waits has not.
    queue: Queue,
}

/// Makes a barrier for so many threads.
///
/// # Safety
///
/// `barrier` is to be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_barrier_init(barrier: *mut Barrier, _: *const c_void, count: c_uint) -> c_int {
    if count == 0 {
        return EINVAL;
    }
    // SAFETY: the caller's promise.
    unsafe { barrier.write(Barrier { count: Guarded::new(count), queue: Queue::new() }) };
    0
}

/// Ends a barrier that nobody waits at.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_barrier_destroy(barrier: &Barrier) -> c_int {
    lock::with(|token| if barrier.queue.is_empty(token) { 0 } else { EBUSY })
}

/// Waits until all have come; one of them gets `PTHREAD_BARRIER_SERIAL_THREAD`.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_barrier_wait(barrier: &Barrier) -> c_int {
    let mut token = lock::enter();
    // After the handler of a signal the thread comes anew.
    while barrier.queue.set(&token).count_ones() + 1 < barrier.count.get(&token) {
        let how = How::LOCK.if_handlers_run(&token);
        let wake;
        (token, wake) = block_and_return(token, Some(&barrier.queue), how, NEVER);
        if wake != Wake::Interrupted {
            return 0;
        }
        token = run_handlers(token);
    }
    barrier.queue.wake_all(&token);
    SERIAL
}

/// Barriers have no attributes but the one that all threads of the task can use them.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_barrierattr_init(attributes: &mut c_int) -> c_int {
    *attributes = 0;
    0
}

/// Nothing is kept for attributes.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_barrierattr_destroy(_: &mut c_int) -> c_int {
    0
}

/// Says who can use it.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_barrierattr_setpshared(attributes: &mut c_int, shared: c_int) -> c_int {
    number((shared == 0 || shared == 1).then(|| *attributes = shared).ok_or(EINVAL))
}

/// Who can use it?
#[unsafe(no_mangle)]
pub extern "C" fn pthread_barrierattr_getpshared(attributes: &c_int, shared: &mut c_int) -> c_int {
    *shared = *attributes;
    0
}
