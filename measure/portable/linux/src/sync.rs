//! The C library's semaphores and mutexes: Rust's have no protocol against priority inversion.

use anyhow::{Result, ensure};
use std::cell::UnsafeCell;
use std::mem::MaybeUninit;

/// A semaphore, within this process or shared by several.
pub struct Semaphore(UnsafeCell<libc::sem_t>);

// SAFETY: only functions of the C library, which are thread-safe, change the shared state.
unsafe impl Sync for Semaphore {}
// SAFETY: no other reference exists while it moves, since calls that wait borrow it. In Linux's C
// libraries its contents are numbers that do not depend on its address.
unsafe impl Send for Semaphore {}

impl Semaphore {
    /// A taken semaphore.
    pub fn new() -> Semaphore {
        Semaphore::of(0)
    }

    /// A taken semaphore, for memory that several processes share.
    pub fn of_processes() -> Semaphore {
        Semaphore::of(1)
    }

    fn of(is_shared: i32) -> Semaphore {
        let mut semaphore = MaybeUninit::uninit();
        // SAFETY: the place is valid; with the value 0 this initialises it and cannot fail.
        unsafe {
            libc::sem_init(semaphore.as_mut_ptr(), is_shared, 0);
            Semaphore(UnsafeCell::new(semaphore.assume_init()))
        }
    }

    /// Takes the semaphore, and waits until that is possible.
    #[inline]
    pub fn wait(&self) {
        // SAFETY: it was initialised. Only a signal ends the call early.
        while unsafe { libc::sem_wait(self.0.get()) } != 0 {}
    }

    #[inline]
    pub fn post(&self) {
        // SAFETY: it was initialised.
        unsafe { libc::sem_post(self.0.get()) };
    }
}

/// A mutex's protocol against priority inversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// Nothing.
    None,
    /// The owner inherits the priority of waiting threads.
    Inherit,
}

/// A mutex of this process. It protects nothing: the mutex itself is measured.
pub struct Mutex(Box<UnsafeCell<libc::pthread_mutex_t>>);

// SAFETY: as for the semaphore.
unsafe impl Sync for Mutex {}
// SAFETY: its place on the heap does not move.
unsafe impl Send for Mutex {}

impl Mutex {
    /// A free mutex. Fails if the kernel or the C library lacks the protocol.
    pub fn new(protocol: Protocol) -> Result<Mutex> {
        let number = if protocol == Protocol::Inherit { libc::PTHREAD_PRIO_INHERIT } else { libc::PTHREAD_PRIO_NONE };
        let mutex = Mutex(Box::new(UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER)));
        let mut attributes = MaybeUninit::uninit();
        // SAFETY: the attributes are initialised before their use, and the mutex's place is valid.
        let status = unsafe {
            libc::pthread_mutexattr_init(attributes.as_mut_ptr());
            match libc::pthread_mutexattr_setprotocol(attributes.as_mut_ptr(), number) {
                0 => libc::pthread_mutex_init(mutex.0.get(), attributes.as_ptr()),
                status => status,
            }
        };
        ensure!(status == 0, "mutexes with the protocol {protocol:?} are not available: error {status}");
        Ok(mutex)
    }

    /// Locks the mutex, and waits until that is possible.
    #[inline]
    pub fn lock(&self) {
        // SAFETY: it was initialised.
        unsafe { libc::pthread_mutex_lock(self.0.get()) };
    }

    /// Unlocks the mutex.
    ///
    /// # Safety
    /// The calling thread has locked it.
    #[inline]
    pub unsafe fn unlock(&self) {
        // SAFETY: it was initialised; the caller's promise.
        unsafe { libc::pthread_mutex_unlock(self.0.get()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};

    #[test]
    fn a_semaphore_is_taken_as_often_as_it_is_given() {
        let semaphore = Semaphore::new();
        semaphore.post();
        let was_given = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                semaphore.wait();
                semaphore.wait();
                assert!(was_given.load(Ordering::SeqCst));
            });
            was_given.store(true, Ordering::SeqCst);
            semaphore.post();
        });
    }

    #[test]
    fn a_mutex_has_one_owner_at_a_time() {
        for protocol in [Protocol::None, Protocol::Inherit] {
            let mutex = Mutex::new(protocol).unwrap();
            let is_owned = AtomicBool::new(false);
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        for _ in 0..1000 {
                            mutex.lock();
                            assert!(!is_owned.swap(true, Ordering::SeqCst));
                            is_owned.store(false, Ordering::SeqCst);
                            // SAFETY: this thread has locked it.
                            unsafe { mutex.unlock() };
                        }
                    });
                }
            });
        }
    }
}
