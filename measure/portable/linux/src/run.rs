//! `pillion-measure run`.

use crate::bench::Bench;
use crate::disturbances::Watch;
use crate::experiments::{self, Entry};
use crate::findings::Findings;
use crate::load::Beside;
use crate::options::Options;
use crate::time_source::Clock;
use crate::{measurement, output, realtime, this_machine};
use anyhow::{Context, Result};
use clap::{ArgMatches, FromArgMatches};
use pillion_measure_data::{Instrument, Measurement};
use std::time::SystemTime;

/// The name that selects every experiment.
pub const ALL: &str = "all";

/// Runs what the command line names; false if a run was disturbed. Fails if one could not be run.
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

/// Runs one experiment and shows its findings.
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
    let watch = Watch::begin(bench.cpu, bench.instrument);
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

/// Why this machine cannot be measured.
fn virtual_machine(options: &Options) -> Option<String> {
    let name = this_machine::hypervisor()?;
    (options.instrument == Instrument::Measured && !options.allow_virtual).then(|| {
        format!("this is a virtual machine ({name}): latencies of hardware cannot be measured in it; --allow-virtual measures anyway")
    })
}
