//! What Linux is to look at.

#![forbid(unsafe_code)]

use crate::sync::{AtomicU32, AtomicU64, Ordering, fence};

/// Sets a bit of a word of [`pillion_abi::channel::Share::events`]. Returns whether the doorbell is to ring: if the word was not empty it rang before, and
/// Linux has yet to take the word's bits.
#[inline]
#[must_use]
pub fn raise(events: &AtomicU64, bit: u64) -> bool {
    events.fetch_or(bit, Ordering::AcqRel) == 0
}

/// Whether Linux waits for what was just published. The fence pairs with the one that Linux has between saying that it waits and looking a last time: one of the two sees
/// what the other one wrote.
#[inline]
#[must_use]
pub fn wanted(want: &AtomicU32) -> bool {
    fence(Ordering::SeqCst);
    want.load(Ordering::Relaxed) != 0
}
