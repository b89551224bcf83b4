//! Why the system cannot be started.

use alloc::{format, string::String};
use core::fmt;
use pillion_abi::status::{self, Error};

/// Why the system cannot be started, as text.
#[derive(Debug)]
pub struct Failure(String);

/// What a step yields, or why it failed.
pub type Result<T> = core::result::Result<T, Failure>;

impl Failure {
    pub fn new(text: impl Into<String>) -> Failure {
        Failure(text.into())
    }

    /// What was being done when a system call failed, why it failed, and what to do.
    pub fn call(work: &str, error: Error) -> Failure {
        let (why, remedy) = told(error);
        Failure(format!("{work}: {why} ({error:?}); {remedy}"))
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
        self.map_err(|error| Failure::call(work, error))
    }
}

/// Why a call of the manager's can fail with an error, and what to do.
fn told(error: Error) -> (&'static str, &'static str) {
    const REPORT: &str = "it is a fault of the resource manager: report it, with the system file";
    match error {
        Error::NoMemory => (
            "the memory that was taken for the objects does not suffice",
            "let the system file ask for fewer threads or less memory, and report it",
        ),
        Error::Busy => ("something is bound or mapped there already", REPORT),
        Error::Unsupported => {
            ("the machine lacks what it needs", "compare the machine with the requirements in README.md")
        }
        Error::Elsewhere => ("the object belongs to another processor", REPORT),
        Error::TooDeep => ("a chain of calls or of capabilities is too long", REPORT),
        Error::Gone | Error::Timeout => ("the other side does not answer", "look for its fault in the log above"),
        _ => ("the kernel refuses it", REPORT),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString as _;

    #[test]
    fn a_refused_call_says_what_why_and_what_to_do() {
        let refused: status::Result<()> = Err(Error::NoMemory);
        let said = refused.when("making a thread").unwrap_err().of_task("t", 2).to_string();
        assert!(said.starts_with("t, on processor 2: making a thread: the memory that was taken"), "{said}");
        assert!(said.contains("(NoMemory); let the system file ask for"), "{said}");
        for error in Error::ALL {
            let (why, remedy) = told(error);
            assert!(!why.is_empty() && !remedy.is_empty());
        }
    }
}
