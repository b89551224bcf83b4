//! Data of the task that only the holder of its lock may use.

use crate::lock::Token;
use core::cell::{Cell, RefCell, RefMut};
use core::fmt;

/// A word that only the holder of the task's lock reads and writes.
#[derive(Default)]
#[repr(transparent)]
pub struct Guarded<T>(Cell<T>);

// SAFETY: every access takes a token, so one thread at a time uses the cell, and taking the lock
// orders what the threads see.
unsafe impl<T: Send> Sync for Guarded<T> {}

impl<T> Guarded<T> {
    /// Creates one with an initial value.
    pub const fn new(value: T) -> Guarded<T> {
        Guarded(Cell::new(value))
    }

    /// Sets the value.
    #[inline(always)]
    pub fn set(&self, _: &Token, value: T) {
        self.0.set(value);
    }

    /// Sets the value and returns the old one.
    #[inline(always)]
    pub fn replace(&self, _: &Token, value: T) -> T {
        self.0.replace(value)
    }
}

impl<T: Copy> Guarded<T> {
    /// The value.
    #[inline(always)]
    pub fn get(&self, _: &Token) -> T {
        self.0.get()
    }
}

/// A larger piece of data that only the holder of the task's lock uses.
#[derive(Debug, Default)]
pub struct Shared<T>(RefCell<T>);

// SAFETY: as for `Guarded`.
unsafe impl<T: Send> Sync for Shared<T> {}

impl<T> Shared<T> {
    /// Creates one with an initial value.
    pub const fn new(value: T) -> Shared<T> {
        Shared(RefCell::new(value))
    }

    /// Grants access while the lock is held. The caller must not block or call into the program.
    #[inline]
    pub fn borrow<'a>(&'a self, _: &'a Token) -> RefMut<'a, T> {
        self.0.borrow_mut()
    }
}

/// A value that is set before a second thread exists, and only read afterwards.
pub struct Constant<T>(Cell<T>);

// SAFETY: only `set` writes, and its caller vouches that no other thread runs.
unsafe impl<T: Send + Sync> Sync for Constant<T> {}

impl<T: Copy> Constant<T> {
    /// Creates one with an initial value.
    pub const fn new(value: T) -> Constant<T> {
        Constant(Cell::new(value))
    }

    /// The value.
    #[inline(always)]
    pub fn get(&self) -> T {
        self.0.get()
    }

    /// Sets the value.
    ///
    /// # Safety
    /// The task has one thread.
    pub unsafe fn set(&self, value: T) {
        self.0.set(value);
    }
}

macro_rules! opaque {
    ($($name:ident)*) => {$(
        impl<T> fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                // The printing thread may not be allowed to read the value.
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    )*};
}

opaque! { Guarded Constant }
