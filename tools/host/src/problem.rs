//! Problems that the user can solve, with one clear message each.

use anyhow::{Error, anyhow};
use std::fmt::Display;

/// What is wrong, why, and what to do about it, ready to be returned as an error.
pub fn problem(what: impl Display, why: impl Display, remedy: impl Display) -> Error {
    problems(what, [(why, remedy)])
}

/// The same for several reasons, each with its remedy.
pub fn problems(what: impl Display, reasons: impl IntoIterator<Item = (impl Display, impl Display)>) -> Error {
    let reasons = reasons.into_iter().map(|(why, remedy)| format!("\n   why: {why}\n   do:  {remedy}"));
    anyhow!("{what}{}", reasons.collect::<String>())
}

/// Messages of other programs when a disk is full.
const FULL: [&str; 2] = ["No space left on device", "enough free space"];

/// The message for an error. For anything that failed because a disk is full, the remedy is to free
/// space, whatever the problem itself recommends.
pub fn text(error: &Error) -> String {
    let text = format!("{error:#}");
    if !FULL.iter().any(|words| text.contains(words)) {
        return text;
    }
    let said: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with("do:  ")).collect();
    format!("{}\n   do:  make room: a disk is full; `./x doctor` checks those that Pillion needs", said.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_needs_room_whoever_met_it() {
        let apt = "apt-get failed:\nE: Write error - write (28: No space left on device)";
        let said = text(&problem("gcc could not be installed", apt, "apt-get install gcc").context("building"));
        assert!(said.contains("Write error") && said.contains("make room"), "{said}");
        assert!(!said.contains("do:  apt-get install"), "{said}");
        assert!(text(&std::io::Error::from_raw_os_error(28).into()).contains("make room"));
        assert_eq!(text(&problem("a", "b", "c")), "a\n   why: b\n   do:  c");
    }
}
