//! The levels of the runners.

use core::sync::atomic::{AtomicU8, Ordering::Relaxed};
use pillion_abi::dual::SLOTS;
use pillion_runtime::context_set_priority;
use pillion_runtime::info::{dual, skin};

/// Highest priority of Linux's FIFO class.
const PRIORITY_MAX: u64 = 99;

/// How urgent each runner is, as a priority in Linux, without what it is lent while it holds the
/// lock. It becomes a level only where the kernel is told.
static URGENCIES: [AtomicU8; SLOTS] = [const { AtomicU8::new(0) }; SLOTS];

/// The level of a priority in Linux; that of 0 is the lowest one.
fn of_priority(priority: u8) -> u8 {
    // SAFETY: this is the task of dual mode.
    let [first, last] = unsafe { dual::dual() }.levels.map(u64::from);
    let above = u64::from(priority).clamp(1, PRIORITY_MAX) - 1;
    (first + above * last.saturating_sub(first) / (PRIORITY_MAX - 1)) as u8
}

/// How urgent a runner is.
pub fn urgency(runner: usize) -> u8 {
    URGENCIES[runner].load(Relaxed)
}

/// A runner's level.
pub fn of(runner: usize) -> u8 {
    of_priority(urgency(runner))
}

/// The level at which Linux is to run a runner's thread; 0: at its own.
pub fn in_linux(runner: usize) -> u8 {
    // SAFETY: as above.
    if unsafe { dual::dual() }.boosts != 0 { of(runner) } else { 0 }
}

/// Sets how urgent a runner is.
pub fn set(runner: usize, urgency: u8) {
    if note(runner, urgency) {
        lend(runner, urgency);
    }
}

/// Notes how urgent a runner is that holds the lock, which gives it the highest level that it has.
/// Returns whether that changes something.
pub fn note(runner: usize, urgency: u8) -> bool {
    URGENCIES[runner].swap(urgency, Relaxed) != urgency
}

/// Makes a runner as urgent as that until [`restore`].
pub fn lend(runner: usize, urgency: u8) {
    // The band of levels lies below the task's ceiling.
    let _ = context_set_priority(skin::slot::CONTEXTS + 1 + runner as u32, of_priority(urgency));
}

/// Takes back what a runner was lent.
pub fn restore(runner: usize) {
    lend(runner, urgency(runner));
}
