//! The invariants that hold whenever the kernel is left.

use super::{agenda, relations, slots, threads, world::World};

/// Checks all of them.
pub fn check(w: &mut World) {
    slots::derivation(w);
    slots::memory(w);
    threads::ready(w);
    agenda::timers(w);
    agenda::contexts(w);
    threads::waiting(w);
    slots::mappings(w);
    threads::running(w);
    agenda::programmed(w);
    relations::check(w);
}
