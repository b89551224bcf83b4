//! The cost of switching to another thread as the number of ready threads grows.

use super::Experiment;
use crate::bench::Bench;
use crate::findings::{Findings, mean};
use crate::realtime;
use crate::sync::Semaphore;
use crate::team::{self, Member, Stamp, member};
use anyhow::{Context, Result};
use clap::Args;
use pillion_measure_data::{Chart, Kind};
use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

/// Ready threads besides those that are measured.
const READY: [usize; 11] = [0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000];
const STACK_BYTES: usize = 64 << 10;

static IS_OVER: AtomicBool = AtomicBool::new(false);
static BEGUN: AtomicUsize = AtomicUsize::new(0);

#[derive(Args, Debug)]
pub struct Scheduler {
    /// Switches for each number of threads [default: 1,000, short form 100]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    samples: Option<u64>,
    /// Most ready threads
    #[arg(long, default_value_t = 1_000, value_name = "N")]
    most: usize,
}

impl Experiment for Scheduler {
    const NAME: &'static str = "scheduler";
    const TITLE: &'static str = "Scheduler cost";
    const ABOUT: &'static str = "What a wake-up and a yield cost while up to 1,000 other threads are ready.";
    const PAPER: &'static str = "Heursch 2006, 6.1, figures 6.2 and 6.3";

    fn run(&self, bench: &Bench) -> Result<Findings> {
        let samples = bench.size(self.samples, 1_000, 100);
        let mut curves = [Vec::new(), Vec::new(), Vec::new()];
        for ready in READY.into_iter().filter(|&ready| ready <= self.most) {
            let others = Others::begin(bench, ready, Kin::Ordinary)?;
            curves[0].push((ready as f64, mean(&wake(bench, samples)?)));
            curves[1].push((ready as f64, mean(&yields(bench, samples, 2)?)));
            others.end()?;
            let others = Others::begin(bench, ready, Kin::Equal)?;
            let round = mean(&yields(bench, samples.div_ceil(ready as u64 + 1).max(5), 1)?);
            curves[2].push((ready as f64, round / (ready + 1) as f64));
            others.end()?;
        }
        Ok(findings(curves))
    }

    fn charts() -> Vec<Chart> {
        let names = ["wake", "yield_less_urgent", "yield_equal"];
        vec![Chart { x: "ready threads".into(), ..Chart::new(Kind::Lines, Self::TITLE, &names) }]
    }
}

fn findings(curves: [Vec<(f64, f64)>; 3]) -> Findings {
    let mut findings = Findings::default();
    for (name, points) in ["wake", "yield_less_urgent", "yield_equal"].into_iter().zip(curves) {
        let (first, last) = (points.first().map_or(0.0, |point| point.1), points.last().map_or(0.0, |point| point.1));
        findings.smaller(&format!("{name}_0"), first, "ns");
        findings.smaller(&format!("{name}_1000"), last, "ns");
        findings.points(name, "1", "ns", points);
    }
    findings
}

/// From posting a semaphore to the more urgent thread that it wakes.
fn wake(bench: &Bench, samples: u64) -> Result<Vec<u64>> {
    let (semaphore, before) = (Semaphore::new(), Stamp::default());
    let woken = || {
        let mut measured = Vec::with_capacity(samples as usize);
        for _ in 0..samples {
            semaphore.wait();
            measured.push(bench.clock.whole(bench.clock.ticks() - before.get()));
        }
        Ok(measured)
    };
    let waking = || {
        for _ in 0..samples {
            before.set(bench.clock.ticks());
            semaphore.post();
        }
        Ok(Vec::new())
    };
    team::run(bench, vec![member(1, woken), member(2, waking)])
}

/// From a yield until the next of `members` threads runs, or the same one after all its equals.
fn yields(bench: &Bench, samples: u64, members: usize) -> Result<Vec<u64>> {
    let (before, is_last) = (Stamp::default(), AtomicBool::new(false));
    let body = || {
        let mut measured = Vec::with_capacity(samples as usize);
        // All others started after the first of these.
        std::thread::yield_now();
        for _ in 0..samples {
            before.set(bench.clock.ticks());
            std::thread::yield_now();
            if !is_last.load(Relaxed) {
                measured.push(bench.clock.whole(bench.clock.ticks() - before.get()));
            }
        }
        is_last.store(true, Relaxed);
        Ok(measured)
    };
    team::run(bench, (0..members).map(|_| member(1, body)).collect::<Vec<Member>>())
}

/// What the other ready threads do.
#[derive(Clone, Copy, PartialEq)]
enum Kin {
    /// Compute, under the ordinary policy.
    Ordinary,
    /// Yield, at the priority of the measured threads.
    Equal,
}

/// Threads that stay ready until they are ended.
struct Others(Vec<JoinHandle<Result<()>>>);

impl Others {
    fn begin(bench: &Bench, count: usize, kin: Kin) -> Result<Others> {
        bench.be_urgent()?;
        IS_OVER.store(false, Relaxed);
        BEGUN.store(0, Relaxed);
        let priority = bench.priority - 1;
        let builder = || Builder::new().stack_size(STACK_BYTES);
        let threads = (0..count).map(|_| builder().spawn(move || other(kin, priority)));
        let others = Others(threads.collect::<Result<_, _>>().context("there is no room for so many threads")?);
        // They have this thread's priority until they have run once.
        while BEGUN.load(Relaxed) < count {
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(others)
    }

    fn end(self) -> Result<()> {
        IS_OVER.store(true, Relaxed);
        self.0.into_iter().try_for_each(|thread| thread.join().unwrap_or(Ok(())))
    }
}

fn other(kin: Kin, priority: i32) -> Result<()> {
    BEGUN.fetch_add(1, Relaxed);
    match kin {
        Kin::Ordinary => realtime::be_ordinary()?,
        Kin::Equal => realtime::be_fifo(priority)?,
    }
    while !IS_OVER.load(Relaxed) {
        if kin == Kin::Equal { std::thread::yield_now() } else { spin_loop() }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_has_its_ends_as_figures() {
        let findings = findings([vec![(0.0, 700.0), (1000.0, 710.0)], Vec::new(), Vec::new()]);
        assert_eq!((findings.value("wake_0"), findings.value("wake_1000")), (Some(700.0), Some(710.0)));
    }
}
