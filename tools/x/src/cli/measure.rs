//! The command line of `x measure`.

use clap::{Args, Subcommand};
use pillion_measure_data::Instrument;
use std::path::PathBuf;

/// What `x measure` does.
#[derive(Clone, Subcommand)]
pub enum MeasureCommand {
    /// List the experiments
    List {
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Run experiments, and compare their figures with bars, goals and the baseline
    Run(MeasureRunArguments),
    /// Draw what was measured: one page, and each chart as SVG and PNG
    Report {
        /// Measurements [default: all of build/measure]
        #[arg(value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// Compare two measurements of one experiment
    Compare {
        /// The measurement before
        #[arg(value_name = "OLD.json")]
        old: PathBuf,
        /// The measurement after
        #[arg(value_name = "NEW.json")]
        new: PathBuf,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
}

/// Options of `x measure run`.
#[derive(Args, Clone)]
#[command(after_help = "EXAMPLES
  ./x measure run kernel-paths                      the kernel's paths
  ./x measure run all --quick                       short forms, compared with measure/baselines
  ./x measure run kernel-paths --quick --accept     take the figures as the new baseline
  ./x measure run all --instrument modelled         with the model of caches and TLBs, on every machine of measure/machines

Results go to build/measure/NAME.INSTRUMENT.json; `./x measure report` draws them.")]
pub struct MeasureRunArguments {
    /// Experiments, as `./x measure list` names them, or `all`
    #[arg(required = true, value_name = "NAME|all")]
    pub names: Vec<String>,
    /// How to measure: `counted` counts instructions, `modelled` adds a model of caches and TLBs
    #[arg(long, value_name = "counted|modelled", default_value = "counted", value_parser = instrument)]
    pub instrument: Instrument,
    /// Run the short form, for a first look and for every commit
    #[arg(long)]
    pub quick: bool,
    /// Leave out what Pillion is compared with, Linux without Pillion, where no figure needs it
    #[arg(long, conflicts_with = "accept")]
    pub ours: bool,
    /// With `modelled`: run only on this machine of measure/machines
    #[arg(long, value_name = "PRESET")]
    pub machine: Option<String>,
    /// Emulators that run at the same time [default: one for each processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,
    /// Write the figures to measure/baselines, to compare later ones with
    #[arg(long, requires = "quick")]
    pub accept: bool,
}

fn instrument(text: &str) -> Result<Instrument, String> {
    match text {
        "counted" => Ok(Instrument::Counted),
        "modelled" => Ok(Instrument::Modelled),
        "measured" => Err("real machines are measured by pillion-measure; see measure/portable/linux".into()),
        _ => Err("counted or modelled".into()),
    }
}
