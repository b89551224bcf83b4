//! Jitter of computing: the same work again and again, with a short sleep in between.

use super::Experiment;
use crate::bench::Bench;
use crate::findings::Findings;
use crate::time_source::{Clock, monotonic};
use crate::{preempted, realtime, sleep};
use anyhow::Result;
use clap::Args;
use pillion_measure_data::{Chart, Kind};
use rustix::process::getppid;
use std::hint::black_box;

#[derive(Args, Debug)]
pub struct Cruncher {
    /// How often to compute [default: 1,000, short form 50]
    #[arg(long, value_name = "N")]
    rounds: Option<u64>,
    /// How long to compute at a time, in us
    #[arg(long, default_value_t = 11_000, value_name = "US", value_parser = clap::value_parser!(u64).range(1..))]
    work_us: u64,
    /// How long to sleep in between, in us
    #[arg(long, default_value_t = 500, value_name = "US")]
    sleep_us: u64,
    /// Iterations of the work, instead of as many as take --work-us
    #[arg(long, value_name = "N")]
    iterations: Option<u64>,
    /// Before each computation, make a system call that only Linux answers: a thread in dual mode
    /// computes in Linux then
    #[arg(long)]
    call: bool,
}

impl Experiment for Cruncher {
    const NAME: &'static str = "cruncher";
    const TITLE: &'static str = "Execution-time jitter";
    const ABOUT: &'static str = "How much longer than its shortest round a computation of 11 ms takes.";
    const PAPER: &'static str = "Chanteperdrix et al. 2004 (HYADES), 8";

    fn run(&self, bench: &Bench) -> Result<Findings> {
        bench.be_urgent()?;
        let iterations = self.iterations.unwrap_or_else(|| calibrated(&bench.clock, self.work_us * 1000));
        let mut durations = vec![0; bench.size(self.rounds, 1_000, 50) as usize];
        let before = preempted::count()?;
        for duration in &mut durations {
            sleep::until(monotonic() + self.sleep_us * 1000)?;
            if self.call {
                let _ = getppid();
            }
            *duration = time(&bench.clock, iterations);
        }
        let mut findings = findings(&durations, &bench.clock);
        findings.told("cruncher_iterations", iterations as f64, "1");
        findings.smaller("cruncher_preempted", (preempted::count()? - before) as f64, "1");
        if realtime::is_throttled() {
            findings.disturbed("Linux limits real-time threads to 95 %, and this one needs more: run as root");
        }
        Ok(findings)
    }

    fn charts() -> Vec<Chart> {
        [Kind::Histogram, Kind::Cumulative].map(|kind| Chart::new(kind, Self::TITLE, &["jitter"])).into()
    }
}

/// The work: a chain of multiplications, in registers only, that no compiler can shorten.
fn crunch(iterations: u64) {
    let mut value = black_box(1u64);
    for _ in 0..iterations {
        value = (value ^ value >> 29).wrapping_mul(6_364_136_223_846_793_005);
    }
    black_box(value);
}

fn time(clock: &Clock, iterations: u64) -> u64 {
    let from = clock.ticks();
    crunch(iterations);
    clock.ticks().wrapping_sub(from)
}

/// Iterations that take `nanoseconds`, calibrated by the fastest of several attempts.
fn calibrated(clock: &Clock, nanoseconds: u64) -> u64 {
    const TRY: u64 = 200_000;
    const TRIES: usize = 10;
    let shortest = (0..TRIES).map(|_| time(clock, TRY)).min().expect("there are tries");
    scaled(TRY, clock.nanoseconds(shortest), nanoseconds)
}

fn scaled(iterations: u64, took_ns: f64, wanted_ns: u64) -> u64 {
    (iterations as f64 * wanted_ns as f64 / took_ns.max(1.0)) as u64
}

fn findings(durations: &[u64], clock: &Clock) -> Findings {
    let shortest = durations.iter().min().copied().unwrap_or(0);
    let longest = durations.iter().max().copied().unwrap_or(0);
    let jitter: Vec<u64> = durations.iter().map(|duration| clock.whole(duration - shortest)).collect();
    let mut findings = Findings::default();
    findings.histogram("jitter", "ns", &jitter);
    findings.smaller("crunch_min", clock.nanoseconds(shortest) / 1e3, "us");
    findings.smaller("crunch_max", clock.nanoseconds(longest) / 1e3, "us");
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jitter_is_what_is_beyond_the_shortest_round() {
        let findings = findings(&[2_000, 2_600, 2_000], &Clock::Tsc(2.0));
        assert_eq!((findings.value("jitter_min"), findings.value("jitter_max")), (Some(0.0), Some(300.0)));
        assert_eq!((findings.value("crunch_min"), findings.value("crunch_max")), (Some(1.0), Some(1.3)));
    }

    #[test]
    fn iterations_are_scaled_to_the_time_wanted() {
        assert_eq!(scaled(1000, 500.0, 5_000), 10_000);
    }
}
