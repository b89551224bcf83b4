//! Time that neither a thread nor an interrupt of Linux used: system management interrupts, a
//! hypervisor.
//!
//! A thread that does nothing but read the clock sees a gap between two readings when something
//! else used the processor. Linux counts interrupts, and no other thread gets the processor without
//! one: gaps that they cannot explain are stolen time.
#![forbid(unsafe_code)]

mod counters;

pub use counters::{Counters, smi};

/// Gaps kept for one piece; more than it can have.
pub const ROOM: usize = 4096;

/// What a piece of watching saw.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Piece {
    /// Lengths of the gaps, in ns.
    pub gaps_ns: Vec<u64>,
    /// Interrupts of the processor meanwhile: slightly more than the piece saw, because those just
    /// before and after it are included.
    pub interrupts: u64,
}

impl Piece {
    /// Whether no interrupt explains its gaps.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        self.interrupts == 0
    }
}

/// Reads a clock for so many of its ticks; stores gaps of at least `threshold` in `room` and
/// returns their number.
#[inline]
pub fn spin(now: impl Fn() -> u64, threshold: u64, ticks: u64, room: &mut [u64]) -> usize {
    let begin = now();
    let (mut last, mut found) = (begin, 0);
    while last.wrapping_sub(begin) < ticks && found < room.len() {
        let read = now();
        let gap = read.wrapping_sub(last);
        if gap >= threshold {
            room[found] = gap;
            found += 1;
        }
        last = read;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn a_threshold_of_a_nanosecond_finds_gaps() {
        let (mut room, begin) = ([0; 8], Instant::now());
        assert_eq!(spin(|| begin.elapsed().as_nanos() as u64, 1, 10_000_000, &mut room), 8);
        assert!(room.iter().all(|&gap| gap >= 1));
    }
}
