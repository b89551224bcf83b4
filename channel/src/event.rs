//! Events: bits that tell Linux what to look at, and the doorbell.

#![forbid(unsafe_code)]

use crate::sync::{AtomicU32, AtomicU64, Ordering, fence};

/// Attempts to set a bit by compare-and-swap before Linux is assumed to interfere on purpose.
const ATTEMPTS: usize = 4;

/// Sets a bit in a word of [`pillion_abi::channel::Share::events`]. Returns whether the doorbell
/// must ring: if the word was not 0, it rang already, and Linux has yet to take the word's bits. A
/// Linux on another processor that keeps changing the word gets one doorbell too many, and costs
/// no more time than that.
#[inline]
#[must_use]
pub fn raise(events: &AtomicU64, bit: u64) -> bool {
    let mut before = events.load(Ordering::Relaxed);
    for _ in 0..ATTEMPTS {
        match events.compare_exchange(before, before | bit, Ordering::AcqRel, Ordering::Relaxed) {
            Ok(_) => return before == 0,
            Err(now) => before = now,
        }
    }
    events.fetch_or(bit, Ordering::AcqRel);
    true
}

/// Who waits for what was just published ([`pillion_abi::channel::user`]); 0: nobody. The fence
/// pairs with the other side's between announcing that it waits and checking once more: at least
/// one side sees what the other wrote.
#[inline]
#[must_use]
pub fn wanted(want: &AtomicU32) -> u32 {
    fence(Ordering::SeqCst);
    want.load(Ordering::Relaxed)
}
