//! Options of `pillion-measure run` that every experiment has.

use crate::time_source::Choice;
use clap::Args;
use pillion_measure_data::Instrument;
use std::path::PathBuf;

/// Options of every run.
#[derive(Args, Debug)]
pub struct Options {
    /// Run the short form: fewer samples; its figures are not those of the full one
    #[arg(long, global = true)]
    pub quick: bool,
    /// Print the lines of `figure`, `histogram` and `points` on a terminal as well
    #[arg(long, global = true)]
    pub lines: bool,
    /// Print histograms as cyclictest does: a row for each value below the limit, in microseconds
    #[arg(short = 'h', long, global = true, value_name = "LIMIT")]
    pub histogram: Option<u64>,
    /// Write the measurement to a file; for `all`, to a folder, as NAME.json for each
    #[arg(long, global = true, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write latencies in the format of `cyclictest --json`
    #[arg(long, global = true, value_name = "FILE")]
    pub cyclictest_json: Option<PathBuf>,
    /// The unit of time: `counted` in an emulator that counts instructions
    #[arg(long, global = true, default_value = "measured", value_parser = instrument)]
    pub instrument: Instrument,
    /// Allow measuring in a virtual machine: the results are not those of the hardware
    #[arg(long, global = true)]
    pub allow_virtual: bool,
    /// Name of this system, to tell it apart from others in a chart [default: linux or linux-rt]
    #[arg(long, global = true, value_name = "NAME")]
    pub system: Option<String>,
    /// Processor to measure on [default: the last one that this process may use]
    #[arg(long, global = true, value_name = "N")]
    pub cpu: Option<usize>,
    /// Priority under SCHED_FIFO
    #[arg(long, global = true, default_value_t = 98, value_parser = clap::value_parser!(i32).range(1..=99))]
    pub priority: i32,
    /// Clock that measures durations
    #[arg(long, global = true, value_enum, default_value_t = Choice::Auto)]
    pub clock: Choice,
    /// Loads of `pillion-measure load` to run beside the experiment, on the same processor
    #[arg(long, global = true, value_delimiter = ',', value_name = "LIST")]
    pub load: Vec<String>,
    /// A shell command to repeat beside the experiment; may be given more than once
    #[arg(long, global = true, value_name = "COMMAND")]
    pub beside: Vec<String>,
}

fn instrument(text: &str) -> Result<Instrument, String> {
    let known = Instrument::ALL.into_iter().find(|instrument| instrument.name() == text);
    known.ok_or_else(|| format!("not one of {}", Instrument::ALL.map(Instrument::name).join(", ")))
}
