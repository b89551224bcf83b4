//! Semaphores. Operations on named ones are in `by_handle`.
//!
//! While no thread waits, the value goes up and down by compare-and-swap. It is negative while a
//! thread may wait; then the task's lock protects it, and a post hands over to the most urgent
//! waiter.

use super::{by_handle, deadline_of};
use crate::cell::Guarded;
use crate::error::{EAGAIN, EBUSY, EINTR, EINVAL, ETIMEDOUT, posix};
use crate::lock::{self, Token};
use crate::time::Timespec;
use crate::wait::{How, Queue, Wake, block};
use crate::{signal, thread};
use core::ffi::{c_int, c_uint};
use core::sync::atomic::AtomicI32;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use pillion_abi::NEVER;

/// The value while a thread may wait; it counts as 0.
const WAITED_FOR: c_int = -1;

/// `sem_t`; also in `semaphore.h`.
#[repr(C)]
#[derive(Debug)]
pub struct Semaphore {
    value: AtomicI32,
    /// The broker's handle of a named semaphore plus one, or 0.
    pub(crate) named: Guarded<c_int>,
    queue: Queue,
}

impl Semaphore {
    /// Creates one with an initial value.
    pub const fn new(value: c_int) -> Semaphore {
        Semaphore { value: AtomicI32::new(value), named: Guarded::new(0), queue: Queue::new() }
    }

    /// Creates one that stands for a named semaphore, given the broker's handle. Its value stays
    /// [`WAITED_FOR`]: no operation succeeds by the value alone, and each goes on to look at the
    /// name.
    pub(crate) const fn with_name(handle: u32) -> Semaphore {
        Semaphore { value: AtomicI32::new(WAITED_FOR), named: Guarded::new(handle as c_int + 1), queue: Queue::new() }
    }

    /// The broker's handle, if it stands for a named semaphore.
    #[inline]
    fn name(&self, token: &Token) -> Option<u32> {
        let named = self.named.get(token);
        (named != 0).then(|| named as u32 - 1)
    }

    /// Decrements the value if it is positive.
    #[inline]
    fn try_take(&self) -> bool {
        let mut value = self.value.load(Relaxed);
        while value > 0 {
            match self.value.compare_exchange_weak(value, value - 1, Acquire, Relaxed) {
                Ok(_) => return true,
                Err(now) => value = now,
            }
        }
        false
    }

    /// Decrements the value, waiting if necessary: a post hands over to a waiter.
    #[inline]
    pub fn take(&self, token: Token, deadline: u64) -> Result<(), c_int> {
        while self.value.compare_exchange(0, WAITED_FOR, Relaxed, Relaxed).is_err_and(|value| value != WAITED_FOR) {
            if self.try_take() {
                return Ok(());
            }
        }
        match block(token, Some(&self.queue), How::POINT, deadline) {
            Wake::Woken => {
                thread::current().claims.semaphore.clear();
                Ok(())
            }
            Wake::TimedOut => Err(ETIMEDOUT),
            Wake::Interrupted => Err(EINTR),
        }
    }

    /// Increments the value if no thread waits; returns false if one may.
    #[inline]
    fn try_post(&self) -> Result<bool, c_int> {
        let mut value = self.value.load(Relaxed);
        while value >= 0 {
            let more = value.checked_add(1).ok_or(EAGAIN)?;
            match self.value.compare_exchange_weak(value, more, Release, Relaxed) {
                Ok(_) => return Ok(true),
                Err(now) => value = now,
            }
        }
        Ok(false)
    }

    /// Increments the value, or hands over to the most urgent waiter.
    #[inline]
    pub fn post(&self, token: &Token) -> Result<(), c_int> {
        while !self.try_post()? {
            let woken = self.queue.wake_one(token);
            if self.queue.is_empty(token) {
                self.value.store(0, Relaxed);
            }
            if let Some(woken) = woken {
                woken.claims.semaphore.set(self);
                break;
            }
        }
        Ok(())
    }
}

/// Creates a semaphore.
///
/// # Safety
/// `semaphore` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sem_init(semaphore: *mut Semaphore, _: c_int, value: c_uint) -> c_int {
    let Ok(value) = c_int::try_from(value) else { return posix(Err(EINVAL)) };
    // SAFETY: the caller's promise.
    unsafe { semaphore.write(Semaphore::new(value)) };
    0
}

/// Destroys a semaphore unless a thread waits for it.
#[unsafe(no_mangle)]
pub extern "C" fn sem_destroy(semaphore: &Semaphore) -> c_int {
    let empty = lock::with(|token| semaphore.queue.is_empty(token));
    posix(if empty { Ok(()) } else { Err(EBUSY) })
}

/// The value.
#[unsafe(no_mangle)]
pub extern "C" fn sem_getvalue(semaphore: &Semaphore, value: &mut c_int) -> c_int {
    if let Some(name) = lock::with(|token| semaphore.name(token)) {
        return posix(by_handle::value(name).map(|found| *value = found));
    }
    *value = semaphore.value.load(Relaxed).max(0);
    0
}

/// Decrements the semaphore, waiting if necessary.
#[unsafe(no_mangle)]
pub extern "C" fn sem_wait(semaphore: &Semaphore) -> c_int {
    signal::after_wait();
    if semaphore.try_take() {
        return 0;
    }
    let token = lock::enter();
    let result = match semaphore.name(&token) {
        None => semaphore.take(token, NEVER),
        Some(name) => {
            drop(token);
            by_handle::wait(name, Ok(NEVER))
        }
    };
    finish(result)
}

/// As [`sem_wait`], until the scheduler's clock reaches a time.
#[unsafe(no_mangle)]
pub extern "C" fn sem_timedwait(semaphore: &Semaphore, time: &Timespec) -> c_int {
    signal::after_wait();
    if semaphore.try_take() {
        return 0;
    }
    let token = lock::enter();
    if let Some(name) = semaphore.name(&token) {
        let deadline = deadline_of(&token, time);
        drop(token);
        return finish(by_handle::wait(name, deadline));
    }
    let result = deadline_of(&token, time).and_then(|deadline| semaphore.take(token, deadline));
    finish(result)
}

#[inline]
fn finish(result: Result<(), c_int>) -> c_int {
    signal::after_result(&result);
    posix(result)
}

/// Decrements the semaphore if that is possible without waiting.
#[unsafe(no_mangle)]
pub extern "C" fn sem_trywait(semaphore: &Semaphore) -> c_int {
    if semaphore.try_take() {
        return 0;
    }
    let name = lock::with(|token| semaphore.name(token));
    posix(name.map_or(Err(EAGAIN), by_handle::try_wait))
}

/// Increments the semaphore. A more urgent waiter runs at once.
#[unsafe(no_mangle)]
pub extern "C" fn sem_post(semaphore: &Semaphore) -> c_int {
    match semaphore.try_post() {
        Ok(true) => 0,
        Ok(false) => post_slowly(semaphore),
        Err(error) => posix(Err(error)),
    }
}

#[inline(never)]
fn post_slowly(semaphore: &Semaphore) -> c_int {
    let token = lock::enter();
    if let Some(name) = semaphore.name(&token) {
        drop(token);
        return posix(by_handle::post(name));
    }
    posix(semaphore.post(&token))
}
