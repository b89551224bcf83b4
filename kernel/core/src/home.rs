//! Homes: the processor that an object belongs to.
//!
//! A thread, scheduling context, endpoint, notification, timer, interrupt or vCPU is used by the
//! kernel of one processor only, whose queues, agenda and vectors it may be in. Which one that is
//! stands in each capability for it, so a kernel knows without a look at the object. Objects that
//! name each other have one home: a thread and its scheduling context, its bound notification, the
//! endpoint that it receives from, the notification that it waits for and the vCPU that it runs; a
//! timer or an interrupt and its notification.

use crate::{Id, Kernel, Machine, notification::Notification, post::Post};
use core::fmt;
use pillion_abi::status::{Error, Result};

/// An object with a home, as a capability names it. `Kernel::own` makes it a handle that this
/// kernel may use.
pub struct Homed<T> {
    id: Id<T>,
    home: u8,
}

impl<T> Homed<T> {
    /// An object that was placed for this processor.
    pub(crate) const fn new(id: Id<T>, home: u8) -> Self {
        Homed { id, home }
    }

    /// The processor that the object belongs to.
    #[inline]
    #[must_use]
    pub const fn home(self) -> u8 {
        self.home
    }

    /// The object that another one names in a slot of its own: if that one may be used here, so may
    /// this.
    #[inline]
    #[must_use]
    pub(crate) const fn beside(self) -> Id<T> {
        self.id
    }

    /// The handle, whatever the home, for tests that look at everything.
    #[cfg(any(test, feature = "observe"))]
    #[must_use]
    pub const fn id(self) -> Id<T> {
        self.id
    }
}

impl Homed<Notification> {
    /// What other processors use of the notification.
    #[inline]
    #[must_use]
    pub(crate) fn post(self) -> Id<Post> {
        self.id.post()
    }
}

impl<M: Machine> Kernel<M> {
    /// The handle of an object that a capability names, if its home is this processor; else
    /// [`Error::Elsewhere`]. Where one processor runs, every home is that one's.
    #[inline(always)]
    pub(crate) fn own<T>(&self, object: Homed<T>) -> Result<Id<T>> {
        if self.m.several() && object.home != self.cpu.number { Err(Error::Elsewhere) } else { Ok(object.id) }
    }
}

impl<T> Clone for Homed<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Homed<T> {}
impl<T> PartialEq for Homed<T> {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}
impl<T> Eq for Homed<T> {}
impl<T> fmt::Debug for Homed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} of {}", self.id, self.home)
    }
}
