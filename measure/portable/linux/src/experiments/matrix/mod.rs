//! Computing beside a Linux that uses the caches heavily.

mod kernels;

use super::Experiment;
use crate::bench::Bench;
use crate::findings::Findings;
use crate::time_source::monotonic;
use crate::{preempted, sleep};
use anyhow::Result;
use clap::Args;
use clap::builder::PossibleValuesParser;
use kernels::{ALL, Kernel};
use pillion_measure_data::{Chart, Kind};

#[derive(Args, Debug)]
pub struct Matrix {
    /// How often to run each kernel [default: 2,000, short form 100]
    #[arg(long, value_name = "N")]
    rounds: Option<u64>,
    /// How long to sleep in between, in us: others then run, and take the caches
    #[arg(long, default_value_t = 1000, value_name = "US")]
    pause: u64,
    /// Run only these kernels
    #[arg(long, value_delimiter = ',', value_name = "LIST", value_parser = names())]
    only: Vec<String>,
}

fn names() -> PossibleValuesParser {
    ALL.map(|(name, _)| name).into()
}

impl Experiment for Matrix {
    const NAME: &'static str = "matrix";
    const TITLE: &'static str = "Computing beside others";
    const ABOUT: &'static str =
        "How long a 64 x 64 matrix multiplication, a Fourier transform, a sort and a walk through memory take.";
    const PAPER: &'static str = "Härtig, Hohmuth and Wolter 1998, 5; Liedtke, Härtig and Hohmuth 1997";

    fn run(&self, bench: &Bench) -> Result<Findings> {
        bench.be_urgent()?;
        let rounds = bench.size(self.rounds, 2_000, 100);
        let before = preempted::count()?;
        let mut findings = Findings::default();
        for (name, make) in ALL.into_iter().filter(|(name, _)| self.wants(name)) {
            let durations = measure(bench, make(), rounds, self.pause * 1000)?;
            findings.histogram(name, "ns", &durations);
        }
        findings.smaller("matrix_preempted", (preempted::count()? - before) as f64, "1");
        Ok(findings)
    }

    fn charts() -> Vec<Chart> {
        ALL.map(|(name, _)| Chart::new(Kind::Histogram, name, &[name])).into()
    }
}

impl Matrix {
    fn wants(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| only == name)
    }
}

/// Times a kernel round by round, after a warm-up round.
fn measure(bench: &Bench, mut kernel: Kernel, rounds: u64, pause_ns: u64) -> Result<Vec<u64>> {
    let mut ticks = vec![0; rounds as usize];
    kernel();
    for duration in &mut ticks {
        sleep::until(monotonic() + pause_ns)?;
        let from = bench.clock.ticks();
        kernel();
        *duration = bench.clock.ticks().wrapping_sub(from);
    }
    Ok(ticks.into_iter().map(|ticks| bench.clock.whole(ticks)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_chooses() {
        let matrix = |only: &[&str]| Matrix { rounds: None, pause: 0, only: only.iter().map(|&n| n.into()).collect() };
        assert!(matrix(&[]).wants("fft") && matrix(&["fft"]).wants("fft") && !matrix(&["fft"]).wants("sort"));
    }
}
