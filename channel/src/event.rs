//! What Linux is to look at.

#![forbid(unsafe_code)]

use crate::sync::{AtomicU32, AtomicU64, Ordering, fence};

/// How often a bit is tried to be set before Linux's own writes are taken to be in the way on
/// purpose.
const ATTEMPTS: usize = 4;

/// Sets a bit of a word of [`pillion_abi::channel::Share::events`]. Returns whether the doorbell is
/// to ring: if the word was not empty it rang before, and Linux has yet to take the word's bits. A
/// Linux on another processor that changes the word all the time gets a doorbell too many, and no
/// more time than that.
#[inline]
#[must_use]
pub fn raise(events: &AtomicU64, bit: u64) -> bool {
    let mut before = events.load(Ordering::Relaxed);
    for _ in 0..ATTEMPTS {
        match events.compare_exchange_weak(before, before | bit, Ordering::AcqRel, Ordering::Relaxed) {
            Ok(_) => return before == 0,
            Err(now) => before = now,
        }
    }
    events.fetch_or(bit, Ordering::AcqRel);
    true
}

/// Whether Linux waits for what was just published. The fence pairs with the one that Linux has
/// between saying that it waits and looking a last time: one of the two sees what the other one
/// wrote.
#[inline]
#[must_use]
pub fn wanted(want: &AtomicU32) -> bool {
    fence(Ordering::SeqCst);
    want.load(Ordering::Relaxed) != 0
}
