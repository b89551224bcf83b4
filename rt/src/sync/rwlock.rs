//! Read-write locks: many readers or one writer. Waiting writers go before new readers.

use super::deadline_of;
use crate::cell::Guarded;
use crate::error::{EBUSY, EPERM, ETIMEDOUT, number};
use crate::lock::{self, Token};
use crate::thread;
use crate::time::Timespec;
use crate::wait::{How, Queue, Wake, block_and_return, run_handlers};
use core::ffi::{c_int, c_void};
use pillion_abi::NEVER;

/// `pthread_rwlock_t`; also in `pthread.h`. Zeros are a free lock.
#[repr(C)]
#[derive(Debug)]
pub struct RwLock {
    /// Number of readers, or -1 for a writer.
    users: Guarded<i64>,
    readers: Queue,
    writers: Queue,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    Read,
    Write,
}

impl RwLock {
    fn try_take(&self, token: &Token, to: Use) -> bool {
        let users = self.users.get(token);
        let new = match to {
            Use::Read if users >= 0 && self.writers.is_empty(token) => users + 1,
            Use::Write if users == 0 => -1,
            _ => return false,
        };
        self.users.set(token, new);
        true
    }

    fn take(&self, mut token: Token, to: Use, deadline: Result<u64, c_int>) -> Result<(), c_int> {
        let queue = if to == Use::Read { &self.readers } else { &self.writers };
        let claim = &thread::current().claims.rwlock;
        let mut result = Ok(());
        while result.is_ok() && !self.try_take(&token, to) {
            claim.set(self);
            let wake;
            let how = How::LOCK.if_handlers_run(&token);
            (token, wake) = block_and_return(token, Some(queue), how, deadline.unwrap_or(0));
            if wake != Wake::Woken {
                self.wake(&token);
            }
            match wake {
                Wake::Woken => {}
                Wake::TimedOut => result = Err(deadline.err().unwrap_or(ETIMEDOUT)),
                Wake::Interrupted => {
                    claim.clear();
                    token = run_handlers(token);
                }
            }
        }
        claim.clear();
        result
    }

    /// Wakes the threads that can take the lock now.
    pub(super) fn wake(&self, token: &Token) {
        let users = self.users.get(token);
        if users >= 0 && self.writers.is_empty(token) {
            self.readers.wake_all(token);
        } else if users == 0 {
            self.writers.wake_one(token);
        }
    }

    fn release(&self, token: &Token) -> Result<(), c_int> {
        match self.users.get(token) {
            0 => return Err(EPERM),
            -1 => self.users.set(token, 0),
            readers => self.users.set(token, readers - 1),
        }
        self.wake(token);
        Ok(())
    }
}

/// Creates a lock.
///
/// # Safety
/// `it` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_rwlock_init(it: *mut RwLock, _: *const c_void) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { it.write(RwLock { users: Guarded::new(0), readers: Queue::new(), writers: Queue::new() }) };
    0
}

/// Destroys a lock unless a thread has it.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_rwlock_destroy(it: &RwLock) -> c_int {
    lock::with(|token| if it.users.get(token) == 0 { 0 } else { EBUSY })
}

fn try_lock(it: &RwLock, to: Use) -> c_int {
    lock::with(|token| if it.try_take(token, to) { 0 } else { EBUSY })
}

fn timed_lock(it: &RwLock, to: Use, time: &Timespec) -> c_int {
    let token = lock::enter();
    let deadline = deadline_of(&token, time);
    number(it.take(token, to, deadline))
}

/// Takes a lock as a reader.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_rwlock_rdlock(it: &RwLock) -> c_int {
    number(it.take(lock::enter(), Use::Read, Ok(NEVER)))
}

/// Takes a lock as the writer.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_rwlock_wrlock(it: &RwLock) -> c_int {
    number(it.take(lock::enter(), Use::Write, Ok(NEVER)))
}

/// Takes a lock as a reader if that is possible without waiting.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_rwlock_tryrdlock(it: &RwLock) -> c_int {
    try_lock(it, Use::Read)
}

/// Takes a lock as the writer if that is possible without waiting.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_rwlock_trywrlock(it: &RwLock) -> c_int {
    try_lock(it, Use::Write)
}

/// As [`pthread_rwlock_rdlock`], until the scheduler's clock reaches a time.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_rwlock_timedrdlock(it: &RwLock, time: &Timespec) -> c_int {
    timed_lock(it, Use::Read, time)
}

/// As [`pthread_rwlock_wrlock`], until the scheduler's clock reaches a time.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_rwlock_timedwrlock(it: &RwLock, time: &Timespec) -> c_int {
    timed_lock(it, Use::Write, time)
}

/// Releases a lock.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_rwlock_unlock(it: &RwLock) -> c_int {
    number(lock::with(|token| it.release(token)))
}
