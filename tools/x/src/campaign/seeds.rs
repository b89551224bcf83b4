//! Which seeds are run.

use super::scenario::Scenario;
use crate::file::read_text;
use crate::problem::problem;
use crate::repository::Repository;
use anyhow::{Context as _, Result};
use std::ops::Range;

/// Number of fresh seeds, drawn for each commit.
const FRESH: u64 = 20;

/// Seeds that once found something: per line, a number and what it found.
const KNOWN: &str = "tests/campaign/seeds.txt";

/// `A..B`, or one number.
pub fn range(text: &str) -> Result<Range<u64>> {
    let number = |text: &str| text.trim().parse::<u64>().ok();
    let range = match text.split_once("..") {
        Some((first, end)) => number(first).zip(number(end)).map(|(first, end)| first..end),
        None => number(text).and_then(|only| Some(only..only.checked_add(1)?)),
    };
    range.filter(|range| !range.is_empty()).ok_or_else(|| {
        let why = "it is neither a number nor two numbers, the smaller one first";
        problem(format!("--seeds {text} names no seeds"), why, "write, for example, --seeds 0..1000")
    })
}

/// The known seeds, and fresh ones derived from the commit, so that they can be run again.
pub fn usual(repository: &Repository) -> Result<Vec<Scenario>> {
    let known = known(&read_text(&repository.path(KNOWN))?)?;
    let first = 1_000_000 + repository.number() * FRESH;
    eprintln!("x: campaign: {} known seeds, and {first}..{} from this commit", known.len(), first + FRESH);
    Ok(known.into_iter().chain(first..first + FRESH).map(Scenario::new).collect())
}

fn known(text: &str) -> Result<Vec<u64>> {
    let lines = text.lines().filter(|line| !line.trim_start().starts_with('#') && !line.trim().is_empty());
    let number = |line: &str| line.split_whitespace().next().and_then(|word| word.parse().ok());
    lines.map(|line| number(line).with_context(|| format!("{KNOWN}: no seed begins the line {line:?}"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read() {
        assert_eq!(range("3..5").unwrap(), 3..5);
        assert_eq!(range("7").unwrap(), 7..8);
        assert!(["", "5..3", "x", "3..", "1..1", "18446744073709551615"].into_iter().all(|text| range(text).is_err()));
    }

    #[test]
    fn known_seeds_have_reasons_behind_them() {
        assert_eq!(known("# about\n12 resets by port 0x64\n\n7 x\n").unwrap(), [12, 7]);
        assert!(known("resets").is_err());
    }
}
