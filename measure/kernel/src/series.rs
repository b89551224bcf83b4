//! Minimum, maximum and average of many samples.

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use pillion_runtime::println;
use pillion_test_kit::{Checked, Kit};

/// Number of samples of each figure.
pub const SAMPLES: u64 = 2_000;

/// Number of samples that warm up and are not counted.
pub const WARM_UP: u64 = 16;

/// The statistics so far, in memory that is mapped into all address spaces.
pub struct Series {
    seen: AtomicU64,
    sum: AtomicU64,
    smallest: AtomicU64,
    largest: AtomicU64,
}

impl Series {
    pub const fn new() -> Series {
        Series {
            seen: AtomicU64::new(0),
            sum: AtomicU64::new(0),
            smallest: AtomicU64::new(u64::MAX),
            largest: AtomicU64::new(0),
        }
    }

    /// Adds a sample. Returns whether there are enough.
    pub fn add(&self, ticks: u64) -> bool {
        let seen = self.seen.load(Relaxed);
        self.seen.store(seen + 1, Relaxed);
        if seen >= WARM_UP {
            self.sum.store(self.sum.load(Relaxed) + ticks, Relaxed);
            self.smallest.store(self.smallest.load(Relaxed).min(ticks), Relaxed);
            self.largest.store(self.largest.load(Relaxed).max(ticks), Relaxed);
        }
        seen + 1 >= WARM_UP + SAMPLES
    }

    /// The average in nanoseconds, rounded up.
    pub fn mean(&self, tsc_hz: u64) -> u64 {
        let samples = self.seen.load(Relaxed).saturating_sub(WARM_UP).max(1);
        nanoseconds(self.sum.load(Relaxed).div_ceil(samples), tsc_hz)
    }

    /// Prints the average, rounded up, and the extremes: the end of a measurement.
    pub fn print(&self, kit: &Kit, name: &str) -> Checked {
        let tsc_hz = kit.info.tsc_hz;
        println!("figure {name} {} ns", self.mean(tsc_hz));
        println!("figure {name}_min {} ns", nanoseconds(self.smallest.load(Relaxed), tsc_hz));
        println!("figure {name}_max {} ns", nanoseconds(self.largest.load(Relaxed), tsc_hz));
        Ok(())
    }
}

/// Ticks in nanoseconds.
pub fn nanoseconds(ticks: u64, tsc_hz: u64) -> u64 {
    (u128::from(ticks) * 1_000_000_000 / u128::from(tsc_hz)) as u64
}
