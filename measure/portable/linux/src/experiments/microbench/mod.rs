//! Single operations of Linux, after hbench:OS.

mod bandwidth;
mod mapping;
mod meter;
mod processes;
mod ring;
mod short_calls;
mod signals;
mod streams;
mod temporary_files;

use super::Experiment;
use crate::bench::Bench;
use crate::findings::Findings;
use anyhow::{Context, Result};
use clap::Args;
use clap::builder::PossibleValuesParser;
use meter::Meter;
use pillion_measure_data::{Chart, Kind};

/// An operation: its name, its unit, and how it is measured.
struct Operation {
    name: &'static str,
    unit: Unit,
    measure: fn(&Meter) -> Result<f64>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    /// Nanoseconds; less is better.
    Latency,
    /// MB/s; more is better.
    Bandwidth,
}

const fn latency(name: &'static str, measure: fn(&Meter) -> Result<f64>) -> Operation {
    Operation { name, unit: Unit::Latency, measure }
}

const fn bandwidth(name: &'static str, measure: fn(&Meter) -> Result<f64>) -> Operation {
    Operation { name, unit: Unit::Bandwidth, measure }
}

/// Every operation, in the order of the charts.
const ALL: &[Operation] = &[
    latency("null_call", short_calls::null),
    latency("getpid", short_calls::getpid),
    latency("clock_gettime", short_calls::clock_gettime),
    latency("read_zero", short_calls::read_zero),
    latency("write_null", short_calls::write_null),
    latency("stat", short_calls::stat),
    latency("open_close", short_calls::open_close),
    latency("signal_install", signals::install),
    latency("signal_delivery", signals::delivery),
    latency("context_2_0k", ring::hop::<2, 0>),
    latency("context_8_0k", ring::hop::<8, 0>),
    latency("context_16_0k", ring::hop::<16, 0>),
    latency("context_2_16k", ring::hop::<2, 16>),
    latency("context_8_16k", ring::hop::<8, 16>),
    latency("context_16_16k", ring::hop::<16, 16>),
    latency("pipe_latency", streams::pipe_latency),
    latency("unix_latency", streams::unix_latency),
    latency("tcp_latency", streams::tcp_latency),
    latency("fork_exit", processes::fork_exit),
    latency("fork_exec", processes::fork_exec),
    latency("fork_shell", processes::fork_shell),
    latency("mmap_munmap", mapping::mmap_munmap),
    latency("page_fault", mapping::fault_anonymous),
    latency("page_fault_file", mapping::fault_file),
    latency("file_create_delete", temporary_files::create_delete),
    bandwidth("pipe_bandwidth", streams::pipe_bandwidth),
    bandwidth("file_reread", temporary_files::reread),
    bandwidth("memory_copy", bandwidth::copy),
    bandwidth("memory_read", bandwidth::read),
    bandwidth("memory_write", bandwidth::write),
];

#[derive(Args, Debug)]
pub struct Microbench {
    /// Rounds, of which the best counts [default: 10, short form 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    rounds: Option<u64>,
    /// Measure only these operations
    #[arg(long, value_delimiter = ',', value_name = "LIST", value_parser = names())]
    only: Vec<String>,
}

fn names() -> PossibleValuesParser {
    ALL.iter().map(|operation| operation.name).collect::<Vec<_>>().into()
}

impl Experiment for Microbench {
    const NAME: &'static str = "microbench";
    const TITLE: &'static str = "Operations of Linux";
    const ABOUT: &'static str =
        "System calls, context switches, processes, pages, pipes, signals, files and memory, one by one.";
    const PAPER: &'static str = "Härtig, Hohmuth and Wolter 1998, 5.1, figure 4; Brown and Seltzer 1997 (hbench:OS)";

    fn run(&self, bench: &Bench) -> Result<Findings> {
        bench.be_ordinary()?;
        let rounds = bench.size(self.rounds, 10, 2);
        let meter = Meter { clock: bench.clock, rounds, divisor: if bench.quick { 20 } else { 1 } };
        let mut findings = Findings::default();
        for operation in ALL.iter().filter(|operation| self.wants(operation.name)) {
            let value = (operation.measure)(&meter).context(operation.name)?;
            match operation.unit {
                Unit::Latency => findings.smaller(operation.name, value, "ns"),
                Unit::Bandwidth => findings.larger(operation.name, value, "MB/s"),
            }
        }
        Ok(findings)
    }

    fn charts() -> Vec<Chart> {
        let of = |unit| ALL.iter().filter(move |o| o.unit == unit).map(|o| o.name).collect::<Vec<_>>();
        vec![
            Chart::new(Kind::Bars, "Latencies", &of(Unit::Latency)),
            Chart::new(Kind::Bars, "Bandwidths", &of(Unit::Bandwidth)),
        ]
    }
}

impl Microbench {
    fn wants(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| only == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time_source::Clock;

    #[test]
    fn every_operation_works_and_takes_time() {
        let meter = Meter { clock: Clock::Monotonic, rounds: 1, divisor: u64::MAX };
        for operation in ALL.iter().filter(|operation| operation.name != "fork_exec" && operation.name != "fork_shell")
        {
            let value = (operation.measure)(&meter).unwrap();
            assert!(value > 0.0, "{}", operation.name);
        }
    }
}
