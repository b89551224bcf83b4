//! Typed handles of kernel objects.

use core::fmt;
use core::marker::PhantomData;
use core::num::NonZeroU32;

use crate::{Slot, cap::CapSpace};

/// Bytes between two addresses that a handle can name: objects are aligned to it.
pub const GRANULE: u64 = 64;

/// End of the memory in which objects, and slots inside them, can be: 256 GiB.
pub const NAMEABLE: u64 = GRANULE << 32;

/// Handle of an object of type `T`: its physical address in units of [`GRANULE`].
///
/// Holding a handle means that the object is alive and of that type. So a handle is made in two
/// cases only: an object is placed in memory that this crate took from a region ([`Site`]), or a
/// slot lies inside an object (`SlotOf`, `Id::following`). The deletion of capabilities keeps this
/// true.
pub struct Id<T>(NonZeroU32, PhantomData<fn() -> T>);

/// A handle or nothing, in four bytes.
pub type Opt<T> = Option<Id<T>>;

impl<T> Id<T> {
    fn new(physical: u64) -> Option<Id<T>> {
        if !physical.is_multiple_of(GRANULE) {
            return None;
        }
        let number = u32::try_from(physical / GRANULE).ok()?;
        NonZeroU32::new(number).map(|n| Id(n, PhantomData))
    }

    /// A handle made from an address, for tests that look at everything and know what is there.
    #[cfg(any(test, feature = "observe"))]
    #[must_use]
    pub fn at(physical: u64) -> Option<Id<T>> {
        Self::new(physical)
    }

    /// Physical address of the object.
    #[inline]
    #[must_use]
    pub fn physical(self) -> u64 {
        u64::from(self.0.get()) * GRANULE
    }

    /// Handle as a number, for keys and reports.
    #[inline]
    #[must_use]
    pub fn number(self) -> u32 {
        self.0.get()
    }

    /// The slot `count` granules past the start of the object, whose bounds the caller has checked.
    #[inline]
    #[must_use]
    fn slot_behind(self, count: u32) -> Id<Slot> {
        // Wrapping cannot happen: a site ends below the limit of what a handle can name.
        Id(NonZeroU32::new(self.0.get().wrapping_add(count)).unwrap_or(self.0), PhantomData)
    }

    /// The slot inside an object.
    #[inline]
    #[must_use]
    pub(crate) fn slot_in(self, which: SlotOf<T>) -> Id<Slot> {
        self.slot_behind(which.0)
    }
}

impl Id<CapSpace> {
    /// Slot `index`, which the caller has found to be below the count: see `Kernel::slot`.
    #[inline]
    #[must_use]
    pub(crate) fn following(self, index: u32) -> Id<Slot> {
        self.slot_behind(1 + index)
    }
}

/// Where a slot lies in an object of type `T`; made by [`slot_of`].
pub(crate) struct SlotOf<T>(u32, PhantomData<fn() -> T>);

impl<T> SlotOf<T> {
    /// The slot at an offset, where `field` finds it.
    pub(crate) const fn new(offset: usize, _field: fn(&T) -> &Slot) -> Self {
        assert!(offset.is_multiple_of(GRANULE as usize));
        SlotOf((offset / GRANULE as usize) as u32, PhantomData)
    }

    /// The slot `index` places further on in an array of `count`; an index past the end wraps
    /// around.
    pub(crate) const fn plus(self, index: usize, count: usize) -> Self {
        SlotOf(self.0 + (index % count) as u32, PhantomData)
    }
}

/// Names a slot inside an object: `slot_of!(Timer, slot)`.
macro_rules! slot_of {
    ($type:ty, $field:ident) => {
        const { $crate::id::SlotOf::<$type>::new(core::mem::offset_of!($type, $field), |object| &object.$field) }
    };
}
pub(crate) use slot_of;

/// Memory for a new object of type `T`: all zeros, in no other use, and within [`NAMEABLE`].
#[derive(Debug)]
pub struct Site<T>(Id<T>);

impl<T> Site<T> {
    /// `bytes` bytes at a physical address; `None` if that is 0 or not a multiple of [`GRANULE`],
    /// or if they end beyond the memory that handles can name ([`NAMEABLE`]).
    pub(crate) fn at(physical: u64, bytes: u64) -> Option<Site<T>> {
        Id::new(physical).filter(|_| physical.checked_add(bytes).is_some_and(|end| end <= NAMEABLE)).map(Site)
    }

    /// Where it is.
    #[must_use]
    pub fn physical(&self) -> u64 {
        self.0.physical()
    }

    /// The handle of the object, which [`crate::machine::Objects::place`] put there.
    pub(crate) fn occupied(self) -> Id<T> {
        self.0
    }
}

impl<T> Clone for Id<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Id<T> {}
impl<T> PartialEq for Id<T> {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}
impl<T> Eq for Id<T> {}
impl<T> fmt::Debug for Id<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.physical())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_round_trip_and_bad_ones_are_refused() {
        assert_eq!(Id::<u8>::at(0), None);
        assert_eq!(Id::<u8>::at(65), None);
        assert_eq!(Id::<u8>::at(256 << 30), None);
        assert_eq!(Id::<u8>::at(4096).map(Id::physical), Some(4096));
        assert_eq!(size_of::<Opt<u8>>(), 4);
    }
}
