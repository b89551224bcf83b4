//! How processors exclude each other, where several run.
//!
//! One at a time makes a step of a call that changes capabilities, memory or page tables, or needs
//! them to stay as they are. Nobody waits for that in the kernel: who finds it taken makes its call
//! again, from user mode, and lets interrupts come in between. Whoever goes on doing so has its
//! turn in the order of the processors. Interrupts, timers and the frequent calls use objects of
//! their own processor, and need no leave.
//!
//! Whoever has it can hold all others off the kernel's code as well ([`parked`]).

use core::arch::x86_64::__cpuid;
use core::sync::atomic::{
    AtomicBool, AtomicU32,
    Ordering::{Acquire, Release},
};

use crate::arch::{self, Cpu, clock};
use pillion_post::Turn;

/// A cache line of its own.
#[repr(align(64))]
struct Line<T>(T);

/// Which processor changes capabilities.
static TREE: Turn = Turn::new();

/// Whether those who are interrupted have to stay where they are, and how many do.
static PARK: Line<AtomicBool> = Line(AtomicBool::new(false));
static PARKED: Line<AtomicU32> = Line(AtomicU32::new(0));

/// For a processor that was interrupted by another one: waits if the code is being changed.
pub fn wait_if_asked() {
    if PARK.0.load(Acquire) {
        park();
    }
}

/// Begins to change capabilities, unless another processor does, or it is another one's turn.
/// Constant time.
pub fn take_tree(own: Cpu) -> bool {
    let taken = TREE.take(own.index(), clock::now, patience());
    if !taken {
        // An emulator that has processors run in turn lets another one run.
        core::hint::spin_loop();
    }
    taken
}

/// Ends that: for the processor that began.
pub fn release_tree(own: Cpu) {
    TREE.end(own.index(), clock::now);
}

/// Whether another processor wants to change capabilities: for the one that does.
pub fn tree_is_wanted() -> bool {
    TREE.is_wanted()
}

/// Ticks for which a processor's turn is left to it, 8 µs: time enough to make a call again, if
/// nothing more urgent runs there.
fn patience() -> u64 {
    clock::tsc_hz() >> 17
}

/// Waits until the code is as it shall be.
#[cold]
fn park() {
    PARKED.0.fetch_add(1, Release);
    while PARK.0.load(Acquire) {
        core::hint::spin_loop();
    }
    // Serialising: what was fetched of the old code is forgotten (AMD APM vol. 2, 7.6.1).
    __cpuid(0);
    PARKED.0.fetch_sub(1, Release);
}

/// Does something while all other processors wait in a loop that does not change: for the one that
/// changes capabilities, with interrupts off. It waits until each has left its thread, guest or
/// sleep for the interrupt, or has come to it in the kernel, and then until each has gone on.
pub fn parked(f: impl FnOnce()) {
    let others = arch::processors() - 1;
    let wait = |count| {
        while PARKED.0.load(Acquire) != count {
            core::hint::spin_loop();
        }
    };
    PARK.0.store(true, Release);
    arch::each_other_processor(arch::interrupt_processor);
    wait(others);
    f();
    PARK.0.store(false, Release);
    wait(0);
}
