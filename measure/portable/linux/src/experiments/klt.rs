//! Kernel latency time: how long an urgent thread waits in the kernel for something that a less
//! urgent thread holds there.

use super::Experiment;
use crate::bench::Bench;
use crate::dev_measure::{Device, Source, Waiter};
use crate::findings::Findings;
use crate::sleep;
use crate::team::{self, member};
use crate::time_source::{Clock, tsc};
use anyhow::{Result, bail};
use clap::Args;
use pillion_measure_data::{Chart, Kind};

/// How far the threads' priorities are below that of the bench.
const HIGH: i32 = 1;
const LOW: i32 = 2;

/// The timer is armed this much before the section begins.
const LEAD_NS: u64 = 1_000;
/// Time between two sections, for all others.
const PAUSE_NS: u64 = 100_000;
/// How often the free section is timed.
const WARM_UP: u64 = 20;

#[derive(Args, Debug)]
pub struct Klt {
    /// How long the less urgent thread stays in its critical section, in us
    #[arg(long, default_value_t = 20, value_name = "US", value_parser = clap::value_parser!(u64).range(1..10_000))]
    section: u64,
    /// Distance between places at which the section is interrupted, in ns [default: 20, short form
    /// 100]
    #[arg(long, value_name = "NS", value_parser = clap::value_parser!(u64).range(1..))]
    step: Option<u64>,
}

/// Events at one place, in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sample {
    /// When the less urgent thread asked for the section.
    began: u64,
    /// When the timer was due to interrupt.
    due: u64,
    /// When the urgent thread ran and asked for the section.
    woken: u64,
    /// When it had left the section.
    done: u64,
}

/// Words of a sample among what the threads measure.
const WORDS: usize = 4;

impl Experiment for Klt {
    const NAME: &'static str = "klt";
    const TITLE: &'static str = "Kernel latency time";
    const ABOUT: &'static str = "How long an urgent thread waits in the kernel for a mutex that a less urgent one holds. Needs the kernel module of linux/measure.";
    const PAPER: &'static str = "Heursch 2006, 4.6.1 and 7.5.3, figure 4.5";
    const IN_ALL: bool = false;

    fn run(&self, bench: &Bench) -> Result<Findings> {
        let Clock::Tsc(_) = bench.clock else {
            bail!("the handler reads the time-stamp counter: run with --clock tsc")
        };
        let step = bench.size(self.step, 20, 100);
        let section = self.section * 1000;
        let (free, samples) = measure(bench, section, step)?;
        let mut findings = Findings::default();
        say(&mut findings, &bench.clock, free, &samples);
        Ok(findings)
    }

    fn charts() -> Vec<Chart> {
        vec![Chart { x: "into the section".into(), ..Chart::new(Kind::Triangles, Self::TITLE, &["klt_at", "pdlt_at"]) }]
    }
}

/// Ticks of the section if no other thread wants it, and the samples.
fn measure(bench: &Bench, section_ns: u64, step_ns: u64) -> Result<(u64, Vec<Sample>)> {
    let device = Device::open(Source::Timer)?;
    let (high_file, low_file) = (device.another()?, device.another()?);
    let free = free(&high_file)?;
    let places = section_ns.div_ceil(step_ns) + 2 * LEAD_NS.div_ceil(step_ns);
    let high = || {
        let mut seen = Vec::with_capacity(places as usize * (WORDS - 1));
        for _ in 0..places {
            let stamps = high_file.wait()?;
            let woken = tsc();
            high_file.hold(0)?;
            seen.extend([stamps.due, woken, tsc()]);
        }
        Ok(seen)
    };
    let low = || {
        let mut begun = Vec::with_capacity(places as usize);
        for place in 0..places {
            device.raise(LEAD_NS + place * step_ns)?;
            begun.push(tsc());
            low_file.hold(section_ns)?;
            sleep::until(crate::time_source::monotonic() + PAUSE_NS)?;
        }
        Ok(begun)
    };
    let all = team::run(bench, vec![member(HIGH, high), member(LOW, low)])?;
    let (seen, begun) = all.split_at(places as usize * (WORDS - 1));
    let sample = |(seen, &began): (&[u64], &u64)| Sample { began, due: seen[0], woken: seen[1], done: seen[2] };
    Ok((free, seen.chunks(WORDS - 1).zip(begun).map(sample).collect()))
}

/// Ticks of the section if no other thread wants it: the least of several attempts.
fn free(file: &Waiter) -> Result<u64> {
    let mut least = u64::MAX;
    for _ in 0..WARM_UP {
        let before = tsc();
        file.hold(0)?;
        least = least.min(tsc() - before);
    }
    Ok(least)
}

/// Reports the figures, and the curves over the place at which the section was interrupted.
fn say(findings: &mut Findings, clock: &Clock, free: u64, samples: &[Sample]) {
    let inside = || samples.iter().filter(|sample| sample.due >= sample.began);
    let waited = |sample: &Sample| clock.nanoseconds((sample.done - sample.woken).saturating_sub(free));
    let dispatch = |sample: &Sample| clock.nanoseconds(sample.woken.saturating_sub(sample.due));
    let answer = |sample: &Sample| clock.nanoseconds(sample.done.saturating_sub(sample.due));
    let most = |of: &dyn Fn(&Sample) -> f64| inside().map(of).fold(0.0, f64::max);
    findings.told("klt_samples", inside().count() as f64, "1");
    findings.smaller("klt_max", most(&waited), "ns");
    findings.smaller("klt_pdlt_max", most(&dispatch), "ns");
    findings.smaller("klt_answer_max", most(&answer), "ns");
    findings.told("klt_free", clock.nanoseconds(free), "ns");
    for (name, of) in [("klt_at", &waited as &dyn Fn(&Sample) -> f64), ("pdlt_at", &dispatch)] {
        let point = |sample: &Sample| (clock.nanoseconds(sample.due - sample.began), of(sample) / 1e3);
        findings.points(name, "ns", "us", inside().map(point).collect());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_is_what_asking_takes_longer_than_alone() {
        let mut findings = Findings::default();
        let preempted = Sample { began: 1000, due: 1500, woken: 1600, done: 3000 };
        let finished_first = Sample { began: 1000, due: 1500, woken: 2900, done: 3000 };
        let before = Sample { began: 1000, due: 900, woken: 2000, done: 9000 };
        say(&mut findings, &Clock::Tsc(1.0), 100, &[preempted, finished_first, before]);
        assert_eq!(findings.value("klt_samples"), Some(2.0));
        assert_eq!(findings.value("klt_max"), Some(1300.0));
        assert_eq!(findings.value("klt_pdlt_max"), Some(1400.0));
        assert_eq!(findings.value("klt_answer_max"), Some(1500.0));
    }
}
