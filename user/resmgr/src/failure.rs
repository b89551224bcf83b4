//! Why the system cannot be started.

use alloc::{format, string::String};
use core::fmt;
use pillion_abi::status;

/// Why the system cannot be started, as text.
#[derive(Debug)]
pub struct Failure(String);

/// What a step yields, or why it failed.
pub type Result<T> = core::result::Result<T, Failure>;

impl Failure {
    pub fn new(text: impl Into<String>) -> Failure {
        Failure(text.into())
    }

    /// The failure, prefixed with the name of the task it concerns.
    pub fn of(self, whom: &str) -> Failure {
        Failure(format!("{whom}: {}", self.0))
    }

    /// The same for a task on a processor, which is named unless it is the first one.
    pub fn of_task(self, name: &str, cpu: u64) -> Failure {
        if cpu == 0 { self.of(name) } else { self.of(&format!("{name}, on processor {cpu}")) }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Says what was being done when a system call failed.
pub trait While<T> {
    /// The result, or a failure that names the work.
    fn when(self, work: &str) -> Result<T>;
}

impl<T> While<T> for status::Result<T> {
    fn when(self, work: &str) -> Result<T> {
        self.map_err(|error| Failure(format!("{work}: {error:?}")))
    }
}
