//! Checks that counted measurements repeat: an experiment gives the same figures in two clones, to
//! the last digit.

use crate::file::temporary;
use crate::measure::Here;
use crate::progress::step;
use crate::repository::Repository;
use crate::tally::Tally;
use crate::tool;
use anyhow::{Context as _, Result};
use pillion_measure_data::Measurement;
use pillion_measure_run::{measured, written};
use std::fs;
use std::os::unix::fs::symlink;

/// The test's name.
pub const NAME: &str = "measure-repeats";
/// A short experiment that has runs with Linux, without it, and with a card that Linux reads and
/// writes.
const EXPERIMENT: &str = "periodicity";
/// The field of a measurement that depends on the clone.
const CLONE: &str = "commit";

/// Measures here and in a clone, and compares.
pub fn run(repository: &Repository) -> Result<Tally> {
    let (mut first, mut second) =
        step(&format!("test {NAME}"), || Ok((measured(&Here { repository }, EXPERIMENT)?, elsewhere(repository)?)))?;
    for measurement in [&mut first, &mut second] {
        measurement.machine.remove(CLONE);
    }
    let mut tally = Tally::default();
    let wrong = if !first.is_valid() || first.figures.is_empty() {
        Some(format!("{EXPERIMENT} measured nothing: {}", first.disturbed.join("; ")))
    } else {
        (first != second).then(|| format!("two clones at paths of different length measure {EXPERIMENT} differently"))
    };
    tally.take(NAME, wrong);
    Ok(tally)
}

/// Measures in a clone at a longer path, so that anything that contains a path has another length
/// there. Of what is built it shares only Debian's packages.
fn elsewhere(repository: &Repository) -> Result<Measurement> {
    let folder = temporary()?;
    let root = folder.path().join("l".repeat(repository.root().as_os_str().len()));
    fs::create_dir(&root)?;
    repository.copy(&root)?;
    fs::create_dir(root.join("build"))?;
    symlink(repository.build("cache"), root.join("build/cache"))?;
    let mut command = tool::myself();
    command.args(["measure", "run", EXPERIMENT, "--quick", "--jobs", "1"]);
    command.env("PILLION_ROOT", &root).env("CARGO_TARGET_DIR", root.join("target"));
    // The comparison with its baseline may fail; here it is compared with the other clone.
    let output = tool::output(&mut command)?;
    let said = || format!("the clone measures nothing:\n{}", String::from_utf8_lossy(&output.stderr));
    written(&root, EXPERIMENT).with_context(said)
}
