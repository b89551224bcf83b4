//! The experiments, and a look-up by name.
//!
//! To add one:
//! 1. Write `src/experiments/NAME.rs` (a folder if it needs several files) with a struct of its
//!    options that derives `clap::Args`.
//! 2. Implement [`Experiment`] for it. `run` measures first and afterwards returns [`Findings`]: it
//!    prints nothing. Sizes are options of type `Option<..>`; [`Bench::size`] chooses between the
//!    option, the full default and the `--quick` one. [`Bench::clock`] reads time,
//!    [`realtime`](crate::realtime) makes a thread urgent, [`process`](crate::process) makes a
//!    child.
//! 3. Add it to [`ALL`]. `run all` runs those that need no argument (`IN_ALL`).
//! 4. Describe its options in README.md.
//!
//! Disturbances that affect every experiment (steal time, a change of the clock source) are watched
//! around `run`; report those that affect only yours with [`Findings::disturbed`]. Put arithmetic
//! into functions without system calls, with tests.

mod command;
mod cruncher;
mod delay;
mod dispatch;
mod inversion;
mod klt;
mod latency;
mod matrix;
mod microbench;
mod monitor;
mod periodicity;
mod reliability;
mod response;
mod rhealstone;
mod scheduler;
mod smi;
mod throughput;

use crate::bench::Bench;
use crate::findings::Findings;
use clap::{ArgMatches, Args, Command};
use pillion_measure_data::Chart;

/// An experiment: its options are its fields.
pub trait Experiment: Args {
    /// Name on the command line.
    const NAME: &'static str;
    /// Headline of its report.
    const TITLE: &'static str;
    /// What it shows, in a sentence.
    const ABOUT: &'static str;
    /// Where the method comes from.
    const PAPER: &'static str;
    /// Whether `run all` runs it.
    const IN_ALL: bool = true;

    /// Measures. Fails if it could not be measured at all. Report a run that was measured but
    /// disturbed with [`Findings::disturbed`].
    fn run(&self, bench: &Bench) -> anyhow::Result<Findings>;

    /// How the report draws it.
    fn charts() -> Vec<Chart> {
        Vec::new()
    }
}

/// An [`Experiment`] with its type erased.
pub struct Entry {
    pub name: &'static str,
    pub title: &'static str,
    pub about: &'static str,
    pub paper: &'static str,
    pub in_all: bool,
    pub charts: fn() -> Vec<Chart>,
    run: fn(&ArgMatches, &Bench) -> anyhow::Result<Findings>,
    augment: fn(Command) -> Command,
}

impl Entry {
    const fn of<E: Experiment>() -> Entry {
        Entry {
            name: E::NAME,
            title: E::TITLE,
            about: E::ABOUT,
            paper: E::PAPER,
            in_all: E::IN_ALL,
            charts: E::charts,
            run: |matches, bench| E::from_arg_matches(matches)?.run(bench),
            augment: E::augment_args,
        }
    }

    /// The subcommand with its options.
    pub fn command(&self) -> Command {
        (self.augment)(Command::new(self.name)).about(self.title).long_about(self.about)
    }

    /// Measures with the options of a command line.
    pub fn run(&self, matches: &ArgMatches, bench: &Bench) -> anyhow::Result<Findings> {
        (self.run)(matches, bench)
    }

    /// Measures with its defaults.
    pub fn run_plain(&self, bench: &Bench) -> anyhow::Result<Findings> {
        self.run(&self.command().no_binary_name(true).try_get_matches_from([""; 0])?, bench)
    }
}

/// Every experiment, in the order of `list`.
pub const ALL: &[Entry] = &[
    Entry::of::<latency::Latency>(),
    Entry::of::<response::Response>(),
    Entry::of::<cruncher::Cruncher>(),
    Entry::of::<matrix::Matrix>(),
    Entry::of::<periodicity::Periodicity>(),
    Entry::of::<smi::Smi>(),
    Entry::of::<microbench::Microbench>(),
    Entry::of::<throughput::Throughput>(),
    Entry::of::<rhealstone::Rhealstone>(),
    Entry::of::<delay::Delay>(),
    Entry::of::<scheduler::Scheduler>(),
    Entry::of::<inversion::Inversion>(),
    Entry::of::<reliability::Reliability>(),
    Entry::of::<dispatch::Dispatch>(),
    Entry::of::<klt::Klt>(),
    Entry::of::<monitor::MonitorCalls>(),
    Entry::of::<command::Command>(),
];

/// Numbers below a limit, spread without a period: multiples of the golden ratio's fraction.
fn spread(number: u64, limit: u64) -> u64 {
    const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
    ((u128::from(number.wrapping_mul(GOLDEN)) * u128::from(limit)) >> 64) as u64
}

/// The experiment with that name.
pub fn find(name: &str) -> Option<&'static Entry> {
    ALL.iter().find(|entry| entry.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_command_lines_sound() {
        let names: BTreeSet<&str> = ALL.iter().map(|entry| entry.name).collect();
        assert_eq!(names.len(), ALL.len());
        crate::cli::command().debug_assert();
    }

    #[test]
    fn what_all_runs_needs_no_argument() {
        for entry in ALL {
            let plain = entry.command().no_binary_name(true).try_get_matches_from([""; 0]);
            assert!(plain.is_ok() || !entry.in_all, "{}", entry.name);
        }
    }

    #[test]
    fn the_readme_has_each_experiment_and_its_options() {
        let readme = include_str!("../../README.md");
        for entry in ALL {
            let line =
                readme.lines().find(|line| line.starts_with(&format!("| `{}` |", entry.name))).expect(entry.name);
            for argument in entry.command().get_arguments().filter_map(|argument| argument.get_long()) {
                assert!(line.contains(&format!("--{argument}")), "{}: --{argument}", entry.name);
            }
        }
    }

    #[test]
    fn numbers_are_spread() {
        let below = (0..1000).filter(|&number| spread(number, 100) < 50).count();
        assert!((490..=510).contains(&below), "{below}");
        assert!((0..1000).all(|number| spread(number, 100) < 100));
    }
}
