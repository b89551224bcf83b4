//! Two threads triggered in turn by a third one, on a timer of 100 us: the time from each
//! activation to the next, whichever thread it is.

use super::Experiment;
use crate::bench::Bench;
use crate::findings::Findings;
use crate::time_source::{Clock, monotonic};
use crate::{realtime, sleep};
use anyhow::{Context, Result, anyhow};
use clap::Args;
use pillion_measure_data::{Chart, Kind};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::thread::{Thread, park};

/// Number of points reported; the histogram has all.
const SHOWN: usize = 2000;

#[derive(Args, Debug)]
pub struct Periodicity {
    /// Period of the timer, in us
    #[arg(long, default_value_t = 100, value_name = "US", value_parser = clap::value_parser!(u64).range(1..))]
    period: u64,
    /// How often the timer triggers a thread [default: 40,000, short form 4,000]
    #[arg(long, value_name = "N")]
    activations: Option<u64>,
}

/// A triggered thread: how often it was triggered, and whether the timer's thread is doing so now.
#[derive(Default)]
struct Trigger {
    count: AtomicU64,
    is_pulled: AtomicBool,
}

/// The times of all activations in order, and how many came after the timer's thread had continued.
type Log = (Vec<u64>, u64);

impl Experiment for Periodicity {
    const NAME: &'static str = "periodicity";
    const TITLE: &'static str = "Periodicity of two threads";
    const ABOUT: &'static str = "Time from each activation to the next of two threads that a timer triggers in turn.";
    const PAPER: &'static str = "Härtig, Hohmuth and Wolter 1998, 5.3, figures 6 to 8";

    fn run(&self, bench: &Bench) -> Result<Findings> {
        let activations = bench.size(self.activations, 40_000, 4_000);
        let (log, late) = measure(bench, self.period * 1000, activations)?;
        let mut findings = findings(&log, activations, self.period * 1000, &bench.clock);
        if late > 0 {
            findings.disturbed(format!(
                "{late} activations came after the timer's thread had gone on: it is not the less urgent one"
            ));
        }
        Ok(findings)
    }

    fn charts() -> Vec<Chart> {
        vec![
            Chart::new(Kind::Timeline, Self::TITLE, &["activation"]),
            Chart::new(Kind::Histogram, "Time between activations", &["period"]),
        ]
    }
}

/// Runs the three threads. This one is the timer's.
fn measure(bench: &Bench, period_ns: u64, activations: u64) -> Result<Log> {
    bench.be_urgent()?;
    realtime::be_fifo((bench.priority - 1).max(1))?;
    let triggers = [Trigger::default(), Trigger::default()];
    // Without it, a thread that ends, and the thread that frees its locked stack, would delay the
    // other thread's last activation by a millisecond.
    let end = Barrier::new(triggers.len());
    let each = activations / 2;
    let logs = std::thread::scope(|scope| {
        let threads: Vec<_> = triggers.iter().map(|trigger| scope.spawn(|| wait(bench, trigger, each, &end))).collect();
        let handles: Vec<&Thread> = threads.iter().map(|thread| thread.thread()).collect();
        fire(&triggers, &handles, period_ns, each * 2)?;
        let logs = threads.into_iter().map(|thread| thread.join().map_err(|_| anyhow!("a thread failed"))?);
        logs.collect::<Result<Vec<Log>>>()
    })?;
    Ok(merged(logs))
}

/// The timer's thread. The thread that it triggers is more urgent and runs at once, as in the paper
/// and in the real-time tasks.
fn fire(triggers: &[Trigger; 2], threads: &[&Thread], period_ns: u64, activations: u64) -> Result<()> {
    let mut deadline = monotonic() + 100 * period_ns;
    for number in 0..activations as usize {
        sleep::until(deadline)?;
        let trigger = &triggers[number % 2];
        trigger.is_pulled.store(true, SeqCst);
        trigger.count.fetch_add(1, SeqCst);
        threads[number % 2].unpark();
        trigger.is_pulled.store(false, SeqCst);
        deadline += period_ns;
    }
    Ok(())
}

/// The body of a triggered thread.
fn wait(bench: &Bench, trigger: &Trigger, activations: u64, end: &Barrier) -> Result<Log> {
    let is_urgent = realtime::pin(bench.cpu).and_then(|()| realtime::be_fifo(bench.priority));
    let (mut log, mut late) = (Vec::with_capacity(activations as usize), 0);
    let mut seen = 0;
    while seen < activations {
        while trigger.count.load(SeqCst) == seen {
            park();
        }
        log.push(bench.clock.ticks());
        late += u64::from(!trigger.is_pulled.load(SeqCst));
        seen = trigger.count.load(SeqCst);
    }
    end.wait();
    is_urgent.map(|()| (log, late)).context("a thread that is triggered")
}

/// Merges two logs in order of time.
fn merged(logs: Vec<Log>) -> Log {
    let late = logs.iter().map(|(_, late)| late).sum();
    let mut log = logs.into_iter().flat_map(|(log, _)| log).collect::<Vec<_>>();
    log.sort_unstable();
    (log, late)
}

fn findings(log: &[u64], activations: u64, period_ns: u64, clock: &Clock) -> Findings {
    let distances: Vec<u64> = log.windows(2).map(|pair| clock.whole(pair[1] - pair[0])).collect();
    let shown = distances.iter().take(SHOWN).enumerate();
    let points = shown.map(|(index, &distance)| ((index + 1) as f64, distance as f64 / 1e3)).collect();
    let deviation = distances.iter().map(|distance| distance.abs_diff(period_ns)).max().unwrap_or(0);
    let mut findings = Findings::default();
    findings.points("activation", "1", "us", points);
    findings.histogram("period", "ns", &distances);
    findings.smaller("period_deviation_max", deviation as f64, "ns");
    findings.smaller("period_lost", (activations / 2 * 2).saturating_sub(log.len() as u64) as f64, "1");
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_logs_become_one() {
        assert_eq!(merged(vec![(vec![1, 5, 9], 1), (vec![3, 7], 2)]), (vec![1, 3, 5, 7, 9], 3));
    }

    #[test]
    fn lost_activations_and_deviations_are_told() {
        let findings = findings(&[0, 100, 230, 400], 6, 100, &Clock::Tsc(1.0));
        assert_eq!(findings.value("period_lost"), Some(2.0));
        assert_eq!(findings.value("period_deviation_max"), Some(70.0));
        assert_eq!(findings.value("period_samples"), Some(3.0));
    }
}
