//! The watchdog: a thread that computes for too long without waiting goes back to Linux.
//!
//! The main thread looks at all slots a few times within that time. A thread that it finds with the
//! same count of pauses each time, and never waiting, has computed all the while. A wait for a time
//! that has passed is no pause.

use crate::place::Place;
use crate::runner::notification;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use pillion_abi::NEVER;
use pillion_abi::dual::SLOTS;
use pillion_runtime::info::{dual, skin};
use pillion_runtime::{context_set_priority, now, signal};

/// Looks within the time that a thread may compute.
const LOOKS: u64 = 4;

/// The stays in primary mode that are to end: see [`stay`].
static OVERDUE: [AtomicU64; SLOTS] = [const { AtomicU64::new(0) }; SLOTS];

/// How often each runner has paused.
static PAUSES: [AtomicU32; SLOTS] = [const { AtomicU32::new(0) }; SLOTS];

/// A runner has paused, or is about to.
pub fn pauses(number: usize) {
    let count = &PAUSES[number];
    // Nobody else writes it.
    count.store(count.load(Relaxed).wrapping_add(1), Relaxed);
}

/// A runner's thread between two pauses: the number of its offer, which is not 0 after the first,
/// and that of its pauses.
fn stay(number: usize, offer: u32) -> u64 {
    u64::from(offer) << 32 | u64::from(PAUSES[number].load(Relaxed))
}

/// Whether the thread of a runner has computed for too long.
pub fn is_overdue(number: usize, offer: u32) -> bool {
    OVERDUE[number].load(Relaxed) == stay(number, offer)
}

/// What the main thread saw.
pub struct Watch {
    /// Ticks between two looks.
    pause: u64,
    next: u64,
    /// Of each slot: its thread, and how often it was found computing.
    seen: [(u64, u64); SLOTS],
}

impl Watch {
    pub fn new() -> Watch {
        // SAFETY: this is the task of dual mode.
        let info = unsafe { dual::dual() };
        if info.watch_level != 0 {
            let _ = context_set_priority(skin::slot::CONTEXTS, info.watch_level as u8);
        }
        let pause = info.watchdog / LOOKS;
        let next = if pause == 0 { NEVER } else { now().saturating_add(pause) };
        Watch { pause, next, seen: [(0, 0); SLOTS] }
    }

    /// When to look next.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Looks at the threads of the first slots.
    pub fn look(&mut self, count: usize) {
        self.next = now().saturating_add(self.pause);
        for (number, (thread, looks)) in self.seen.iter_mut().enumerate().take(count) {
            let place = Place::of(number);
            let current = place.computes().map(|offer| stay(number, offer));
            if current != Some(*thread) {
                (*thread, *looks) = (current.unwrap_or(0), 0);
                continue;
            }
            *looks += 1;
            if *looks >= LOOKS {
                OVERDUE[number].store(*thread, Relaxed);
                let _ = signal(notification(number));
            }
        }
    }
}
