//! Timer latency as cyclictest measures it: a thread sleeps until a deadline; how late is it?

mod measuring_thread;
mod rows;

use super::Experiment;
use crate::bench::Bench;
use crate::findings::Findings;
use crate::realtime;
use anyhow::{Result, anyhow};
use clap::Args;
use measuring_thread::{Seen, Task};
use pillion_measure_data::{Chart, Kind};
use std::thread::ScopedJoinHandle;

#[derive(Args, Debug)]
pub struct Latency {
    /// Period of the first thread, in us
    #[arg(long, default_value_t = 1000, value_name = "US", value_parser = clap::value_parser!(u64).range(1..))]
    interval: u64,
    /// Increment of the period for each further thread, in us
    #[arg(long, default_value_t = 500, value_name = "US")]
    distance: u64,
    /// How often each thread sleeps [default: 20,000, short form 2,000]
    #[arg(long, value_name = "N")]
    loops: Option<u64>,
    /// Number of threads; the second and later ones run on further processors in turn
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    threads: u64,
    /// Print a row every second, as Xenomai's latency does
    #[arg(long)]
    live: bool,
}

impl Experiment for Latency {
    const NAME: &'static str = "latency";
    const TITLE: &'static str = "Timer latency";
    const ABOUT: &'static str = "How late a process wakes from a timed sleep.";
    const PAPER: &'static str = "Lackorzynski, Danisevskis, Nordholz and Peter 2012, 4.3; Chanteperdrix et al. 2004, 8";

    fn run(&self, bench: &Bench) -> Result<Findings> {
        let tasks = self.tasks(bench)?;
        let seen: Vec<Seen> = tasks.iter().map(Seen::new).collect();
        realtime::lock_memory()?;
        std::thread::scope(|scope| {
            let start = |(&task, seen)| scope.spawn(move || measuring_thread::live(task, seen));
            let threads: Vec<_> = tasks.iter().zip(&seen).map(start).collect();
            if self.live {
                let is_over = || threads.iter().all(ScopedJoinHandle::is_finished);
                rows::print(&seen, self.interval, bench.priority as u32, is_over)?;
            }
            threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| anyhow!("a thread failed"))?)
        })?;
        Ok(findings(&seen))
    }

    fn charts() -> Vec<Chart> {
        [Kind::Histogram, Kind::Cumulative].map(|kind| Chart::new(kind, Self::TITLE, &["latency"])).into()
    }
}

impl Latency {
    fn tasks(&self, bench: &Bench) -> Result<Vec<Task>> {
        let processors = realtime::processors()?;
        let first = processors.iter().position(|&cpu| cpu == bench.cpu).unwrap_or(0);
        let task = |index: u64| Task {
            cpu: processors[(first + index as usize) % processors.len()],
            priority: bench.priority,
            interval_ns: (self.interval + index * self.distance) * 1000,
            loops: bench.size(self.loops, 20_000, 2_000),
        };
        Ok((0..self.threads).map(task).collect())
    }
}

fn findings(seen: &[Seen]) -> Findings {
    let mut findings = Findings::default();
    let all: Vec<u64> = seen.iter().flat_map(|seen| seen.since(0)).collect();
    findings.histogram("latency", "ns", &all);
    findings.smaller("latency_overruns", seen.iter().map(Seen::overruns).sum::<u64>() as f64, "1");
    for (index, seen) in seen.iter().enumerate().filter(|_| seen.len() > 1) {
        findings.smaller(&format!("latency_t{index}_max"), seen.since(0).max().unwrap_or(0) as f64, "ns");
    }
    if !seen.iter().all(Seen::is_done) {
        findings.disturbed("samples were lost");
    }
    findings
}
