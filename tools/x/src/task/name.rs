//! Names of programs: the names that a system file allows for tasks.

use crate::problem::problem;
use anyhow::Result;

/// The longest name.
const LONGEST: usize = 31;
/// Names of the system's own tasks.
const TAKEN: [&str; 4] = ["resmgr", "vmm", "broker", "linux"];

/// Refuses a text that cannot be a program's name.
pub fn check(name: &str) -> Result<()> {
    let remedy = "use 1 to 31 letters, digits, '-' and '_', and start with a letter";
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if TAKEN.contains(&name) {
        return Err(problem(
            format!("{name} cannot be a task's name"),
            "the system has a task of that name",
            "choose another",
        ));
    }
    let starts = name.starts_with(|c: char| c.is_ascii_alphabetic());
    if starts && name.len() <= LONGEST && name.chars().all(allowed) {
        return Ok(());
    }
    Err(problem(format!("{name:?} cannot be a task's name"), "it names files and appears in reports", remedy))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short_and_plain() {
        for good in ["a", "my-task", "Motor_2", "a234567890123456789012345678901"] {
            assert!(check(good).is_ok(), "{good}");
        }
        for bad in ["", "2nd", "-o", "a/b", "../a", "ä", "a b", "vmm", "a2345678901234567890123456789012"] {
            assert!(check(bad).is_err(), "{bad}");
        }
    }
}
