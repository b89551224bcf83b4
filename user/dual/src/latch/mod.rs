//! What Linux states in two copies, and a number that says which of them is complete
//! ([`pillion_abi::dual::Clocks`]).
//!
//! Linux raises the number before it writes the copy that readers have left, so what was read is
//! one statement if the number is the same afterwards. Linux can run meanwhile, on another
//! processor or because a budget ended, and it can write anything: the number is looked at a few
//! times only.

#[cfg(all(test, loom))]
mod model;
#[cfg(all(test, not(loom)))]
mod tests;

use crate::sync::{
    AtomicU64,
    Ordering::{Acquire, Relaxed},
    fence,
};

/// How often a statement is read. Linux makes one at each tick, and when a clock is set.
const ATTEMPTS: u32 = 8;

/// The number of the statement, and what `read` finds in the copy that it names. That is `None`,
/// too, if Linux made another one each time.
#[inline(always)]
pub fn stated<T>(number: &AtomicU64, read: impl Fn(usize) -> Option<T>) -> (u64, Option<T>) {
    for _ in 0..ATTEMPTS {
        let before = number.load(Acquire);
        let found = read((before & 1) as usize);
        // What was read came before the number is looked at again.
        fence(Acquire);
        if number.load(Relaxed) == before {
            return (before, found);
        }
    }
    (number.load(Acquire), None)
}
