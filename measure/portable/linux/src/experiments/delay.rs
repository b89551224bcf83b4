//! How much longer than requested `nanosleep` takes; and the gaps in which a thread that reads the
//! clock continuously cannot do so.

use super::Experiment;
use crate::bench::Bench;
use crate::findings::Findings;
use crate::time_source::timespec;
use anyhow::{Result, ensure};
use clap::Args;
use pillion_measure_data::{Chart, Kind};
use rustix::thread::{NanosleepRelativeResult, nanosleep};

/// Longest period.
const LONGEST_US: u64 = 50_000;
/// A gap is at least this long; reading the clock takes far less.
const GAP_NS: u64 = 300;
/// Gaps that are reported individually; of more, only the figures are reported.
const GAPS: usize = 2_000;

#[derive(Args, Debug)]
pub struct Delay {
    /// Difference between successive periods, in us [default: 1,000, short form 5,000]
    #[arg(long, value_name = "US", value_parser = clap::value_parser!(u64).range(1..))]
    step_us: Option<u64>,
    /// How often to sleep each period [default: 3]
    #[arg(long, default_value_t = 3, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    repeats: u64,
    /// How long to watch the clock, in ms [default: 100, short form 20]
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..))]
    oscilloscope_ms: Option<u64>,
    /// Use an ordinary thread's timer slack, 50 us, instead of SCHED_FIFO
    #[arg(long)]
    ordinary: bool,
}

impl Experiment for Delay {
    const NAME: &'static str = "delay";
    const TITLE: &'static str = "Delay of a periodic task";
    const ABOUT: &'static str =
        "How far nanosleep overshoots sleeps of 0 to 50 ms, and the gaps that a software oscilloscope records.";
    const PAPER: &'static str = "Heursch 2006, 8.1.5 and 8.2.3, figures 8.1 to 8.8";

    fn run(&self, bench: &Bench) -> Result<Findings> {
        bench.be_urgent()?;
        if self.ordinary {
            crate::realtime::be_ordinary()?;
        }
        let mut findings = Findings::default();
        let step = bench.size(self.step_us, 1_000, 5_000);
        delays(bench, step, self.repeats, &mut findings)?;
        let length = bench.size(self.oscilloscope_ms, 100, 20) * 1_000_000;
        say_gaps(&mut findings, &gaps(bench, length), length);
        Ok(findings)
    }

    fn charts() -> Vec<Chart> {
        vec![
            Chart { x: "period".into(), ..Chart::new(Kind::Lines, Self::TITLE, &["delay"]) },
            Chart::new(Kind::Scatter, "Software oscilloscope", &["gap"]),
        ]
    }
}

/// The longest delay for each period, and the figures over all.
fn delays(bench: &Bench, step_us: u64, repeats: u64, findings: &mut Findings) -> Result<()> {
    let (mut all, mut points) = (Vec::new(), Vec::new());
    for period in (0..=LONGEST_US).step_by(step_us as usize) {
        let late: Vec<u64> = (0..repeats).map(|_| delay(bench, period * 1000)).collect::<Result<_>>()?;
        points.push((period as f64, late.iter().copied().max().unwrap_or(0) as f64 / 1e3));
        all.extend(late);
    }
    findings.extremes("delay", "ns", &all);
    findings.told("delay_samples", all.len() as f64, "1");
    findings.points("delay", "us", "us", points);
    Ok(())
}

fn delay(bench: &Bench, period_ns: u64) -> Result<u64> {
    let start = bench.clock.ticks();
    let result = nanosleep(&timespec(period_ns));
    ensure!(matches!(result, NanosleepRelativeResult::Ok), "a sleep was cut short: {result:?}");
    Ok(bench.clock.whole(bench.clock.ticks() - start).saturating_sub(period_ns))
}

/// When the clock could not be read, and for how long.
fn gaps(bench: &Bench, length_ns: u64) -> Vec<(u64, u64)> {
    let mut gaps = Vec::with_capacity(GAPS);
    let start = bench.clock.ticks();
    let mut last = start;
    while bench.clock.whole(last - start) < length_ns {
        let now = bench.clock.ticks();
        if bench.clock.whole(now - last) > GAP_NS && gaps.len() < gaps.capacity() {
            gaps.push((bench.clock.whole(last - start), bench.clock.whole(now - last)));
        }
        last = now;
    }
    gaps
}

fn say_gaps(findings: &mut Findings, gaps: &[(u64, u64)], length_ns: u64) {
    let lost: u64 = gaps.iter().map(|gap| gap.1).sum();
    findings.told("gap_samples", gaps.len() as f64, "1");
    findings.smaller("gap_max", gaps.iter().map(|gap| gap.1).max().unwrap_or(0) as f64, "ns");
    findings.smaller("gap_share", lost as f64 * 100.0 / length_ns as f64, "%");
    findings.points("gap", "us", "us", gaps.iter().map(|&(at, gap)| (at as f64 / 1e3, gap as f64 / 1e3)).collect());
    if gaps.len() == GAPS {
        findings.disturbed(format!("more than {GAPS} gaps: the clock is too slow to read"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_have_figures() {
        let mut findings = Findings::default();
        say_gaps(&mut findings, &[(1_500, 400), (9_000, 600)], 10_000);
        assert_eq!(findings.value("gap_max"), Some(600.0));
        assert_eq!(findings.value("gap_share"), Some(10.0));
        assert_eq!(findings.series.len(), 1);
    }
}
