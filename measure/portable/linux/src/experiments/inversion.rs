//! Priority inversion: how long an urgent thread waits for a mutex, depending on how long a thread
//! of medium priority computes.

use super::Experiment;
use crate::bench::Bench;
use crate::findings::Findings;
use crate::sync::{Mutex, Protocol, Semaphore};
use crate::team::{self, Stamp, member};
use anyhow::Result;
use clap::Args;
use pillion_measure_data::{Chart, Kind};
use std::hint::spin_loop;

/// How long the low thread computes while it holds the mutex.
const CRITICAL_NS: u64 = 5_000;
const PROTOCOLS: [(&str, Protocol); 2] = [("none", Protocol::None), ("inherit", Protocol::Inherit)];

#[derive(Args, Debug)]
pub struct Inversion {
    /// Step of the medium thread's computing time, in us
    #[arg(long, default_value_t = 100, value_name = "US")]
    step_us: u64,
    /// Number of steps
    #[arg(long, default_value_t = 20, value_name = "N")]
    steps: u64,
    /// How often to try each [default: 20, short form 5]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    rounds: Option<u64>,
}

impl Experiment for Inversion {
    const NAME: &'static str = "inversion";
    const TITLE: &'static str = "Priority inversion";
    const ABOUT: &'static str = "How long a high-priority thread waits for a mutex that a low-priority one holds while a third of medium priority computes, with and without priority inheritance.";
    const PAPER: &'static str = "Heursch 2006, 7.5.2, figures 7.8 and 7.9";

    fn run(&self, bench: &Bench) -> Result<Findings> {
        let rounds = bench.size(self.rounds, 20, 5);
        let mut findings = Findings::default();
        for (name, protocol) in PROTOCOLS {
            let longest = |step| {
                let length = step * self.step_us;
                let waited = wait(bench, protocol, length * 1000, rounds)?;
                Ok((length as f64, waited.into_iter().max().unwrap_or(0) as f64))
            };
            say(&mut findings, name, (0..=self.steps).map(longest).collect::<Result<_>>()?);
        }
        Ok(findings)
    }

    fn charts() -> Vec<Chart> {
        vec![Chart {
            x: "medium thread computes".into(),
            ..Chart::new(Kind::Lines, Self::TITLE, &["wait_none", "wait_inherit"])
        }]
    }
}

/// Reports a curve, and by how much the medium thread lengthens the wait.
fn say(findings: &mut Findings, name: &str, points: Vec<(f64, f64)>) {
    let waits = || points.iter().map(|point| point.1);
    let (least, most) = (waits().fold(f64::INFINITY, f64::min), waits().fold(0.0, f64::max));
    findings.smaller(&format!("inversion_{name}"), most - least, "ns");
    findings.smaller(&format!("wait_{name}_max"), most, "ns");
    let in_microseconds = points.into_iter().map(|(length, wait)| (length, wait / 1e3)).collect();
    findings.points(&format!("wait_{name}"), "us", "us", in_microseconds);
}

fn wait(bench: &Bench, protocol: Protocol, medium_ns: u64, rounds: u64) -> Result<Vec<u64>> {
    let (mutex, asked) = (Mutex::new(protocol)?, Stamp::default());
    let (high_begins, medium_begins) = (Semaphore::new(), Semaphore::new());
    let high = || {
        let mut waited = Vec::with_capacity(rounds as usize);
        for _ in 0..rounds {
            high_begins.wait();
            medium_begins.post();
            mutex.lock();
            waited.push(bench.clock.whole(bench.clock.ticks() - asked.get()));
            // SAFETY: this thread has locked it.
            unsafe { mutex.unlock() };
        }
        Ok(waited)
    };
    let medium = || {
        for _ in 0..rounds {
            medium_begins.wait();
            compute(bench, medium_ns);
        }
        Ok(Vec::new())
    };
    let low = || {
        for _ in 0..rounds {
            mutex.lock();
            asked.set(bench.clock.ticks());
            high_begins.post();
            compute(bench, CRITICAL_NS);
            // SAFETY: this thread has locked it.
            unsafe { mutex.unlock() };
        }
        Ok(Vec::new())
    };
    team::run(bench, vec![member(1, high), member(2, medium), member(3, low)])
}

fn compute(bench: &Bench, nanoseconds: u64) {
    let start = bench.clock.ticks();
    while bench.clock.whole(bench.clock.ticks() - start) < nanoseconds {
        spin_loop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inversion_is_what_the_curve_rises() {
        let mut findings = Findings::default();
        say(&mut findings, "none", vec![(0.0, 7.0), (100.0, 107.0), (200.0, 205.0)]);
        assert_eq!(findings.value("inversion_none"), Some(198.0));
        assert_eq!(findings.value("wait_none_max"), Some(205.0));
    }
}
