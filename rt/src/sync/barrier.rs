//! Barriers.

use crate::cell::Guarded;
use crate::error::{EBUSY, EINVAL, number};
use crate::lock;
use crate::wait::{How, Queue, Wake, block_and_return, run_handlers};
use core::ffi::{c_int, c_uint, c_void};
use pillion_abi::NEVER;

/// `PTHREAD_BARRIER_SERIAL_THREAD`.
const SERIAL: c_int = -1;

/// `pthread_barrier_t`; also in `pthread.h`.
#[repr(C)]
#[derive(Debug)]
pub struct Barrier {
    /// How many threads the barrier waits for.
    count: Guarded<c_uint>,
    /// Threads at the barrier; one that ends while it waits no longer counts.
    queue: Queue,
}

/// Creates a barrier for `count` threads.
///
/// # Safety
/// `barrier` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_barrier_init(barrier: *mut Barrier, _: *const c_void, count: c_uint) -> c_int {
    if count == 0 {
        return EINVAL;
    }
    // SAFETY: the caller's promise.
    unsafe { barrier.write(Barrier { count: Guarded::new(count), queue: Queue::new() }) };
    0
}

/// Destroys a barrier unless a thread waits at it.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_barrier_destroy(barrier: &Barrier) -> c_int {
    lock::with(|token| if barrier.queue.is_empty(token) { 0 } else { EBUSY })
}

/// Waits until all threads have come; one of them gets `PTHREAD_BARRIER_SERIAL_THREAD`.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_barrier_wait(barrier: &Barrier) -> c_int {
    let mut token = lock::enter();
    // After a signal handler, the thread arrives again.
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

/// Initializes the attributes: threads of this task only.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_barrierattr_init(attributes: &mut c_int) -> c_int {
    *attributes = 0;
    0
}

/// Does nothing: attributes hold no resources.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_barrierattr_destroy(_: &mut c_int) -> c_int {
    0
}

/// Stores the process-shared attribute, which has no effect.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_barrierattr_setpshared(attributes: &mut c_int, shared: c_int) -> c_int {
    number((shared == 0 || shared == 1).then(|| *attributes = shared).ok_or(EINVAL))
}

/// Gets the process-shared attribute.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_barrierattr_getpshared(attributes: &c_int, shared: &mut c_int) -> c_int {
    *shared = *attributes;
    0
}
