//! Typed handles of kernel objects.

use core::fmt;
use core::marker::PhantomData;
use core::num::NonZeroU32;

/// Bytes between two addresses that a handle can name: objects are aligned to it.
pub const GRANULE: u64 = 64;

/// Handle of an object of type `T`: its physical address in units of [`GRANULE`].
///
/// A handle is made when an object is ([`crate::Machine::place`]) and forgotten when the object ends; holding
/// one means that the object is alive and of that type. The deletion of capabilities keeps this true.
pub struct Id<T>(NonZeroU32, PhantomData<fn() -> T>);

/// A handle or nothing, in four bytes.
pub type Opt<T> = Option<Id<T>>;

impl<T> Id<T> {
    /// The handle of the object at a physical address.
    ///
    /// `None` at address 0, off the granule, or beyond what a handle can name (256 GiB).
    #[must_use]
    pub fn at(physical: u64) -> Option<Id<T>> {
        if !physical.is_multiple_of(GRANULE) {
            return None;
        }
        let number = u32::try_from(physical / GRANULE).ok()?;
        NonZeroU32::new(number).map(|n| Id(n, PhantomData))
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

    /// The object `count` granules further on. For arrays of slots, whose bounds the caller has checked.
    #[inline]
    #[must_use]
    pub(crate) fn offset(self, count: u32) -> Id<T> {
        // Wrapping cannot happen: the object ends below the limit of what a handle can name.
        Id(NonZeroU32::new(self.0.get().wrapping_add(count)).unwrap_or(self.0), PhantomData)
    }

    /// The same place under another type. For an object that begins with, or is followed by, the other.
    #[inline]
    #[must_use]
    pub(crate) fn cast<U>(self) -> Id<U> {
        Id(self.0, PhantomData)
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
