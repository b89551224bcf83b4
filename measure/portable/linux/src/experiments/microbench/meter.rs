//! Times an operation: the smallest of the medians of several rounds. The median discards outliers
//! such as interrupts; the smallest discards rounds in which the caches or the processor's
//! frequency had not settled.

use crate::time_source::Clock;
use anyhow::Result;

/// Batches of a round; odd, so that one is in the middle.
const BATCHES: usize = 5;

/// Times operations.
pub struct Meter {
    /// Reads time.
    pub clock: Clock,
    /// Rounds of [`BATCHES`] batches.
    pub rounds: u64,
    /// The short form divides the number of calls in a batch by this.
    pub divisor: u64,
}

impl Meter {
    /// Nanoseconds per call; a batch has `calls` calls. Fails if the operation failed.
    pub fn each(&self, calls: u64, mut operation: impl FnMut() -> Result<()>) -> Result<f64> {
        let calls = (calls / self.divisor).max(1);
        operation()?;
        let mut medians = Vec::new();
        for _ in 0..self.rounds {
            let mut batches = [0; BATCHES];
            for batch in &mut batches {
                *batch = self.batch(calls, &mut operation)?;
            }
            medians.push(median(batches));
        }
        Ok(self.clock.nanoseconds(smallest(&medians)) / calls as f64)
    }

    /// MB/s (1,000,000 bytes) of an operation that moves `bytes` bytes. Fails if the operation did.
    pub fn bandwidth(&self, bytes: usize, calls: u64, operation: impl FnMut() -> Result<()>) -> Result<f64> {
        Ok(bytes as f64 * 1e3 / self.each(calls, operation)?)
    }

    fn batch(&self, calls: u64, operation: &mut impl FnMut() -> Result<()>) -> Result<u64> {
        let from = self.clock.ticks();
        for _ in 0..calls {
            operation()?;
        }
        Ok(self.clock.ticks().wrapping_sub(from))
    }
}

fn median(mut values: [u64; BATCHES]) -> u64 {
    values.sort_unstable();
    values[BATCHES / 2]
}

fn smallest(medians: &[u64]) -> u64 {
    medians.iter().min().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_batch_of_a_round_may_be_disturbed() {
        assert_eq!(median([10, 9000, 12, 11, 9]), 11);
        assert_eq!(smallest(&[30, 11, 12]), 11);
    }

    #[test]
    fn every_call_is_made() {
        let mut calls = 0;
        let meter = Meter { clock: Clock::Monotonic, rounds: 2, divisor: 10 };
        let count = || {
            calls += 1;
            Ok(())
        };
        meter.each(30, count).unwrap();
        assert_eq!(calls, 1 + 2 * BATCHES * 3);
    }

    #[test]
    fn a_failure_is_told() {
        let meter = Meter { clock: Clock::Monotonic, rounds: 1, divisor: 1 };
        assert!(meter.each(1, || anyhow::bail!("on purpose")).is_err());
    }
}
