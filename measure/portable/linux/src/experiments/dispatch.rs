//! Interrupt response and process dispatch: an interrupt raised on demand, its handler, and the
//! process that waits for it.

use super::{Experiment, spread};
use crate::bench::Bench;
use crate::dev_measure::{Device, Source, Waiter};
use crate::findings::Findings;
use crate::time_source::{Clock, tsc};
use crate::{realtime, sleep};
use anyhow::{Context, Result, bail};
use clap::Args;
use pillion_measure_data::{Chart, Instrument, Kind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

#[derive(Args, Debug)]
pub struct Dispatch {
    /// Interrupts of each source [default: 5,000, short form 1,000]
    #[arg(long, value_name = "N")]
    samples: Option<u64>,
    /// Source of the interrupts [default: both, or only the timer on a machine without QEMU's edu
    /// device]
    #[arg(long, value_enum, value_name = "SOURCE")]
    source: Option<Source>,
}

/// An interrupt that has not come within this time is lost.
const LOST: Duration = Duration::from_secs(2);

/// Times of one interrupt, in ticks of the time-stamp counter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sample {
    raised: u64,
    handled: u64,
    woken: u64,
}

impl Experiment for Dispatch {
    const NAME: &'static str = "dispatch";
    const TITLE: &'static str = "Interrupt response and process dispatch";
    const ABOUT: &'static str = "From an interrupt to its handler, and on to the process that waits for it. Needs the kernel module of linux/measure.";
    const PAPER: &'static str = "Heursch 2006, 3.6.4 and 6.2";
    const IN_ALL: bool = false;

    fn run(&self, bench: &Bench) -> Result<Findings> {
        let Clock::Tsc(_) = bench.clock else {
            bail!("the handler reads the time-stamp counter: run with --clock tsc")
        };
        realtime::lock_memory()?;
        let samples = bench.size(self.samples, 5_000, 1_000);
        let mut findings = Findings::default();
        for source in self.sources()? {
            tell(&mut findings, source, &measure(bench, source, samples)?, bench);
        }
        Ok(findings)
    }

    fn charts() -> Vec<Chart> {
        let pictures = [("Interrupt response", "irt"), ("Process dispatch", "pdlt")];
        let chart_of = |(title, name): (&str, &str)| {
            let series =
                [name.to_owned(), format!("{name}_erlang"), format!("timer_{name}"), format!("timer_{name}_erlang")];
            Chart::new(Kind::Histogram, title, &series.each_ref().map(String::as_str))
        };
        pictures.map(chart_of).into()
    }
}

impl Dispatch {
    fn sources(&self) -> Result<Vec<Source>> {
        if let Some(source) = self.source {
            return Ok(vec![source]);
        }
        let has_edu = Device::open(Source::Edu).is_ok();
        Ok(if has_edu { vec![Source::Edu, Source::Timer] } else { vec![Source::Timer] })
    }
}

/// Raises interrupts at a priority just below that of the thread that waits for them.
fn measure(bench: &Bench, source: Source, samples: u64) -> Result<Vec<Sample>> {
    let device = Device::open(source)?;
    let (sender, arrivals) = channel();
    let (cpu, priority, file) = (bench.cpu, bench.priority, device.another()?);
    let (ready, is_ready) = channel();
    std::thread::spawn(move || {
        let _ = ready.send(realtime::pin(cpu).and_then(|()| realtime::be_fifo(priority)));
        wait(samples, &file, &sender);
    });
    is_ready.recv().context("the thread that waits has ended")??;
    realtime::pin(bench.cpu)?;
    realtime::be_fifo((bench.priority - 1).max(1))?;
    let seen = (0..samples).map(|number| one(&device, number, &arrivals)).collect();
    realtime::be_ordinary()?;
    seen
}

/// The thread that waits. It waits for exactly `samples` interrupts, because the next one is for
/// the next source's thread.
fn wait(samples: u64, file: &Waiter, arrivals: &Sender<Result<Sample>>) {
    for _ in 0..samples {
        let stamps = file.wait();
        let woken = tsc();
        let sample = stamps.map(|stamps| Sample { raised: stamps.due, handled: stamps.handled, woken });
        if arrivals.send(sample).is_err() {
            return;
        }
    }
}

/// One interrupt, some time after the previous one.
fn one(device: &Device, number: u64, arrivals: &Receiver<Result<Sample>>) -> Result<Sample> {
    let pause = 200_000 + spread(number, 300_000);
    sleep::until(crate::time_source::monotonic() + pause)?;
    // Interrupts of the timer also come while this thread sleeps.
    let raised = device.raise(50_000 + spread(number, 100_000))?;
    let sample = arrivals.recv_timeout(LOST).context("an interrupt was lost")??;
    Ok(Sample { raised: raised.unwrap_or(sample.raised), ..sample })
}

fn tell(findings: &mut Findings, source: Source, samples: &[Sample], bench: &Bench) {
    let prefix = if source == Source::Timer { "timer_" } else { "" };
    let early = samples.iter().filter(|sample| sample.handled < sample.raised).count();
    if early > 0 {
        findings.disturbed(format!(
            "{early} interrupts were handled before they were due: the clocks that arm and stamp disagree"
        ));
    }
    let between = |from: fn(&Sample) -> u64, to: fn(&Sample) -> u64| -> Vec<u64> {
        samples.iter().map(|sample| bench.clock.whole(to(sample).saturating_sub(from(sample)))).collect()
    };
    let response = between(|sample| sample.raised, |sample| sample.handled);
    let dispatch = between(|sample| sample.raised, |sample| sample.woken);
    let rest = between(|sample| sample.handled, |sample| sample.woken);
    for (name, latencies) in [("irt", &response), ("pdlt", &dispatch), ("wake", &rest)] {
        let name = format!("{prefix}{name}");
        findings.samples(&name, "ns", latencies);
        // For counted measurements, `x measure` computes the fit: here it would double the run.
        if bench.instrument == Instrument::Measured {
            findings.erlang(&name, "ns", latencies);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pillion_measure_data::Data;

    #[test]
    fn times_are_taken_from_the_interrupt_on() {
        let sample = |raised, handled, woken| Sample { raised, handled, woken };
        let (mut findings, clock, instrument) = (Findings::default(), Clock::Tsc(1.0), Instrument::Measured);
        let bench = Bench { clock, instrument, quick: true, cpu: 0, priority: 1 };
        let samples: Vec<Sample> = (0..20).map(|at| sample(100, 110 + at, 6_000 + 3 * at)).collect();
        tell(&mut findings, Source::Timer, &samples, &bench);
        assert_eq!((findings.value("timer_irt_min"), findings.value("timer_irt_max")), (Some(10.0), Some(29.0)));
        assert_eq!(
            (findings.value("timer_pdlt_min"), findings.value("timer_pdlt_max")),
            (Some(5_900.0), Some(5_957.0))
        );
        assert_eq!(findings.value("timer_wake_max"), Some(5_928.0));
        let told = |name: &str| findings.series.iter().find(|series| series.name == name).map(|series| &series.data);
        let Some(Data::Histogram(histogram)) = told("timer_pdlt") else { panic!("{findings:?}") };
        assert_eq!(histogram.buckets.len(), 20, "what is fitted later is to be as it was measured");
        assert!(findings.value("timer_irt_erlang_k").is_some());
    }

    #[test]
    fn an_interrupt_before_its_time_is_none() {
        let (mut findings, clock, instrument) = (Findings::default(), Clock::Tsc(1.0), Instrument::Counted);
        let bench = Bench { clock, instrument, quick: true, cpu: 0, priority: 1 };
        tell(&mut findings, Source::Timer, &[Sample { raised: 100, handled: 99, woken: 150 }], &bench);
        assert_eq!(findings.disturbances.len(), 1);
    }
}
