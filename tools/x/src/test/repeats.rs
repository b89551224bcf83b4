//! Counted measurements repeat: two runs of an experiment give the same, to the last digit.

use super::tally::Tally;
use crate::measure::measured;
use crate::progress::step;
use crate::repository::Repository;
use anyhow::Result;

/// The test's name.
pub const NAME: &str = "measure-repeats";
/// An experiment that is soon over, and has runs with Linux, without, and with a card that Linux reads and writes.
const EXPERIMENT: &str = "periodicity";

/// Measures twice, and compares.
pub fn run(repository: &Repository) -> Result<Tally> {
    let (first, second) =
        step(&format!("test {NAME}"), || Ok((measured(repository, EXPERIMENT)?, measured(repository, EXPERIMENT)?)))?;
    let mut tally = Tally::default();
    if !first.is_valid() || first.figures.is_empty() {
        tally.failed.push(format!("{NAME}: {EXPERIMENT} measured nothing: {}", first.disturbed.join("; ")));
    } else if first != second {
        tally.failed.push(format!("{NAME}: two runs of {EXPERIMENT} differ"));
    } else {
        tally.passed += 1;
        println!("test {NAME} ok");
    }
    Ok(tally)
}
