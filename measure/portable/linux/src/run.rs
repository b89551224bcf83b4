//! `pillion-measure run`.

use crate::bench::Bench;
use crate::clock::{Choice, Clock};
use crate::experiments::{self, Entry};
use crate::findings::Findings;
use crate::load::Beside;
use crate::watch::Watch;
use crate::{machine, measurement, output, realtime};
use anyhow::{Context, Result};
use clap::{ArgMatches, Args, FromArgMatches};
use pillion_measure_data::{Instrument, Measurement};
use std::path::PathBuf;
use std::time::SystemTime;

/// The name that stands for every experiment.
pub const ALL: &str = "all";

/// Options of every run.
#[derive(Args, Debug)]
pub struct Options {
    /// Short form: fewer samples; its figures are not those of the full one
    #[arg(long, global = true)]
    pub quick: bool,
    /// Say the lines of `figure`, `histogram` and `points` also on a terminal
    #[arg(long, global = true)]
    pub lines: bool,
    /// Print histograms as cyclictest does: a row for each value below the limit, in microseconds
    #[arg(short = 'h', long, global = true, value_name = "LIMIT")]
    pub histogram: Option<u64>,
    /// Write the measurement: a file; for `all` a folder, which gets NAME.json for each
    #[arg(long, global = true, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write latencies as `cyclictest --json` does
    #[arg(long, global = true, value_name = "FILE")]
    pub cyclictest_json: Option<PathBuf>,
    /// What time is here: `counted` in an emulator that counts instructions
    #[arg(long, global = true, default_value = "measured", value_parser = instrument)]
    pub instrument: Instrument,
    /// Measure in a virtual machine: what is measured is not the hardware's
    #[arg(long, global = true)]
    pub allow_virtual: bool,
    /// Name of this system, which tells it apart from others in a chart [default: linux or
    /// linux-rt]
    #[arg(long, global = true, value_name = "NAME")]
    pub system: Option<String>,
    /// Processor on which is measured [default: the last one that this process may use]
    #[arg(long, global = true, value_name = "N")]
    pub cpu: Option<usize>,
    /// Priority under SCHED_FIFO
    #[arg(long, global = true, default_value_t = 98, value_parser = clap::value_parser!(i32).range(1..=99))]
    pub priority: i32,
    /// Which clock measures durations
    #[arg(long, global = true, value_enum, default_value_t = Choice::Auto)]
    pub clock: Choice,
    /// Loads of `pillion-measure load` that run beside, on the same processor
    #[arg(long, global = true, value_delimiter = ',', value_name = "LIST")]
    pub load: Vec<String>,
    /// A command of the shell that is repeated beside; may be given more than once
    #[arg(long, global = true, value_name = "COMMAND")]
    pub beside: Vec<String>,
}

fn instrument(text: &str) -> Result<Instrument, String> {
    let known = Instrument::ALL.into_iter().find(|instrument| instrument.name() == text);
    known.ok_or_else(|| format!("not one of {}", Instrument::ALL.map(Instrument::name).join(", ")))
}

/// Runs what the command line names; false when a run was disturbed.
///
/// # Errors
/// An experiment could not be run.
pub fn run(matches: &ArgMatches) -> Result<bool> {
    let options = Options::from_arg_matches(matches)?;
    let (name, own) = matches.subcommand().context("no experiment was named")?;
    let bench = bench(&options)?;
    let _unthrottled = realtime::unthrottle();
    let _awake = realtime::stay_awake();
    if name != ALL {
        let entry = experiments::find(name).context("there is no such experiment; see `pillion-measure list`")?;
        return one(entry, Some(own), &options, &bench);
    }
    let mut is_good = true;
    for entry in experiments::ALL.iter().filter(|entry| entry.in_all) {
        is_good &= one(entry, None, &options, &bench)?;
    }
    Ok(is_good)
}

fn bench(options: &Options) -> Result<Bench> {
    let clock = Clock::choose(options.clock, options.instrument != Instrument::Measured)?;
    let last = || Ok::<_, anyhow::Error>(realtime::processors()?.last().copied().unwrap_or(0));
    let cpu = options.cpu.map_or_else(last, Ok)?;
    Ok(Bench { clock, instrument: options.instrument, quick: options.quick, cpu, priority: options.priority })
}

/// Runs one experiment and shows what it found.
fn one(entry: &Entry, own: Option<&ArgMatches>, options: &Options, bench: &Bench) -> Result<bool> {
    let began = SystemTime::now();
    let findings = match virtual_machine(options) {
        Some(reason) => Findings { disturbances: vec![reason], ..Findings::default() },
        None => measure(entry, own, options, bench).with_context(|| format!("experiment {}", entry.name))?,
    };
    let measurement = measurement::of(entry, &findings, options, bench);
    if let Some(path) = &options.json {
        output::keep(&measurement, path, own.is_none())?;
    }
    output::show(entry, &findings, &measurement, options, began)?;
    Ok(measurement.is_valid() && no_bar_is_broken(&measurement))
}

fn measure(entry: &Entry, own: Option<&ArgMatches>, options: &Options, bench: &Bench) -> Result<Findings> {
    let _before = realtime::remember();
    let mut beside = Beside::begin(&options.load, &options.beside, bench.cpu)?;
    let watch = Watch::begin(bench.cpu);
    let mut findings = match own {
        Some(own) => entry.run(own, bench)?,
        None => entry.run_plain(bench)?,
    };
    findings.disturbances.extend(watch.end());
    findings.disturbances.extend(beside.ended());
    Ok(findings)
}

fn no_bar_is_broken(measurement: &Measurement) -> bool {
    !measurement.figures.iter().any(|figure| figure.is_beyond_bar())
}

/// Why this machine is none that can be measured.
fn virtual_machine(options: &Options) -> Option<String> {
    let name = machine::hypervisor()?;
    (options.instrument == Instrument::Measured && !options.allow_virtual).then(|| {
        format!("this is a virtual machine ({name}): no latency of hardware can be measured; --allow-virtual does so all the same")
    })
}
