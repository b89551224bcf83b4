//! The latency histogram that a real-time task writes and other threads read, in shared memory.
//!
//! No allocation, no lock, no read-modify-write instruction: [`Histogram::record`] is a few plain
//! loads and stores. A zeroed range of pages is a valid, empty histogram, so that mapping it needs
//! no start-up handshake; the caller makes the reference, after checking that the range has
//! [`Histogram::SIZE`] bytes and page alignment.
//!
//! # Access rules, and what a reader sees
//!
//! Exactly one thread writes ([`Histogram::record`], [`Histogram::overrun`]);
//! a second writer loses counts but breaks nothing else. Any number of threads read at any time,
//! without slowing the writer. Each word is atomic in itself, and every word but `last` only ever
//! grows. A reader therefore sees each word as it was at some moment of the reading, not all at the
//! same moment:
//!
//! - `samples` is stored last, with release order, and readers load it first, with acquire order;
//!   so the buckets, `sum`, `min` and `max` that a reader sees cover at least the samples that it
//!   counted, and perhaps a few newer ones;
//! - a quantile is computed from the buckets alone; its rank lies between those of the true
//!   quantiles at the start and at the end of the walk, and it is always found, because a bucket
//!   never shrinks.
//!
//! No other ordering matters, so this has a stress test with threads and no exhaustive model check.
//!
//! A reader that does not trust the writer still gets numbers, only wrong ones: no value makes a
//! reader panic or loop.
#![no_std]
#![forbid(unsafe_code)]

use core::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

/// Width in nanoseconds of a linear bucket.
const LINEAR_NS: u64 = 10;

/// Number of linear buckets.
const LINEAR: usize = 2048;

/// First value that falls into a logarithmic bucket: 20.48 µs.
pub const LINEAR_END_NS: u64 = LINEAR as u64 * LINEAR_NS;

/// Power of two at or below [`LINEAR_END_NS`].
const FIRST_EXPONENT: u32 = LINEAR_END_NS.ilog2();

/// Logarithmic buckets per doubling, as a power of two.
const STEPS_LOG2: u32 = 4;

/// First value without a bucket of its own, counted in the last one: 17.2 s.
pub const END_NS: u64 = 1 << 34;

/// Number of buckets.
const BUCKETS: usize = LINEAR + log_position(END_NS);

const _: () = assert!(BUCKETS == 2364);
const _: () = assert!(log_position(LINEAR_END_NS) == 0 && log_start(0) == LINEAR_END_NS);

/// A latency histogram in shared memory.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Histogram {
    samples: AtomicU64,
    sum_ns: AtomicU64,
    /// Bitwise complement of the smallest value: zero means that there is none, and it grows like
    /// the others.
    min_inverted: AtomicU64,
    max_ns: AtomicU64,
    last_ns: AtomicU64,
    overruns: AtomicU64,
    reserved: [AtomicU64; 2],
    buckets: [AtomicU64; BUCKETS],
}

const _: () = assert!(core::mem::offset_of!(Histogram, buckets) == 64);
const _: () = assert!(Histogram::SIZE == 64 + (BUCKETS * 8).next_multiple_of(64));
const _: () = assert!(Histogram::PAGES == 5);

impl Histogram {
    /// Bytes of memory.
    pub const SIZE: usize = size_of::<Histogram>();

    /// Pages of memory.
    pub const PAGES: usize = Self::SIZE.div_ceil(4096);

    /// An empty histogram.
    #[must_use]
    pub const fn new() -> Histogram {
        Histogram {
            samples: AtomicU64::new(0),
            sum_ns: AtomicU64::new(0),
            min_inverted: AtomicU64::new(0),
            max_ns: AtomicU64::new(0),
            last_ns: AtomicU64::new(0),
            overruns: AtomicU64::new(0),
            reserved: [const { AtomicU64::new(0) }; 2],
            buckets: [const { AtomicU64::new(0) }; BUCKETS],
        }
    }

    /// Counts a latency. For the single writer; constant time.
    #[inline]
    pub fn record(&self, ns: u64) {
        if let Some(bucket) = self.buckets.get(position(ns)) {
            add(bucket, 1);
        }
        add(&self.sum_ns, ns);
        raise(&self.min_inverted, !ns);
        raise(&self.max_ns, ns);
        self.last_ns.store(ns, Relaxed);
        self.samples.store(self.samples.load(Relaxed).wrapping_add(1), Release);
    }

    /// Counts missed periods. For the single writer.
    #[inline]
    pub fn overrun(&self, periods: u64) {
        add(&self.overruns, periods);
    }

    /// Number of latencies counted.
    #[must_use]
    pub fn samples(&self) -> u64 {
        self.samples.load(Acquire)
    }

    /// Missed periods.
    #[must_use]
    pub fn overruns(&self) -> u64 {
        self.overruns.load(Relaxed)
    }

    /// Smallest latency.
    #[must_use]
    pub fn min_ns(&self) -> Option<u64> {
        self.of_samples(&self.min_inverted).map(|inverted| !inverted)
    }

    /// Largest latency.
    #[must_use]
    pub fn max_ns(&self) -> Option<u64> {
        self.of_samples(&self.max_ns)
    }

    /// Latest latency.
    #[must_use]
    pub fn last_ns(&self) -> Option<u64> {
        self.of_samples(&self.last_ns)
    }

    /// Mean latency, rounded down.
    #[must_use]
    pub fn avg_ns(&self) -> Option<u64> {
        let samples = self.samples();
        self.sum_ns.load(Relaxed).checked_div(samples)
    }

    /// The latency that `parts_per_million` of the samples do not exceed (990,000 is the 99th
    /// percentile), rounded up to the end of its bucket but never above the maximum. The error is
    /// under 10 ns below 20.48 µs and under 6.25 % above.
    #[must_use]
    pub fn quantile_ns(&self, parts_per_million: u32) -> Option<u64> {
        let total: u128 = self.buckets.iter().map(|b| u128::from(b.load(Relaxed))).sum();
        let rank = (total * u128::from(parts_per_million.min(1_000_000))).div_ceil(1_000_000).max(1);
        let mut seen = 0;
        for (i, bucket) in self.buckets.iter().enumerate() {
            seen += u128::from(bucket.load(Relaxed));
            if seen >= rank {
                return Some(end(i).min(self.max_ns.load(Relaxed)));
            }
        }
        None
    }

    /// The 99th percentile.
    #[must_use]
    pub fn p99_ns(&self) -> Option<u64> {
        self.quantile_ns(990_000)
    }

    /// The 99.99th percentile.
    #[must_use]
    pub fn p9999_ns(&self) -> Option<u64> {
        self.quantile_ns(999_900)
    }

    /// The non-empty buckets: smallest latency of the bucket, and count.
    pub fn counts(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.buckets
            .iter()
            .enumerate()
            .map(|(i, bucket)| (start(i), bucket.load(Relaxed)))
            .filter(|&(_, count)| count != 0)
    }

    fn of_samples(&self, word: &AtomicU64) -> Option<u64> {
        (self.samples() != 0).then(|| word.load(Relaxed))
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

/// The largest latency counted in the same bucket as this one.
#[must_use]
pub fn bucket_end_ns(ns: u64) -> u64 {
    end(position(ns))
}

/// Adds to a word that only the caller writes.
#[inline]
fn add(word: &AtomicU64, n: u64) {
    word.store(word.load(Relaxed).wrapping_add(n), Relaxed);
}

/// Raises a word that only the caller writes to at least `n`.
#[inline]
fn raise(word: &AtomicU64, n: u64) {
    if n > word.load(Relaxed) {
        word.store(n, Relaxed);
    }
}

/// The bucket of a latency.
#[inline]
const fn position(ns: u64) -> usize {
    if ns < LINEAR_END_NS {
        (ns / LINEAR_NS) as usize
    } else if ns < END_NS {
        LINEAR + log_position(ns)
    } else {
        BUCKETS - 1
    }
}

/// The logarithmic bucket of a latency of at least [`LINEAR_END_NS`].
#[inline]
const fn log_position(ns: u64) -> usize {
    let exponent = ns.ilog2();
    let step = (ns >> (exponent - STEPS_LOG2)) as usize;
    (((exponent - FIRST_EXPONENT) as usize) << STEPS_LOG2) + step - LOG_BIAS
}

/// Bias that puts [`LINEAR_END_NS`] into logarithmic bucket 0.
const LOG_BIAS: usize = (LINEAR_END_NS >> (FIRST_EXPONENT - STEPS_LOG2)) as usize;

/// First latency of a logarithmic bucket.
const fn log_start(bucket: usize) -> u64 {
    let steps = bucket + LOG_BIAS - (1 << STEPS_LOG2);
    let exponent = FIRST_EXPONENT - STEPS_LOG2 + (steps >> STEPS_LOG2) as u32;
    (((steps & ((1 << STEPS_LOG2) - 1)) + (1 << STEPS_LOG2)) as u64) << exponent
}

/// Smallest latency of a bucket.
fn start(bucket: usize) -> u64 {
    match bucket.checked_sub(LINEAR) {
        None => bucket as u64 * LINEAR_NS,
        Some(log) => log_start(log),
    }
}

/// Largest latency of a bucket.
fn end(bucket: usize) -> u64 {
    if bucket + 1 < BUCKETS { start(bucket + 1) - 1 } else { u64::MAX }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_follow_each_other() {
        for i in 0..BUCKETS {
            assert_eq!(position(start(i)), i);
            assert_eq!(position(end(i)), i);
            assert_eq!(bucket_end_ns(start(i)), end(i));
        }
        assert_eq!(start(BUCKETS - 1) + (start(BUCKETS - 1) - start(BUCKETS - 2)), END_NS);
    }
}
