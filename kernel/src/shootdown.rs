//! Translations that other processors may still use when entries of page tables are gone.
//!
//! Each processor shows the roots that it has loaded. Those that show the root in question are
//! told and interrupted, and leave it where they handle that. One that does not show the root
//! is not disturbed. For a guest it is enough that they have left it: their flag, which they look
//! at before they enter one again, is set by then. They show its root until they do something
//! else, as the tables have to stay for as long as they may go back to it.
//!
//! Meanwhile the call of the one that told them ends at its next preemption point, and is made
//! again.

use crate::arch::{self, Cpu, shown_by};
use crate::{hardware::Hardware, trace};
use pillion_post::Shootdown;

static SHOOTDOWN: Shootdown = Shootdown::new();

/// Has all other processors that show a root leave it. Returns whether none does. For the one that
/// changes page tables, when what it told them before [is over](is_over).
#[cold]
pub fn tell(own: Cpu, root: u64) -> bool {
    let shows = |number: &usize| *number != own.index() && shown_by(*number).is_some_and(|shown| shown.shows(root));
    let set = (0..arch::processors() as usize).filter(shows).fold(0, |set, number| set | 1 << number);
    if set == 0 {
        return true;
    }
    SHOOTDOWN.begin(set);
    (0..arch::processors() as usize).filter(|number| set & 1 << number != 0).for_each(arch::interrupt_processor);
    false
}

/// Whether all that were told have left.
pub fn is_over() -> bool {
    let is_over = SHOOTDOWN.is_over();
    if !is_over {
        // An emulator that has processors run in turn lets another one run.
        core::hint::spin_loop();
    }
    is_over
}

/// Leaves the address space, if its translations are to be dropped: for a processor that was
/// interrupted by another one. Before that, it may go to user mode again and use them: they count
/// as mapped until it has left.
pub fn heed(m: &mut Hardware) {
    let own = m.cpu.index();
    if SHOOTDOWN.concerns(own) {
        m.leave_space();
        SHOOTDOWN.dropped(own);
        trace::add_one(&m.counters.flushes);
    }
}
