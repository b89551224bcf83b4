//! Software monitor: interrupts system calls a little later each time, and measures how long the
//! most urgent thread then waits.

mod scan;
mod scanned_calls;

use super::Experiment;
use crate::bench::Bench;
use crate::findings::Findings;
use crate::realtime;
use anyhow::{Result, ensure};
use clap::Args;
use pillion_measure_data::{Chart, Instrument, Kind};
use scan::{Monitor, Scan};
use scanned_calls::Call;

#[derive(Args, Debug)]
pub struct MonitorCalls {
    /// Scan only these system calls
    #[arg(long, value_delimiter = ',', value_name = "LIST")]
    calls: Vec<String>,
    /// Most places at which each call is interrupted [default: 4,000, short form 250]
    #[arg(long, value_name = "N")]
    places: Option<u64>,
    /// Least distance between two places, in ns [default: 1,000; counted 50]
    #[arg(long, value_name = "NS", value_parser = clap::value_parser!(u64).range(1..))]
    step: Option<u64>,
}

impl Experiment for MonitorCalls {
    const NAME: &'static str = "monitor";
    const TITLE: &'static str = "Software monitor of system calls";
    const ABOUT: &'static str =
        "How late the most urgent thread runs if its timer fires a given time into a system call of another one.";
    const PAPER: &'static str = "Heursch 2006, 3.8.2 and 7.3";

    fn run(&self, bench: &Bench) -> Result<Findings> {
        realtime::lock_memory()?;
        let calls = self.chosen()?;
        let is_counted = bench.instrument != Instrument::Measured;
        let step = self.step.unwrap_or(if is_counted { 50 } else { 1_000 });
        let places = bench.size(self.places, 4_000, 250);
        let monitor = Monitor::begin(bench)?;
        let scans = calls.into_iter().map(|call| Ok((call.name, monitor.scan(call, step, places)?)));
        let scans = scans.collect::<Result<Vec<_>>>();
        realtime::be_ordinary()?;
        Ok(findings(&scans?))
    }

    fn charts() -> Vec<Chart> {
        scanned_calls::ALL.iter().map(|call| Chart::new(Kind::Triangles, call.name, &[call.name])).collect()
    }
}

impl MonitorCalls {
    fn chosen(&self) -> Result<Vec<&'static Call>> {
        let lost = self.calls.iter().find(|name| scanned_calls::ALL.iter().all(|call| call.name != **name));
        let known: Vec<&str> = scanned_calls::ALL.iter().map(|call| call.name).collect();
        ensure!(lost.is_none(), "there is no call {}; choose among {}", lost.map_or("", |name| name), known.join(", "));
        let is_chosen = |call: &&Call| self.calls.is_empty() || self.calls.iter().any(|name| name == call.name);
        Ok(scanned_calls::ALL.iter().filter(is_chosen).collect())
    }
}

fn findings(scans: &[(&str, Scan)]) -> Findings {
    let mut findings = Findings::default();
    for (name, scan) in scans {
        findings.points(name, "ns", "ns", scan.points.clone());
        findings.smaller(&format!("{name}_longest"), scan.longest(), "ns");
        findings.told(&format!("{name}_length"), scan.length as f64, "ns");
        findings.told(&format!("{name}_places"), scan.points.len() as f64, "1");
        findings.told(&format!("{name}_step"), scan.step as f64, "ns");
    }
    let most = |of: fn(&Scan) -> f64| scans.iter().map(|(_, scan)| of(scan)).fold(0.0, f64::max);
    findings.smaller("longest", most(Scan::longest), "ns");
    findings.smaller("longest_delay", most(Scan::longest_delay), "ns");
    findings.told("places", scans.iter().map(|(_, scan)| scan.points.len()).sum::<usize>() as f64, "1");
    findings.told("step", most(|scan| scan.step as f64), "ns");
    findings.told("calls", scans.len() as f64, "1");
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_is_what_the_call_adds_to_the_way_to_the_processor() {
        let scan = |delay, step| Scan { points: vec![(-4.0, 3.0), (0.0, delay), (50.0, 2.0)], length: 40, step };
        let findings = findings(&[("a", scan(7.0, 50)), ("b", scan(9.0, 60))]);
        assert_eq!((findings.value("a_longest"), findings.value("longest")), (Some(4.0), Some(6.0)));
        assert_eq!(findings.value("longest_delay"), Some(9.0));
        assert_eq!((findings.value("b_places"), findings.value("places")), (Some(3.0), Some(6.0)));
        assert_eq!((findings.value("a_step"), findings.value("step")), (Some(50.0), Some(60.0)));
        assert_eq!(findings.value("calls"), Some(2.0));
    }

    #[test]
    fn calls_are_chosen_by_name() {
        let of = |names: &[&str]| MonitorCalls {
            calls: names.iter().map(|&n| n.into()).collect(),
            places: None,
            step: None,
        };
        assert_eq!(of(&[]).chosen().unwrap().len(), scanned_calls::ALL.len());
        assert_eq!(of(&["getpid"]).chosen().unwrap().len(), 1);
        assert!(of(&["nothing"]).chosen().is_err());
    }
}
