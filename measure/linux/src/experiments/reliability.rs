//! How reliably a process answers a square wave of rising frequency.

use super::{Experiment, chart};
use crate::bench::Bench;
use crate::clock::monotonic;
use crate::findings::Findings;
use crate::sleep;
use anyhow::Result;
use clap::Args;
use pillion_measure_data::locus::{Locus, Place};
use pillion_measure_data::walsh::Correlation;
use pillion_measure_data::{Chart, Kind, Points};

/// Edges in a second: a row of preferred numbers.
const FREQUENCIES: [u32; 25] = [
    500, 1_000, 2_000, 3_150, 5_000, 8_000, 12_500, 20_000, 31_500, 50_000, 80_000, 100_000, 125_000, 160_000, 200_000,
    250_000, 315_000, 400_000, 500_000, 630_000, 800_000, 1_000_000, 1_250_000, 1_600_000, 2_000_000,
];
/// The first edge is so far away, for everything to be ready.
const AHEAD_NS: u64 = 100_000;

/// Options.
#[derive(Args, Debug)]
pub struct Reliability {
    /// Edges of each frequency, an even number [default: 2,000, short form 200]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..))]
    edges: Option<u64>,
}

impl Experiment for Reliability {
    const NAME: &'static str = "reliability";
    const TITLE: &'static str = "Degree of reliability";
    const ABOUT: &'static str =
        "How reliably a square wave of rising frequency is answered, by Walsh correlation, up to the cut-off.";
    const PAPER: &'static str = "Heursch 2006, 3.9";

    fn run(&self, bench: &Bench) -> Result<Findings> {
        bench.be_urgent()?;
        let edges = bench.size(self.edges, 2_000, 200) / 2 * 2;
        let (mut locus, mut late) = (Locus::default(), Vec::new());
        for frequency in FREQUENCIES {
            let (place, lateness) = answer(frequency, edges)?;
            locus.0.push(place);
            late.push((f64::from(frequency), lateness));
        }
        Ok(findings(&locus, late))
    }

    fn charts() -> Vec<Chart> {
        let over =
            Chart { x: "edges in a second".into(), log_x: true, ..chart(Kind::Lines, Self::TITLE, &["reliability"]) };
        vec![over, chart(Kind::Locus, "Frequency response locus", &["locus"])]
    }
}

/// Answers one frequency: the place in the locus, and how late an answer is on average.
fn answer(frequency: u32, edges: u64) -> Result<(Place, f64)> {
    let period = 1_000_000_000 / u64::from(frequency);
    let start = monotonic() + AHEAD_NS + 10 * period;
    let end = start + edges * period;
    let mut correlation = Correlation::new(period as f64);
    let (mut answers, mut late, mut next) = (0, 0, start);
    while next < end {
        sleep::until(next)?;
        let now = monotonic();
        if now >= end {
            break;
        }
        correlation.toggle((now - start) as f64);
        answers += 1;
        late += (now - start) % period;
        // The next edge that is still to come; those that passed are lost.
        next = start + ((now - start) / period + 1) * period;
    }
    let response = correlation.end((end - start) as f64);
    let place = Place { frequency: f64::from(frequency), response, answered: answers as f64 / edges as f64 };
    Ok((place, late as f64 / answers.max(1) as f64))
}

fn findings(locus: &Locus, late: Vec<(f64, f64)>) -> Findings {
    let mut findings = Findings::default();
    let mut say = |name: &str, points: Points| findings.points(name, &points.x_unit, &points.y_unit, points.points);
    say("reliability", locus.over_frequency(|place| place.response.reliability()));
    say("answered", locus.over_frequency(|place| place.answered));
    say("locus", locus.points());
    let Some(cut_off) = locus.cut_off() else {
        findings.disturbed(format!("not even {} edges a second were answered", FREQUENCIES[0]));
        return findings;
    };
    let lateness = late.iter().find(|(frequency, _)| *frequency == cut_off.frequency).map_or(0.0, |(_, late)| *late);
    findings.larger("cut_off", cut_off.frequency, "1/s");
    findings.larger("cut_off_reliability", cut_off.response.reliability() * 100.0, "%");
    findings.smaller("cut_off_late", lateness, "ns");
    findings.points("late", "1/s", "ns", late);
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use pillion_measure_data::locus::ideal;

    #[test]
    fn the_cut_off_is_told() {
        let place = |frequency: f64, answered| Place { frequency, response: ideal(1e-5, frequency), answered };
        let locus = Locus(vec![place(500.0, 1.0), place(10_000.0, 1.0), place(50_000.0, 0.5)]);
        let told = findings(&locus, vec![(500.0, 9.0), (10_000.0, 10.0), (50_000.0, 11.0)]);
        assert_eq!(told.value("cut_off"), Some(10_000.0));
        assert_eq!(told.value("cut_off_late"), Some(10.0));
        assert_eq!(told.value("cut_off_reliability"), Some(100.0));
    }

    #[test]
    fn a_system_that_answers_nothing_has_no_figures() {
        assert_eq!(findings(&Locus::default(), Vec::new()).disturbances.len(), 1);
    }
}
