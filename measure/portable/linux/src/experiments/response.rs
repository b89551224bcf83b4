//! Response to a one-shot timer whose interval changes after every few interrupts, so that it never
//! falls into step with anything.

use super::{Experiment, spread};
use crate::bench::Bench;
use crate::findings::Findings;
use crate::time_source::monotonic;
use crate::{mark, preempted, sleep};
use anyhow::Result;
use clap::Args;
use pillion_measure_data::{Chart, Instrument, Kind};

/// Options. The paper's distances are 2 to 30 ms.
#[derive(Args, Debug)]
pub struct Response {
    /// Interrupts [default: 20,000, short form 1,000]
    #[arg(long, value_name = "N")]
    samples: Option<u64>,
    /// Shortest interval between two interrupts, in us [default: 2,000, short form 500]
    #[arg(long, value_name = "US")]
    least: Option<u64>,
    /// Longest interval, in us [default: 30,000, short form 3,000]
    #[arg(long, value_name = "US")]
    most: Option<u64>,
    /// Interrupts with the same interval
    #[arg(long, default_value_t = 100, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    each: u64,
}

/// A response, and the interval that preceded it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sample {
    distance_us: u64,
    latency_ns: u64,
}

impl Experiment for Response {
    const NAME: &'static str = "response";
    const TITLE: &'static str = "Response to a timer";
    const ABOUT: &'static str =
        "From the deadline of a one-shot timer to the first instruction of the process that waits for it.";
    const PAPER: &'static str = "Mehnert, Hohmuth and Härtig 2002, 4.1 and 4.2";

    fn run(&self, bench: &Bench) -> Result<Findings> {
        let distances = self.distances(bench);
        bench.be_urgent()?;
        let before = preempted::count()?;
        if bench.instrument == Instrument::Counted {
            mark::begin();
        }
        let samples = measure(&distances)?;
        mark::done();
        let mut findings = findings(&samples);
        findings.smaller("total_preempted", (preempted::count()? - before) as f64, "1");
        Ok(findings)
    }

    fn charts() -> Vec<Chart> {
        vec![
            Chart::new(Kind::Histogram, Self::TITLE, &["total"]),
            Chart::new(Kind::Cumulative, Self::TITLE, &["total"]),
            Chart::new(Kind::Scatter, "Worst response at each distance", &["worst_at"]),
        ]
    }
}

impl Response {
    /// The interval before each interrupt, in us.
    fn distances(&self, bench: &Bench) -> Vec<u64> {
        let samples = bench.size(self.samples, 20_000, 1_000);
        let (least, most) = (bench.size(self.least, 2_000, 500), bench.size(self.most, 30_000, 3_000));
        (0..samples).map(|index| distance(index / self.each, least, most.max(least))).collect()
    }
}

/// The interval of a group: all of the range, without a period.
fn distance(group: u64, least: u64, most: u64) -> u64 {
    least + spread(group, most - least + 1)
}

/// Waits for each interrupt.
fn measure(distances: &[u64]) -> Result<Vec<Sample>> {
    let mut samples = vec![Sample::default(); distances.len()];
    for (sample, &distance_us) in samples.iter_mut().zip(distances) {
        let deadline = monotonic() + distance_us * 1000;
        sleep::until(deadline)?;
        mark::woke();
        *sample = Sample { distance_us, latency_ns: monotonic().saturating_sub(deadline) };
        mark::late(sample.latency_ns);
    }
    Ok(samples)
}

fn findings(samples: &[Sample]) -> Findings {
    let mut findings = Findings::default();
    let latencies: Vec<u64> = samples.iter().map(|sample| sample.latency_ns).collect();
    findings.histogram("total", "ns", &latencies);
    findings.points("worst_at", "us", "ns", worst(samples));
    findings
}

/// The worst latency of each group of samples with the same interval.
fn worst(samples: &[Sample]) -> Vec<(f64, f64)> {
    let groups = samples.chunk_by(|first, second| first.distance_us == second.distance_us);
    let worst = |group: &[Sample]| group.iter().map(|sample| sample.latency_ns).max().unwrap_or(0) as f64;
    groups.map(|group| (group[0].distance_us as f64, worst(group))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn distances_fill_the_range() {
        let seen: Vec<u64> = (0..1000).map(|group| distance(group, 20, 30)).collect();
        assert_eq!(seen.iter().copied().collect::<BTreeSet<_>>(), (20..=30).collect());
        let at_20 = seen.iter().filter(|&&distance| distance == 20).count();
        assert!((85..=97).contains(&at_20), "{at_20} of 1000 in 11 equal parts");
        assert_eq!(distance(5, 7, 7), 7);
    }

    #[test]
    fn the_worst_of_each_distance_is_kept() {
        let samples = [(5, 10), (5, 30), (7, 1)].map(|(distance_us, latency_ns)| Sample { distance_us, latency_ns });
        assert_eq!(worst(&samples), [(5.0, 30.0), (7.0, 1.0)]);
        assert_eq!(findings(&samples).value("total_max"), Some(30.0));
    }
}
