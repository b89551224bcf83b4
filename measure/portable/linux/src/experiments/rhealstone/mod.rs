//! Rhealstone: six operations of a real-time system, between threads of one process; one of them
//! also between processes.

mod exclusion;
mod message;
mod switching;

use super::Experiment;
use crate::bench::Bench;
use crate::dev_measure;
use crate::findings::Findings;
use crate::time_source::Clock;
use anyhow::Result;
use clap::Args;
use pillion_measure_data::{Chart, Kind};

/// How far the threads' priorities are below that of the bench.
const HIGH: i32 = 1;
const MEDIUM: i32 = 2;
const LOW: i32 = 3;

/// Names of the six, in the benchmark's order.
const OPERATIONS: [&str; 6] =
    ["task_switch", "preemption", "interrupt_latency", "semaphore_shuffle", "deadlock_breaking", "message_latency"];
/// The operation that a process cannot observe: it needs the module of linux/measure.
const HANDLER: &str = OPERATIONS[2];
/// Measures an operation `u64` times, with threads of its own; the times are in nanoseconds.
type Measure = fn(&Bench, u64) -> Result<Vec<u64>>;

/// The operations, measured one after the other.
const MEASURE: [Measure; 6] = [
    switching::task_switch,
    switching::preemption,
    switching::interrupt_latency,
    exclusion::semaphore_shuffle,
    exclusion::deadlock_breaking,
    message::latency,
];

#[derive(Args, Debug)]
pub struct Rhealstone {
    /// How often to do each operation [default: 10,000, short form 1,000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(10..))]
    samples: Option<u64>,
}

impl Experiment for Rhealstone {
    const NAME: &'static str = "rhealstone";
    const TITLE: &'static str = "Rhealstone";
    const ABOUT: &'static str = "Task switch, preemption, interrupt, semaphore, deadlock and message: the six operations of the Rhealstone benchmark.";
    const PAPER: &'static str = "Heursch 2006, 3.6.2 and 8.3; Kar and Porter 1989; Kar 1990";

    fn run(&self, bench: &Bench) -> Result<Findings> {
        let samples = bench.size(self.samples, 10_000, 1_000);
        let mut findings = Findings::default();
        let mut means = Vec::new();
        let known = OPERATIONS.iter().zip(MEASURE).filter(|(name, _)| **name != HANDLER || has_handler(bench));
        for (name, measure) in known {
            let measured = measure(bench, samples)?;
            means.push(say(&mut findings, name, &measured));
        }
        say(&mut findings, "semaphore_shuffle_spaces", &exclusion::semaphore_shuffle_spaces(bench, samples)?);
        findings.larger("datagram_throughput", message::throughput(bench, samples / 10)?, "MB/s");
        if means.len() == OPERATIONS.len() {
            findings.larger("rhealstone", operations_per_second(&means), "1/s");
        }
        Ok(findings)
    }

    fn charts() -> Vec<Chart> {
        let means = OPERATIONS.map(|name| format!("{name}_avg"));
        vec![Chart::new(Kind::Bars, Self::TITLE, &means.each_ref().map(String::as_str))]
    }
}

/// Whether the module with the handler is loaded; it reads the time-stamp counter.
fn has_handler(bench: &Bench) -> bool {
    dev_measure::is_there() && matches!(bench.clock, Clock::Tsc(_))
}

/// Reports the figures of an operation, and returns its mean.
fn say(findings: &mut Findings, name: &str, measured: &[u64]) -> f64 {
    findings.told(&format!("{name}_samples"), measured.len() as f64, "1");
    findings.extremes(name, "ns", measured)
}

/// Kar's number of 1990: operations per second if all are equally frequent.
fn operations_per_second(means: &[f64]) -> f64 {
    means.len() as f64 * 1e9 / means.iter().sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_is_that_of_the_mean_operation() {
        assert_eq!(operations_per_second(&[500.0, 1500.0]), 1e6);
    }

    #[test]
    fn an_operation_has_its_figures() {
        let mut findings = Findings::default();
        assert_eq!(say(&mut findings, "a", &[3, 5, 10]), 6.0);
        let values = ["a_samples", "a_min", "a_avg", "a_max"].map(|name| findings.value(name).unwrap());
        assert_eq!(values, [3.0, 3.0, 6.0, 10.0]);
    }
}
