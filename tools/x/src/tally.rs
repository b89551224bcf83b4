//! Counts tests.

use anyhow::Result;
use pillion_measure_data::plain;

/// How many passed, and which failed.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Number that passed.
    pub passed: u64,
    /// Those that failed, with the reason.
    pub failed: Vec<String>,
}

impl Tally {
    /// Counts a test, which passed if `wrong` is empty, and reports it if so. Else each item is a
    /// reason why it failed.
    pub fn take(&mut self, name: &str, wrong: impl IntoIterator<Item = String>) {
        let before = self.failed.len();
        self.failed.extend(wrong.into_iter().map(|why| format!("{name}: {why}")));
        if self.failed.len() == before {
            self.passed += 1;
            println!("test {name} ok");
        }
    }

    /// Whether there was no test.
    pub fn is_empty(&self) -> bool {
        self.passed == 0 && self.failed.is_empty()
    }

    /// Adds the counts of some more tests.
    pub fn add(&mut self, other: Tally) {
        self.passed += other.passed;
        self.failed.extend(other.failed);
    }

    /// Reports the result; it is bad if there was no test.
    pub fn close(&self) -> Result<bool> {
        for name in &self.failed {
            println!("FAILED {}", plain(name));
        }
        println!("\n{} passed, {} failed", self.passed, self.failed.len());
        Ok(self.failed.is_empty() && !self.is_empty())
    }
}
