//! Condition variables.

use super::mutex::{Mutex, settle};
use crate::error::{EBUSY, EINVAL, ETIMEDOUT, number};
use crate::lock::{self, Token};
use crate::signal;
use crate::time::Timespec;
use crate::time::clock::Clock;
use crate::time::clocks::{find, rtl_clock_realtime};
use crate::wait::{How, Queue, Wake, block};
use core::ffi::c_int;
use core::ptr::null_mut;
use core::sync::atomic::AtomicPtr;
use core::sync::atomic::Ordering::Relaxed;
use pillion_abi::NEVER;

/// `pthread_cond_t`; also in `pthread.h`. Zeros are a condition variable without waiters.
#[repr(C)]
#[derive(Debug)]
pub struct Cond {
    queue: Queue,
    /// Clock of timeouts; null for the scheduler's.
    clock: AtomicPtr<Clock>,
}

/// `pthread_condattr_t`; also in `pthread.h`.
#[repr(C)]
#[derive(Debug)]
pub struct Attributes {
    clock: *mut Clock,
}

/// Creates a condition variable.
///
/// # Safety
/// `cond` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_cond_init(cond: *mut Cond, attributes: Option<&Attributes>) -> c_int {
    let clock = attributes.map_or(null_mut(), |a| a.clock);
    // SAFETY: the caller's promise.
    unsafe { cond.write(Cond { queue: Queue::new(), clock: AtomicPtr::new(clock) }) };
    0
}

/// Destroys a condition variable unless a thread waits for it.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_cond_destroy(cond: &Cond) -> c_int {
    lock::with(|token| if cond.queue.is_empty(token) { 0 } else { EBUSY })
}

/// Releases the mutex, waits, and takes it again.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_cond_wait(cond: &Cond, mutex: &Mutex) -> c_int {
    signal::after_wait();
    number(wait(lock::enter(), cond, mutex, NEVER))
}

/// As [`pthread_cond_wait`], until the clock shows a time.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_cond_timedwait(cond: &Cond, mutex: &Mutex, time: &Timespec) -> c_int {
    signal::after_wait();
    let token = lock::enter();
    let clock = find(cond.clock.load(Relaxed)).unwrap_or(&rtl_clock_realtime);
    let Some(ns) = time.ns() else { return EINVAL };
    let deadline = clock.deadline(&token, ns);
    number(wait(token, cond, mutex, deadline))
}

fn wait(token: Token, cond: &Cond, mutex: &Mutex, deadline: u64) -> Result<(), c_int> {
    mutex.release(&token)?;
    let wake = block(token, Some(&cond.queue), How::POINT, deadline);
    settle();
    let taken = mutex.lock(lock::enter(), NEVER);
    // A cancelled thread ends here, holding the mutex as its cleanup handlers expect.
    signal::after_wait();
    taken?;
    if wake == Wake::TimedOut { Err(ETIMEDOUT) } else { Ok(()) }
}

/// Wakes all waiters, as RTLinux does and POSIX allows.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_cond_signal(cond: &Cond) -> c_int {
    pthread_cond_broadcast(cond)
}

/// Wakes all waiters.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_cond_broadcast(cond: &Cond) -> c_int {
    lock::with(|token| cond.queue.wake_all(token));
    0
}

/// Initializes the attributes: timeouts on the scheduler's clock.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_condattr_init(attributes: &mut Attributes) -> c_int {
    attributes.clock = null_mut();
    0
}

/// Does nothing: attributes hold no resources.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_condattr_destroy(_: &mut Attributes) -> c_int {
    0
}

/// Chooses the clock of timeouts.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_condattr_setclock(attributes: &mut Attributes, clock: *mut Clock) -> c_int {
    number(find(clock).map(|_| attributes.clock = clock).ok_or(EINVAL))
}

/// Changes nothing: all threads of this task can use it, and no others.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_condattr_setpshared(_: &mut Attributes, shared: c_int) -> c_int {
    number(if shared == 0 || shared == 1 { Ok(()) } else { Err(EINVAL) })
}

/// Always private to this task.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_condattr_getpshared(_: &Attributes, shared: &mut c_int) -> c_int {
    *shared = 0;
    0
}
