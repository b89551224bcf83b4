//! Counts tests.

use crate::problem::problem;
use anyhow::Result;

/// How many passed, and the names of those that failed.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Number that passed.
    pub passed: u64,
    /// Those that failed, with the reason.
    pub failed: Vec<String>,
}

impl Tally {
    /// Adds the counts of some more tests.
    pub fn add(&mut self, other: Tally) {
        self.passed += other.passed;
        self.failed.extend(other.failed);
    }

    /// Says how it went; without a test nothing is good.
    pub fn close(&self) -> Result<bool> {
        if self.passed == 0 && self.failed.is_empty() {
            return Err(problem(
                "no test ran",
                "none has that name",
                "`ls tests/system rt/tests/programs measure/experiments/*/tests` names those in the emulator",
            ));
        }
        for name in &self.failed {
            println!("FAILED {name}");
        }
        println!("\n{} passed, {} failed", self.passed, self.failed.len());
        Ok(self.failed.is_empty())
    }
}
