//! What a thread was handed and has not used yet, or stands in the way of.
//!
//! A wake-up is meant for whoever can go on, not for one thread: if the woken thread ends before it
//! has done what it was woken for, the next one is woken. So a thread notes what it waits for
//! before it waits, or has it noted by whoever hands it over, and takes the note away when it has
//! it. All threads of a task run on one processor: plain stores are seen in their order.

use super::{mutex::Mutex, once::Once, rwlock::RwLock, semaphore::Semaphore};
use crate::lock::Token;
use core::{
    ptr::null_mut,
    sync::atomic::{AtomicPtr, Ordering::Relaxed},
};

/// A note of one kind.
#[derive(Debug)]
pub(crate) struct Note<T>(AtomicPtr<T>);

impl<T> Note<T> {
    const fn new() -> Note<T> {
        Note(AtomicPtr::new(null_mut()))
    }

    /// Notes `of`.
    #[inline]
    pub(crate) fn set(&self, of: &T) {
        self.0.store(core::ptr::from_ref(of).cast_mut(), Relaxed);
    }

    /// Takes the note away.
    #[inline]
    pub(crate) fn clear(&self) {
        self.0.store(null_mut(), Relaxed);
    }

    /// Takes the note away, and says of what it was.
    ///
    /// # Safety
    ///
    /// What is noted is still there, for as long as the result is used.
    pub(super) unsafe fn take<'a>(&self) -> Option<&'a T> {
        // SAFETY: the caller's promise.
        unsafe { self.0.swap(null_mut(), Relaxed).as_ref() }
    }
}

/// The notes of a thread.
#[derive(Debug)]
pub(crate) struct Claims {
    /// It waits for the mutex, or was woken to take it.
    pub mutex: Note<Mutex>,
    /// It was handed one of the semaphore.
    pub semaphore: Note<Semaphore>,
    /// It waits for the lock, or was woken to take it.
    pub rwlock: Note<RwLock>,
    /// It runs the routine.
    pub once: Note<Once>,
}

impl Claims {
    /// None.
    pub(crate) const fn new() -> Claims {
        Claims { mutex: Note::new(), semaphore: Note::new(), rwlock: Note::new(), once: Note::new() }
    }

    /// The thread has ended, and waits in no queue: what it was handed is for the next one. At most
    /// 64 wake-ups, and as many routines as it ran one inside another.
    pub(crate) fn pass_on(&self, token: &Token) {
        // SAFETY: the program must not take an object's memory away while a thread waits for it, or
        // has been handed it and has not returned with it; a note is there no longer than that.
        let (mutex, semaphore, rwlock, once) =
            unsafe { (self.mutex.take(), self.semaphore.take(), self.rwlock.take(), self.once.take()) };
        if let Some(mutex) = mutex {
            mutex.pass_on(token);
        }
        if let Some(semaphore) = semaphore {
            // It was taken from a value that it can go back to.
            let _ = semaphore.post(token);
        }
        if let Some(lock) = rwlock {
            lock.wake(token);
        }
        if let Some(once) = once {
            once.undo(token);
        }
    }
}
