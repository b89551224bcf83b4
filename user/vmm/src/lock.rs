//! A lock between the monitor's threads, which run on different processors.
//!
//! Who waits for it spins. All its users have Linux's priority, so nobody but Linux waits for a
//! holder that a task has preempted. A holder may make calls that are carried out on the processor
//! of a thread that spins: they interrupt it there, for they have the same priority.

use core::cell::UnsafeCell;
use core::ops::{Deref, DerefMut};
use core::sync::atomic::{AtomicBool, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};

/// A value that one thread at a time uses.
pub struct Lock<T> {
    taken: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: `lock` gives out one guard at a time, and what was done with one happens before the next
// one: `taken` is set with acquire and cleared with release. So the value only has to be one that
// may be used from one thread after the other.
unsafe impl<T: Send> Sync for Lock<T> {}

impl<T> Lock<T> {
    /// A free lock.
    pub const fn new(value: T) -> Lock<T> {
        Lock { taken: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    /// Waits for the lock and takes it. A thread that has it must not.
    pub fn lock(&self) -> Guard<'_, T> {
        while self.taken.swap(true, Acquire) {
            while self.taken.load(Relaxed) {
                core::hint::spin_loop();
            }
        }
        Guard(self)
    }
}

/// A taken lock, which is free again when this is dropped.
pub struct Guard<'a, T>(&'a Lock<T>);

impl<T> Deref for Guard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: as in `deref_mut`.
        unsafe { &*self.0.value.get() }
    }
}

impl<T> DerefMut for Guard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the lock is taken, and this is the only guard of it.
        unsafe { &mut *self.0.value.get() }
    }
}

impl<T> Drop for Guard<'_, T> {
    fn drop(&mut self) {
        self.0.taken.store(false, Release);
    }
}
