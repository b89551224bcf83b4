//! The levels of the runners.

use core::sync::atomic::{AtomicU8, Ordering::Relaxed};
use pillion_abi::dual::SLOTS;
use pillion_runtime::context_set_priority;
use pillion_runtime::info::{dual, skin};

/// Highest priority of Linux's FIFO class.
const PRIORITY_MAX: u64 = 99;

/// Each runner's level, without what it is lent while it holds the lock.
static LEVELS: [AtomicU8; SLOTS] = [const { AtomicU8::new(0) }; SLOTS];

/// The level of a priority in Linux; that of 0 is the lowest one.
pub fn of_priority(priority: u8) -> u8 {
    // SAFETY: this is the task of dual mode.
    let [first, last] = unsafe { dual::dual() }.levels.map(u64::from);
    let above = u64::from(priority).clamp(1, PRIORITY_MAX) - 1;
    (first + above * last.saturating_sub(first) / (PRIORITY_MAX - 1)) as u8
}

/// A runner's level.
pub fn of(runner: usize) -> u8 {
    LEVELS[runner].load(Relaxed)
}

/// The level at which Linux is to run a runner's thread; 0: at its own.
pub fn in_linux(runner: usize) -> u8 {
    // SAFETY: as above.
    if unsafe { dual::dual() }.boosts != 0 { of(runner) } else { 0 }
}

/// Sets a runner's level.
pub fn set(runner: usize, level: u8) {
    if of(runner) != level {
        LEVELS[runner].store(level, Relaxed);
        lend(runner, level);
    }
}

/// Notes the level of a runner that holds the lock, which gives it the highest that it has. Returns
/// whether it is another.
pub fn note(runner: usize, level: u8) -> bool {
    LEVELS[runner].swap(level, Relaxed) != level
}

/// Sets a runner's level until [`restore`].
pub fn lend(runner: usize, level: u8) {
    // The band of levels lies below the task's ceiling.
    let _ = context_set_priority(skin::slot::CONTEXTS + 1 + runner as u32, level);
}

/// Takes back what a runner was lent.
pub fn restore(runner: usize) {
    lend(runner, of(runner));
}
