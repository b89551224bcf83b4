//! Typed handles of kernel objects.

use core::fmt;
use core::marker::PhantomData;
use core::mem::offset_of;
use core::num::NonZeroU32;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::{
    Slot,
    away::{Away, Letter, Visit},
    cap::CapSpace,
    context::{Context, Used},
    endpoint::Endpoint,
    interrupt::Interrupt,
    notification::Notification,
    post::Post,
    thread::{Thread, place},
    timer::Timer,
    vcpu::Vcpu,
};

/// Bytes between two addresses that a handle can name: objects are aligned to it.
pub const GRANULE: u64 = 64;

/// End of the memory in which objects, and slots inside them, can be: 256 GiB.
pub const NAMEABLE: u64 = GRANULE << 32;

/// Handle of an object of type `T`: its physical address in units of [`GRANULE`].
///
/// Holding a handle means that the object is alive and of that type. So a handle is made in three
/// cases only: an object is placed in memory that this crate took from a region ([`Site`]); what an
/// object consists of lies behind it: its slots, a thread's [`Away`], a notification's [`Post`], a
/// context's [`Used`], and letters in these; or a slot or a space has it in a word (`Id::in_word`).
/// The deletion of capabilities keeps this true.
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

    /// What lies `count` granules past the start of the object; the caller has checked its bounds.
    #[inline]
    #[must_use]
    fn behind<U>(self, count: u32) -> Id<U> {
        // Wrapping cannot happen: a site ends below the limit of what a handle can name.
        Id(NonZeroU32::new(self.0.get().wrapping_add(count)).unwrap_or(self.0), PhantomData)
    }

    /// The handle that [`Id::word`] made a word of. The words are in slots, spaces and nowhere
    /// else, and are of the types that their fields say.
    #[inline(always)]
    pub(crate) fn in_word(word: u32) -> Opt<T> {
        NonZeroU32::new(word).map(|number| Id(number, PhantomData))
    }

    /// A handle or nothing as a word.
    #[inline(always)]
    pub(crate) fn word(id: Opt<T>) -> u32 {
        id.map_or(0, Id::number)
    }
}

impl Id<Thread> {
    /// What the thread is away with, which lies behind it, for its holder.
    #[inline]
    #[must_use]
    pub fn visit(self) -> Id<Visit> {
        self.behind(VISIT / GRANULE as u32)
    }

    /// What its home and its holder use, which lies behind it too.
    #[inline]
    #[must_use]
    pub fn away(self) -> Id<Away> {
        self.behind(AWAY / GRANULE as u32)
    }

    /// One of the thread's own slots: see [`place`].
    #[inline(always)]
    #[must_use]
    pub fn place(self, index: usize) -> Id<Slot> {
        self.behind(place_at(index) as u32)
    }

    /// The letter that goes where the thread is.
    #[must_use]
    pub(crate) fn away_letter(self) -> Id<Letter> {
        self.away().behind(const { offset_of!(Away, letter) as u32 / GRANULE as u32 })
    }

    /// The letter with news for where the thread is.
    #[must_use]
    pub(crate) fn away_news(self) -> Id<Letter> {
        self.away().behind(const { offset_of!(Away, news) as u32 / GRANULE as u32 })
    }
}

/// Bytes from the start of a thread to its [`Away`].
const AWAY: u32 = size_of::<Thread>().next_multiple_of(GRANULE as usize) as u32;

/// Bytes from the start of a thread to its [`Visit`].
const VISIT: u32 = AWAY + size_of::<Away>() as u32;

/// Granules from the start of a thread to one of its slots.
#[inline(always)]
pub(crate) const fn place_at(index: usize) -> u64 {
    (const { granules(VISIT as usize + size_of::<Visit>()) } as usize + index % place::COUNT) as u64
}

/// Bytes of a thread, its [`Away`], its [`Visit`] and its slots, with which its page begins.
pub const THREAD_BYTES: usize = VISIT as usize + size_of::<Visit>() + place::COUNT * size_of::<Slot>();

impl Id<Context> {
    /// What the context has been used for, which lies behind it.
    #[inline(always)]
    #[must_use]
    pub fn used(self) -> Id<Used> {
        self.behind((Used::AT / GRANULE) as u32)
    }
}

impl Id<Notification> {
    /// What other processors use of the notification, which lies behind it.
    #[inline]
    #[must_use]
    pub fn post(self) -> Id<Post> {
        self.behind(POST / GRANULE as u32)
    }
}

impl Id<Endpoint> {
    /// The slot with the capability for the receiver.
    #[inline(always)]
    #[must_use]
    pub fn slot(self) -> Id<Slot> {
        self.behind(slot_of::<Endpoint>(0) as u32)
    }
}

impl Id<Timer> {
    /// The slot with the capability for the notification that it signals.
    #[inline(always)]
    #[must_use]
    pub fn slot(self) -> Id<Slot> {
        self.behind(slot_of::<Timer>(0) as u32)
    }
}

impl Id<Interrupt> {
    /// The slot with the capability for the notification that it signals.
    #[inline(always)]
    #[must_use]
    pub fn slot(self) -> Id<Slot> {
        self.behind(slot_of::<Interrupt>(0) as u32)
    }
}

impl Id<Vcpu> {
    /// The slot with the capability for the nested address space.
    #[inline(always)]
    #[must_use]
    pub fn space(self) -> Id<Slot> {
        self.behind(slot_of::<Vcpu>(0) as u32)
    }

    /// The slot with the capability for the page of the shared state.
    #[inline(always)]
    #[must_use]
    pub fn state(self) -> Id<Slot> {
        self.behind(slot_of::<Vcpu>(1) as u32)
    }

    /// The slot with the capability for the space of the notifications that the guest may signal.
    /// Only the passenger has one.
    #[inline(always)]
    #[must_use]
    pub fn signals(self) -> Id<Slot> {
        self.behind(slot_of::<Vcpu>(2) as u32)
    }
}

impl Id<Slot> {
    /// The vCPU that the slot lies behind: the first (0) with a nested address space, or the second
    /// (1) with a page of shared state. No other object holds these.
    #[must_use]
    pub(crate) fn of_vcpu(self, index: u32) -> Id<Vcpu> {
        self.behind((slot_of::<Vcpu>(index) as u32).wrapping_neg())
    }
}

/// Bytes of an object and of so many slots behind it.
pub const fn bytes_with_slots<T>(slots: usize) -> usize {
    (granules(size_of::<T>()) as usize + slots) * GRANULE as usize
}

/// Granules from the start of an object to one of the slots behind it.
#[inline(always)]
pub(crate) const fn slot_of<T>(index: u32) -> u64 {
    (granules(size_of::<T>()) + index) as u64
}

/// Granules that so many bytes take.
const fn granules(bytes: usize) -> u32 {
    bytes.div_ceil(GRANULE as usize) as u32
}

impl Id<Post> {
    /// The letter that says that there are bits.
    #[must_use]
    pub(crate) fn letter(self) -> Id<Letter> {
        self.behind(const { offset_of!(Post, letter) as u32 / GRANULE as u32 })
    }
}

/// Bytes of a scheduling context and its [`Used`].
pub const CONTEXT_BYTES: usize = Used::AT as usize + size_of::<Used>();

/// Bytes from the start of a notification to its [`Post`].
const POST: u32 = size_of::<Notification>().next_multiple_of(GRANULE as usize) as u32;

/// Bytes of a notification and its [`Post`].
pub const NOTIFICATION_BYTES: usize = POST as usize + size_of::<Post>();

impl Id<CapSpace> {
    /// Slot `index`, which the caller has found to be below the count: see `Kernel::slot`.
    #[inline]
    #[must_use]
    pub(crate) fn following(self, index: u32) -> Id<Slot> {
        self.behind(1 + index)
    }
}

/// A handle or nothing, in a word that several processors use. Who changes it, and when, is for
/// others to say.
#[derive(Debug)]
pub(crate) struct AtomicOpt<T>(AtomicU32, PhantomData<fn() -> T>);

impl<T> AtomicOpt<T> {
    /// The handle.
    pub fn get(&self) -> Opt<T> {
        Id::in_word(self.0.load(Relaxed))
    }

    /// Changes it.
    pub fn set(&self, to: Opt<T>) {
        self.0.store(Id::word(to), Relaxed);
    }
}

impl<T> Default for AtomicOpt<T> {
    fn default() -> Self {
        AtomicOpt(AtomicU32::new(0), PhantomData)
    }
}

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
impl<T> From<Id<T>> for NonZeroU32 {
    /// The handle as a number, which is not 0.
    fn from(id: Id<T>) -> Self {
        id.0
    }
}
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
