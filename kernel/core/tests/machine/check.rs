//! The invariants that hold whenever the kernel is left.

use super::{agenda, relations, slots, threads, translations, world::World};

/// Those of what all processors share.
pub fn shared(w: &mut World) {
    slots::derivation(w);
    slots::memory(w);
    slots::mappings(w);
    translations::check(w);
}

/// Those of what belongs to the processor that is looked at.
pub fn own(w: &mut World) {
    threads::ready(w);
    agenda::timers(w);
    agenda::contexts(w);
    threads::waiting(w);
    threads::running(w);
    agenda::programmed(w);
    relations::check(w);
}
