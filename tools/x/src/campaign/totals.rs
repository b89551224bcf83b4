//! The results of a campaign.

use super::NAME;
use super::judge::Judged;
use super::scenario::Scenario;
use crate::tally::Tally;
use pillion_measure_data::plain;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

/// Totals over all seeds.
#[derive(Default)]
pub struct Totals {
    good: u64,
    /// Seeds that failed, and whether the emulator itself was the cause.
    pub failed: Vec<(Scenario, bool)>,
    reasons: Vec<(u64, Vec<String>)>,
    emulator: Vec<(u64, String)>,
    ends: BTreeMap<String, u64>,
    exits: u64,
    periods: u64,
    longest_ns: u64,
    overruns: u64,
    faulted: u64,
}

impl Totals {
    /// Takes the result of a seed; reports at once what is wrong with it.
    pub fn take(&mut self, scenario: &Scenario, judged: &Judged) {
        if let Some(message) = &judged.emulator {
            println!("seed {}: the emulator died: {}\n  {}", scenario.seed, plain(message), scenario.command());
            self.failed.push((scenario.clone(), true));
            self.emulator.push((scenario.seed, message.clone()));
        } else if judged.wrong.is_empty() {
            self.good += 1;
        } else {
            println!("seed {} FAILED: {}\n  {}", scenario.seed, plain(&judged.wrong.join("; ")), scenario.command());
            self.failed.push((scenario.clone(), false));
            self.reasons.push((scenario.seed, judged.wrong.clone()));
        }
        for (end, count) in &judged.ends {
            *self.ends.entry(end.clone()).or_default() += count;
        }
        // Anyone may have written the line that reports these: they can be any numbers.
        self.exits = self.exits.saturating_add(judged.exits);
        self.faulted += judged.faulted;
        if let Some(watched) = &judged.watched {
            self.periods = self.periods.saturating_add(watched.samples);
            self.longest_ns = self.longest_ns.max(watched.max_ns);
            self.overruns = self.overruns.saturating_add(watched.overruns);
        }
    }

    /// The totals, for people.
    pub fn text(&self, took: Duration) -> String {
        let ends: Vec<String> = self.ends.iter().map(|(end, count)| format!("{end} {count}")).collect();
        let rows = [
            ("seeds", format!("{} good, {} failed", self.good, self.reasons.len())),
            ("emulator died", self.emulator.len().to_string()),
            ("ends of the guest", ends.join(", ")),
            ("its exits", self.exits.to_string()),
            ("hostile tasks that faulted", self.faulted.to_string()),
            (
                "the watched task",
                format!("{} periods, {} ns at most, {} overruns", self.periods, self.longest_ns, self.overruns),
            ),
            ("time", format!("{:.0} s", took.as_secs_f32())),
        ];
        rows.iter().fold(String::new(), |mut text, (name, value)| {
            let _ = writeln!(text, "{name:28}{value}");
            text
        })
    }

    /// The totals, for machines.
    pub fn json(&self) -> Value {
        json!({
            "good": self.good,
            "failed": self.reasons.iter().map(|(seed, wrong)| json!({ "seed": seed, "wrong": wrong })).collect::<Vec<_>>(),
            "emulator_died": self.emulator.iter().map(|(seed, why)| json!({ "seed": seed, "message": why })).collect::<Vec<_>>(),
            "ends": self.ends,
            "exits": self.exits,
            "faulted": self.faulted,
            "periods": self.periods,
            "longest_ns": self.longest_ns,
            "overruns": self.overruns,
        })
    }

    /// Counts each seed as a test. If the emulator died, nothing was tested.
    pub fn tally(&self) -> Tally {
        let failed = self.reasons.iter().map(|(seed, wrong)| format!("{NAME}: seed {seed}: {}", wrong.join("; ")));
        let died = self.emulator.iter().map(|(seed, why)| format!("{NAME}: seed {seed}: the emulator died: {why}"));
        Tally { passed: self.good, failed: failed.chain(died).collect() }
    }
}
