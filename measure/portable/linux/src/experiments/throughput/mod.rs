//! Multi-user throughput: jobs done per minute as the number of concurrent users grows.

mod jobs;

use super::Experiment;
use crate::bench::Bench;
use crate::findings::Findings;
use crate::process::{Child, child};
use anyhow::Result;
use clap::Args;
use pillion_measure_data::{Chart, Kind};
use std::io::{PipeReader, Read, Write, pipe};

/// Default numbers of concurrent users.
const USERS: [u64; 7] = [1, 2, 4, 8, 16, 32, 64];

#[derive(Args, Debug)]
pub struct Throughput {
    /// Numbers of concurrent users
    #[arg(long, value_delimiter = ',', value_name = "LIST", default_values_t = USERS)]
    users: Vec<u64>,
    /// Jobs that each user does [default: 20, short form 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    jobs: Option<u64>,
}

impl Experiment for Throughput {
    const NAME: &'static str = "throughput";
    const TITLE: &'static str = "Multi-user throughput";
    const ABOUT: &'static str = "Jobs done in a minute as more and more users work at once.";
    const PAPER: &'static str = "Härtig, Hohmuth and Wolter 1998, 5.2, figure 5";

    fn run(&self, bench: &Bench) -> Result<Findings> {
        bench.be_ordinary()?;
        let each = bench.size(self.jobs, 20, 1);
        work(bench, 1, 1)?;
        let mut curve = Vec::new();
        for &users in &self.users {
            let nanoseconds = work(bench, users, each)?;
            curve.push((users as f64, per_minute(users * each, nanoseconds)));
        }
        Ok(findings(curve))
    }

    fn charts() -> Vec<Chart> {
        vec![Chart {
            x: "users".into(),
            y: "jobs per minute".into(),
            ..Chart::new(Kind::Lines, Self::TITLE, &["throughput"])
        }]
    }
}

/// Lets users work concurrently; returns the time until the last one is done, in ns.
fn work(bench: &Bench, users: u64, jobs: u64) -> Result<f64> {
    let (gate, opener) = pipe()?;
    let start = |user| child(|| one_user(&gate, user, jobs));
    let children = (0..users as usize).map(start).collect::<Result<Vec<Child>>>()?;
    let from = bench.clock.ticks();
    for _ in 0..users {
        (&opener).write_all(&[1])?;
    }
    children.into_iter().try_for_each(Child::wait)?;
    Ok(bench.clock.nanoseconds(bench.clock.ticks().wrapping_sub(from)))
}

/// A user, who waits until all are there.
fn one_user(mut gate: &PipeReader, user: usize, jobs: u64) -> Result<()> {
    gate.read_exact(&mut [0])?;
    (0..jobs).try_for_each(|_| jobs::job(user))
}

fn per_minute(jobs: u64, nanoseconds: f64) -> f64 {
    jobs as f64 * 60e9 / nanoseconds.max(1.0)
}

fn findings(curve: Vec<(f64, f64)>) -> Findings {
    let rates: Vec<f64> = curve.iter().map(|&(_, rate)| rate).collect();
    let mut findings = Findings::default();
    findings.larger("throughput_max", rates.iter().copied().fold(0.0, f64::max), "1/min");
    findings.larger("throughput_avg", rates.iter().sum::<f64>() / rates.len().max(1) as f64, "1/min");
    findings.points("throughput", "1", "1/min", curve);
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_and_the_mean_rate_are_told() {
        let findings = findings(vec![(1.0, per_minute(10, 60e9)), (2.0, per_minute(10, 30e9))]);
        assert_eq!(findings.value("throughput_max"), Some(20.0));
        assert_eq!(findings.value("throughput_avg"), Some(15.0));
    }
}
