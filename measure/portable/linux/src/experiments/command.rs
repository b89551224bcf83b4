//! The run time of a command: hackbench, a compile.

use super::Experiment;
use crate::bench::Bench;
use crate::findings::Findings;
use anyhow::{Context, Result, ensure};
use clap::Args;
use pillion_measure_data::{Chart, Kind};
use std::process::{Command as Process, Stdio};

#[derive(Args, Debug)]
pub struct Command {
    /// How often to run it [default: 10, short form 3]
    #[arg(long, value_name = "N")]
    times: Option<u64>,
    /// Command and its arguments
    #[arg(required = true, last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

impl Experiment for Command {
    const NAME: &'static str = "command";
    const TITLE: &'static str = "Run time of a command";
    const ABOUT: &'static str = "How long a command takes, from before it is started until it has ended.";
    const PAPER: &'static str = "Lackorzynski, Danisevskis, Nordholz and Peter 2012, 4.1";
    const IN_ALL: bool = false;

    fn run(&self, bench: &Bench) -> Result<Findings> {
        bench.be_ordinary()?;
        let mut durations = vec![0; bench.size(self.times, 10, 3) as usize];
        for duration in &mut durations {
            let from = bench.clock.ticks();
            self.once()?;
            *duration = bench.clock.whole(bench.clock.ticks().wrapping_sub(from));
        }
        Ok(findings(&durations))
    }

    fn charts() -> Vec<Chart> {
        vec![Chart::new(Kind::Bars, Self::TITLE, &["command_avg"])]
    }
}

impl Command {
    fn once(&self) -> Result<()> {
        let mut process = Process::new(&self.command[0]);
        process.args(&self.command[1..]).stdin(Stdio::null()).stdout(Stdio::null());
        let status = process.status().with_context(|| self.command[0].clone())?;
        ensure!(status.success(), "{} failed: {status}", self.command.join(" "));
        Ok(())
    }
}

fn findings(durations: &[u64]) -> Findings {
    let milliseconds = |nanoseconds: u64| nanoseconds as f64 / 1e6;
    let mut findings = Findings::default();
    let sum: u64 = durations.iter().sum();
    findings.smaller("command_min", milliseconds(durations.iter().min().copied().unwrap_or(0)), "ms");
    findings.smaller("command_avg", milliseconds(sum) / durations.len().max(1) as f64, "ms");
    findings.smaller("command_max", milliseconds(durations.iter().max().copied().unwrap_or(0)), "ms");
    findings.told("command_samples", durations.len() as f64, "1");
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn run_times_are_in_milliseconds() {
        let findings = findings(&[2_000_000, 4_000_000]);
        let value = |name| findings.value(name).unwrap();
        assert_eq!((value("command_min"), value("command_avg"), value("command_max")), (2.0, 3.0, 4.0));
    }
}
