//! What a thread was handed and has not used yet, or keeps from others.
//!
//! A wake-up is meant for any thread that can proceed, not for one in particular: if the woken
//! thread ends before it has done what it was woken for, the next one is woken. So a thread notes
//! what it waits for before it waits, or the thread that hands it over makes the note; the thread
//! clears the note once it has what it waited for. A note is released when it is set or cleared and
//! acquired when it is taken: who takes it has stopped the thread, wherever that ran, and sees what
//! it did before.

use super::{mutex::Mutex, once::Once, rwlock::RwLock, semaphore::Semaphore};
use crate::lock::Token;
use core::ptr::null_mut;
use core::sync::atomic::AtomicPtr;
use core::sync::atomic::Ordering::{AcqRel, Release};

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
        self.0.store(core::ptr::from_ref(of).cast_mut(), Release);
    }

    #[inline]
    pub(crate) fn clear(&self) {
        self.0.store(null_mut(), Release);
    }

    /// Clears the note and returns the object.
    ///
    /// # Safety
    /// The noted object exists for as long as the result is used.
    pub(super) unsafe fn take<'a>(&self) -> Option<&'a T> {
        // SAFETY: the caller's promise.
        unsafe { self.0.swap(null_mut(), AcqRel).as_ref() }
    }
}

/// The notes of a thread.
#[derive(Debug)]
pub(crate) struct Claims {
    /// The thread waits for the mutex, or was woken to take it.
    pub mutex: Note<Mutex>,
    /// The thread was handed a unit of the semaphore.
    pub semaphore: Note<Semaphore>,
    /// The thread waits for the lock, or was woken to take it.
    pub rwlock: Note<RwLock>,
    /// The thread runs the routine.
    pub once: Note<Once>,
}

impl Claims {
    /// No notes.
    pub(crate) const fn new() -> Claims {
        Claims { mutex: Note::new(), semaphore: Note::new(), rwlock: Note::new(), once: Note::new() }
    }

    /// The thread has ended and waits in no queue: passes what it was handed to the next one. At
    /// most 64 wake-ups, and as many routines as it ran nested in each other.
    pub(crate) fn pass_on(&self, token: &Token) {
        // SAFETY: the program must not free an object while a thread waits for it, or has been
        // handed it and has not returned with it; a note lasts no longer than that.
        let (mutex, semaphore, rwlock, once) =
            unsafe { (self.mutex.take(), self.semaphore.take(), self.rwlock.take(), self.once.take()) };
        if let Some(mutex) = mutex {
            mutex.pass_on(token);
        }
        if let Some(semaphore) = semaphore {
            // This fails only if posts have raised the value to its maximum since the unit was
            // handed over. Then the unit is one too many, and there is nobody to tell.
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
