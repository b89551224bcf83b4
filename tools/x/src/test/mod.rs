//! `x test`: every test, on the host and in the emulator.

mod case;
mod expect;
mod fresh;
mod host;
mod hw;
mod installed;
mod miri;
mod program;
mod repeats;
mod sweep;
mod terminal;
mod warnings;

use crate::campaign;
use crate::cli::TestArguments;
use crate::doctor;
use crate::fuzz;
use crate::problem::problem;
use crate::repository::Repository;
use crate::tally::Tally;
use anyhow::{Error, Result};
use case::Case;
use pillion_measure_run::EXPERIMENTS;
use std::path::{Path, PathBuf};

type Test = fn(&Repository) -> Result<Tally>;

/// Tests with a name of their own.
const OTHERS: [(&str, Test); 4] =
    [(sweep::NAME, sweep::run), (terminal::NAME, terminal::run), (fuzz::NAME, fuzz::test), (hw::NAME, hw::run)];
/// Those that run only if they, or all that take long, are named.
const OTHERS_LONG: [(&str, Test); 3] =
    [(installed::NAME, installed::run), (miri::NAME, miri::run), (repeats::NAME, repeats::run)];
/// The name of all that take long.
const LONG: &str = "long";

/// Runs the tests, reports what failed, and closes with `N passed, N failed`.
pub fn command(repository: &Repository, arguments: &TestArguments) -> Result<bool> {
    doctor::ensure(repository, !arguments.host)?;
    let name = arguments.name.as_deref();
    if let Some(name) = name.filter(|name| name.starts_with(fresh::NAME)) {
        let tally = fresh::run(repository, name)?;
        return if tally.is_empty() { Err(unknown(name)) } else { tally.close() };
    }
    let mut tally = Tally::default();
    if !arguments.system && name.is_none() {
        tally.add(host::run(repository)?);
    }
    if !arguments.host {
        tally.add(program::run(repository, program::filter(name))?);
    }
    if !arguments.host && !program::only(name) {
        tally.add(Case::run_all(repository, name)?);
        let wanted = |test: &str| test.contains(name.unwrap_or_default());
        let wanted_long = |test: &str| name.is_some_and(|name| name == LONG || test.contains(name));
        let others = OTHERS.into_iter().filter(|(test, _)| wanted(test));
        for (_, run) in others.chain(OTHERS_LONG.into_iter().filter(|(test, _)| wanted_long(test))) {
            tally.add(run(repository)?);
        }
        if wanted(campaign::NAME) {
            tally.add(campaign::run(repository, &arguments.campaign)?);
        }
    }
    match name {
        Some(name) if tally.is_empty() => Err(unknown(name)),
        _ => tally.close(),
    }
}

fn unknown(name: &str) -> Error {
    let others: Vec<&str> = OTHERS.iter().chain(&OTHERS_LONG).map(|(other, _)| *other).collect();
    let why = "no name of a test in the emulator contains that";
    let remedy = format!(
        "`ls tests/system rt/tests/programs measure/experiments/*/tests` lists them; there are also {}, {} and {}",
        others.join(", "),
        campaign::NAME,
        fresh::NAME
    );
    problem(format!("there is no test {name:?}"), why, remedy)
}

/// The test files in a folder of tests and in the test folders of experiments, sorted.
fn files(repository: &Repository, folder: &str, is_test: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
    let inside = |folder: &Path| folder.read_dir().into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let experiments = inside(&repository.path(EXPERIMENTS)).map(|experiment| experiment.join("tests"));
    let folders = experiments.chain([repository.path(folder)]);
    let mut files: Vec<PathBuf> = folders.flat_map(|folder| inside(&folder)).filter(|file| is_test(file)).collect();
    files.sort();
    files
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::Parser as _;

    #[test]
    fn an_unknown_name_is_said_and_what_names_there_are() {
        let said = unknown("nothing").to_string();
        let names = "nothing terminal fuzz hw installed miri measure-repeats model-sweep campaign fresh";
        assert!(names.split(' ').all(|name| said.contains(name)), "{said}");
    }

    #[test]
    fn tests_on_the_host_have_no_names_here() {
        let accepts = |words: &[&str]| Cli::try_parse_from([&["x", "test"], words].concat()).is_ok();
        assert!(accepts(&["--host"]) && accepts(&["terminal"]) && accepts(&["--system", "terminal"]));
        assert!(!accepts(&["--host", "terminal"]));
    }
}
