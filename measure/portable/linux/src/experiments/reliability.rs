//! How reliably a process answers a square wave of rising frequency.

use super::Experiment;
use crate::bench::Bench;
use crate::findings::Findings;
use crate::sleep;
use crate::time_source::monotonic;
use anyhow::Result;
use clap::Args;
use pillion_measure_data::locus::{Locus, Place};
use pillion_measure_data::walsh::{Correlation, Response};
use pillion_measure_data::{Chart, Kind, Points};

/// Edges per second: a series of preferred numbers.
const FREQUENCIES: [u32; 25] = [
    500, 1_000, 2_000, 3_150, 5_000, 8_000, 12_500, 20_000, 31_500, 50_000, 80_000, 100_000, 125_000, 160_000, 200_000,
    250_000, 315_000, 400_000, 500_000, 630_000, 800_000, 1_000_000, 1_250_000, 1_600_000, 2_000_000,
];
/// Delay of the first edge, so that everything is ready, plus up to as much again, drawn at random,
/// so that no two rounds meet Linux's ticks in the same way.
const AHEAD_NS: u64 = 1_000_000;
/// If a smaller fraction of the edges is answered, no higher frequency is tried: all that remains
/// is a loop that reads the time.
const HALF: f64 = 0.5;

#[derive(Args, Debug)]
pub struct Reliability {
    /// Rounds through all frequencies [default: 4, short form 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    rounds: Option<u32>,
    /// How long to answer each frequency in a round, in milliseconds [default: 250, short form 20]
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(4..))]
    time: Option<u64>,
}

impl Experiment for Reliability {
    const NAME: &'static str = "reliability";
    const TITLE: &'static str = "Degree of reliability";
    const ABOUT: &'static str =
        "How reliably a square wave of rising frequency is answered, by Walsh correlation, up to the cut-off.";
    const PAPER: &'static str = "Heursch 2006, 3.9";

    fn run(&self, bench: &Bench) -> Result<Findings> {
        bench.be_urgent()?;
        let time = bench.size(self.time, 250, 20) * 1_000_000;
        let mut seed = 1;
        let mut rounds = Vec::new();
        for _ in 0..bench.size(self.rounds, 4, 2) {
            rounds.push(round(time, &mut seed)?);
        }
        Ok(findings(&rounds))
    }

    fn charts() -> Vec<Chart> {
        let over = Chart {
            x: "edges in a second".into(),
            log_x: true,
            ..Chart::new(Kind::Lines, Self::TITLE, &["reliability"])
        };
        vec![over, Chart::new(Kind::Locus, "Frequency response locus", &["locus"])]
    }
}

/// The result for one frequency in a round.
#[derive(Clone, Copy, Debug)]
struct Answer {
    place: Place,
    /// Mean delay of the answers.
    late: f64,
}

/// Answers each frequency for `time`, up to the first with fewer than half of its edges answered.
fn round(time: u64, seed: &mut u64) -> Result<Vec<Answer>> {
    let mut answers = Vec::new();
    for frequency in FREQUENCIES {
        let answer = answer(frequency, time, seed)?;
        answers.push(answer);
        if answer.place.answered < HALF {
            break;
        }
    }
    Ok(answers)
}

/// Answers one frequency, for an even number of edges.
fn answer(frequency: u32, time: u64, seed: &mut u64) -> Result<Answer> {
    let period = 1_000_000_000 / u64::from(frequency);
    let edges = time / period / 2 * 2;
    let start = monotonic() + AHEAD_NS + draw(seed) % AHEAD_NS;
    let end = start + edges * period;
    let mut correlation = Correlation::new(period);
    let (mut answers, mut late, mut next) = (0, 0, start);
    while next < end {
        sleep::until(next)?;
        let now = monotonic();
        if now >= end {
            break;
        }
        correlation.toggle(now - start);
        answers += 1;
        late += now - next;
        // The next edge in the future; edges that have passed are lost.
        next = start + ((now - start) / period + 1) * period;
    }
    let late = late as f64 / answers.max(1) as f64;
    let response = correlation.end(end - start, late);
    Ok(Answer {
        place: Place { frequency: f64::from(frequency), response, answered: answers as f64 / edges as f64 },
        late,
    })
}

/// The next pseudo-random number, the same as in reliability.c.
fn draw(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *seed >> 33
}

/// The mean of the rounds; frequencies that not all rounds reached are left out.
fn mean(rounds: &[Vec<Answer>]) -> Vec<Answer> {
    let frequencies = rounds.iter().map(Vec::len).min().unwrap_or(0);
    let mean_of = |at: usize, part: &dyn Fn(&Answer) -> f64| {
        rounds.iter().map(|round| part(&round[at])).sum::<f64>() / rounds.len() as f64
    };
    let at = |at: usize| Answer {
        place: Place {
            frequency: rounds[0][at].place.frequency,
            response: Response {
                real: mean_of(at, &|answer| answer.place.response.real),
                imaginary: mean_of(at, &|answer| answer.place.response.imaginary),
                reliability: mean_of(at, &|answer| answer.place.response.reliability),
            },
            answered: mean_of(at, &|answer| answer.place.answered),
        },
        late: mean_of(at, &|answer| answer.late),
    };
    (0..frequencies).map(at).collect()
}

fn findings(rounds: &[Vec<Answer>]) -> Findings {
    let mut findings = Findings::default();
    let answers = mean(rounds);
    let locus = Locus(answers.iter().map(|answer| answer.place).collect());
    let late: Vec<(f64, f64)> = answers.iter().map(|answer| (answer.place.frequency, answer.late)).collect();
    let mut say = |name: &str, points: Points| findings.points(name, &points.x_unit, &points.y_unit, points.points);
    say("reliability", locus.over_frequency(|place| place.response.reliability));
    say("answered", locus.over_frequency(|place| place.answered));
    say("locus", locus.points());
    say("locus_frequency", locus.over_frequency(|place| place.answered));
    findings.points("late", "1/s", "ns", late);
    let Some(at) = locus.cut_off().and_then(|cut_off| locus.0.iter().position(|place| place == cut_off)) else {
        findings.disturbed(format!("not even {} edges a second were answered", FREQUENCIES[0]));
        return findings;
    };
    let least = rounds.iter().map(|round| round[at].place.response.reliability).fold(1.0, f64::min);
    findings.larger("cut_off", answers[at].place.frequency, "1/s");
    findings.larger("cut_off_reliability", answers[at].place.response.reliability * 100.0, "%");
    findings.larger("cut_off_reliability_least", least * 100.0, "%");
    findings.smaller("cut_off_late", answers[at].late, "ns");
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer_of(frequency: f64, answered: f64, reliability: f64) -> Answer {
        let response = Response { real: 1.0, imaginary: 0.0, reliability };
        Answer { place: Place { frequency, response, answered }, late: frequency / 1e3 }
    }

    #[test]
    fn the_cut_off_is_told() {
        let round = |reliability: f64| {
            vec![answer_of(500.0, 1.0, 1.0), answer_of(10_000.0, 1.0, reliability), answer_of(50_000.0, 0.5, 0.1)]
        };
        let told = findings(&[round(0.75), round(0.5)]);
        assert_eq!(told.value("cut_off"), Some(10_000.0));
        assert_eq!(told.value("cut_off_late"), Some(10.0));
        assert_eq!(told.value("cut_off_reliability"), Some(62.5));
        assert_eq!(told.value("cut_off_reliability_least"), Some(50.0));
    }

    #[test]
    fn an_edge_that_one_round_lost_is_lost() {
        let rounds = [
            vec![answer_of(500.0, 1.0, 1.0), answer_of(1000.0, 1.0, 1.0)],
            vec![answer_of(500.0, 1.0, 1.0), answer_of(1000.0, 0.998, 0.1)],
        ];
        assert_eq!(findings(&rounds).value("cut_off"), Some(500.0));
    }

    #[test]
    fn a_system_that_answers_nothing_has_no_figures() {
        assert_eq!(findings(&[]).disturbances.len(), 1);
    }
}
