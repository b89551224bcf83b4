//! The task's side of a ring beside a Linux that runs on another processor: it takes and puts
//! between the task's looks at the two counts.

use core::cell::Cell;
use core::num::NonZeroU64;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use pillion_channel::ring::{Count, Counters, TRIES, count, take};

const SIZE: u64 = 4;

/// A full ring to the task, and how often Linux still takes and puts.
struct Ring {
    written: AtomicU64,
    read: AtomicU64,
    turns: Cell<u32>,
}

impl Ring {
    /// A full ring. The counts have wrapped where `read` is near the end of the numbers.
    fn full(read: u64, turns: u32) -> Ring {
        Ring { written: AtomicU64::new(read.wrapping_add(SIZE)), read: AtomicU64::new(read), turns: Cell::new(turns) }
    }

    fn counters(&self) -> Counters<'_> {
        Counters { written: &self.written, read: &self.read }
    }

    /// The task looks how much Linux has put. Just before, Linux takes a byte and puts another.
    fn theirs(&self) -> u64 {
        if let Some(left) = self.turns.get().checked_sub(1) {
            self.turns.set(left);
            self.read.fetch_add(1, Relaxed);
            self.written.fetch_add(1, Relaxed);
        }
        self.counters().theirs()
    }

    fn counts(&self) -> [u64; 2] {
        [self.read.load(Relaxed), self.written.load(Relaxed)]
    }
}

fn size() -> NonZeroU64 {
    NonZeroU64::new(SIZE).unwrap()
}

/// Counts that never were wrong are not repaired, however often Linux is faster.
#[test]
fn is_no_damage() {
    for first in [0, u64::MAX - 2] {
        for turns in 0..3 * TRIES {
            let ring = Ring::full(first, turns);
            let there = count(ring.counters(), || ring.theirs(), size());
            assert!(!there.repaired, "{turns}");
            assert!(there.bytes == SIZE as usize || turns > TRIES, "{turns}: found nothing");
            let moved = u64::from(turns - ring.turns.get());
            assert_eq!(ring.counts(), [moved, moved + SIZE].map(|count| first.wrapping_add(count)));

            let ring = Ring::full(first, turns);
            let taken = take(ring.counters(), || ring.theirs(), size(), 1, |_| ());
            assert!(!taken.repaired, "{turns}");
            let [read, written] = ring.counts();
            assert_eq!(written.wrapping_sub(read), SIZE - taken.bytes as u64, "{turns}: lost");
        }
    }
}

/// Counts that stay impossible are repaired at once.
#[test]
fn damage_is_repaired() {
    let ring = Ring::full(0, 0);
    ring.written.store(SIZE + 1, Relaxed);
    assert_eq!(count(ring.counters(), || ring.theirs(), size()), Count { bytes: 0, repaired: true });
    assert_eq!(ring.counts(), [SIZE + 1, SIZE + 1]);
}
