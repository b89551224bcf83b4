//! Time that neither this thread nor an interrupt used: system management interrupts, a hypervisor.
//!
//! The most urgent thread of a processor looks for gaps ([`pillion_stolen`]).

use super::Experiment;
use crate::bench::Bench;
use crate::findings::Findings;
use crate::time_source::{Clock, monotonic};
use crate::{preempted, sleep};
use anyhow::Result;
use clap::Args;
use pillion_measure_data::{Chart, Kind};
use pillion_stolen::{Counters, Piece, ROOM, smi as smi_count};

#[derive(Args, Debug)]
pub struct Smi {
    /// How long to watch, in seconds [default: 60, short form 1]
    #[arg(long, value_name = "N")]
    seconds: Option<u64>,
    /// Shortest gap that counts, in ns
    #[arg(long, default_value_t = 1000, value_name = "NS", value_parser = clap::value_parser!(u64).range(1..))]
    threshold: u64,
    /// How long to watch at a time, in us: short enough that many pieces see no interrupt
    #[arg(long, default_value_t = 2000, value_name = "US", value_parser = clap::value_parser!(u64).range(1..))]
    spin: u64,
    /// How long others may run in between, in us
    #[arg(long, default_value_t = 1000, value_name = "US")]
    pause: u64,
}

impl Experiment for Smi {
    const NAME: &'static str = "smi";
    const TITLE: &'static str = "Stolen time";
    const ABOUT: &'static str =
        "Time that the firmware or a hypervisor took from the processor, and that no interrupt of Linux explains.";
    const PAPER: &'static str = "Mehnert, Hohmuth and Härtig 2002, 5";

    fn run(&self, bench: &Bench) -> Result<Findings> {
        let seconds = bench.size(self.seconds, 60, 1);
        bench.be_urgent()?;
        let (preempted, smi) = (preempted::count()?, smi_count(bench.cpu));
        let pieces = self.measure(bench, monotonic() + seconds * 1_000_000_000)?;
        let mut findings = findings(&pieces, self.spin);
        if let (Some(before), Some(after)) = (smi, smi_count(bench.cpu)) {
            findings.smaller("smi_count", (after - before) as f64, "1");
        }
        match preempted::count()? - preempted {
            0 => {}
            times => findings.disturbed(format!("the detector lost its processor to another thread {times} times")),
        }
        Ok(findings)
    }

    fn charts() -> Vec<Chart> {
        vec![Chart::new(Kind::Histogram, Self::TITLE, &["gap", "stolen"])]
    }
}

impl Smi {
    fn measure(&self, bench: &Bench, end_ns: u64) -> Result<Vec<Piece>> {
        let mut pieces = Vec::new();
        let mut room = vec![0; ROOM];
        while monotonic() < end_ns {
            let before = Counters::read(bench.cpu)?;
            let gaps = spin(&bench.clock, self.threshold, self.spin * 1000, &mut room);
            let interrupts = Counters::read(bench.cpu)?.since(&before);
            let gaps_ns = room[..gaps].iter().map(|&ticks| bench.clock.whole(ticks)).collect();
            pieces.push(Piece { gaps_ns, interrupts });
            sleep::until(monotonic() + self.pause * 1000)?;
        }
        Ok(pieces)
    }
}

/// Reads the clock for a while; stores gaps in `room` and returns their number.
fn spin(clock: &Clock, threshold_ns: u64, spin_ns: u64, room: &mut [u64]) -> usize {
    let rate = 1.0 / clock.nanoseconds(1);
    let (threshold, spin) = ((threshold_ns as f64 * rate) as u64, (spin_ns as f64 * rate) as u64);
    pillion_stolen::spin(|| clock.ticks(), threshold, spin, room)
}

fn findings(pieces: &[Piece], spin_us: u64) -> Findings {
    let gaps: Vec<u64> = pieces.iter().flat_map(|piece| piece.gaps_ns.iter().copied()).collect();
    let quiet: Vec<&Piece> = pieces.iter().filter(|piece| piece.is_quiet()).collect();
    let stolen: Vec<u64> = quiet.iter().flat_map(|piece| piece.gaps_ns.iter().copied()).collect();
    let unexplained: u64 =
        pieces.iter().map(|piece| (piece.gaps_ns.len() as u64).saturating_sub(piece.interrupts)).sum();
    let mut findings = Findings::default();
    findings.histogram("gap", "ns", &gaps);
    findings.histogram("stolen", "ns", &stolen);
    findings.smaller("gap_unexplained", unexplained as f64, "1");
    findings.told("gap_interrupts", pieces.iter().map(|piece| piece.interrupts).sum::<u64>() as f64, "1");
    findings.told("looked_at", (pieces.len() as u64 * spin_us) as f64 / 1e3, "ms");
    findings.told("looked_at_quiet", (quiet.len() as u64 * spin_us) as f64 / 1e3, "ms");
    if quiet.is_empty() {
        findings.disturbed("no piece was without an interrupt, so nothing can be called stolen; try a shorter --spin");
    }
    if pieces.iter().any(|piece| piece.gaps_ns.len() == ROOM) {
        findings.disturbed("there were more gaps than could be kept; try a larger --threshold");
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(gaps_ns: &[u64], interrupts: u64) -> Piece {
        Piece { gaps_ns: gaps_ns.into(), interrupts }
    }

    #[test]
    fn what_no_interrupt_explains_was_stolen() {
        let findings = findings(&[piece(&[5000], 0), piece(&[3000, 9000], 1), piece(&[2000], 4)], 2000);
        assert_eq!(findings.value("stolen_max"), Some(5000.0));
        assert_eq!(findings.value("gap_max"), Some(9000.0));
        assert_eq!(findings.value("gap_unexplained"), Some(2.0));
        assert_eq!((findings.value("looked_at"), findings.value("looked_at_quiet")), (Some(6.0), Some(2.0)));
    }

    #[test]
    fn without_a_quiet_piece_nothing_is_told() {
        assert_eq!(findings(&[piece(&[5000], 1)], 2000).disturbances.len(), 1);
    }
}
