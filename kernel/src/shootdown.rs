//! Translations that other processors may still use when entries of page tables are gone.
//!
//! Each processor shows the roots that it has loaded. Those that show the root in question are
//! told and interrupted, and leave it where they enter the kernel. One that does not show the root
//! is not disturbed. For a guest it is enough that they have left it: their flag, which they look
//! at before they enter one again, is set by then. They show its root until they do something
//! else, as the tables have to stay for as long as they may go back to it.
//!
//! Meanwhile the call of the one that told them ends at its next preemption point, and is made
//! again.

use crate::arch::{self, Cpu, kernel_root, paging, shown_by};
use crate::trace;
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

/// Whether this processor has left the address space that its kernel loaded last.
#[cold]
pub fn has_left() -> bool {
    // SAFETY: whoever asks has set up its processor.
    unsafe { Cpu::current() }.shown().space() == 0
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

/// Leaves the address space whose translations this processor has to drop, if there is one: not in
/// a guest.
#[inline(always)]
pub fn heed() {
    if !SHOOTDOWN.is_over() {
        leave();
    }
}

#[cold]
#[inline(never)]
fn leave() {
    // SAFETY: a processor that enters the kernel has set up its structure.
    let cpu = unsafe { Cpu::current() };
    if SHOOTDOWN.concerns(cpu.index()) {
        // SAFETY: the kernel's own root.
        unsafe { paging::switch_to(kernel_root()) };
        cpu.shown().show_space(0);
        SHOOTDOWN.dropped(cpu.index());
        trace::add_one(&trace::counters().flushes);
    }
}
