//! The file measure.toml of an experiment.

use super::boot::Boot;
use pillion_measure_data::{Chart, Direction, Instrument};
use serde::Deserialize;
use std::collections::BTreeMap;

/// What an experiment is.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Headline.
    pub title: String,
    /// What is shown, in a sentence.
    pub about: String,
    /// Where the method comes from.
    #[serde(default)]
    pub paper: String,
    /// How figures come out of its runs.
    #[serde(default)]
    pub kind: Kind,
    /// Only with that kind: what Linux does.
    pub riding_cost: Option<RidingCost>,
    /// What is compared.
    pub system: Vec<SystemPlan>,
    /// Boots of the emulator.
    pub run: Vec<Run>,
    /// The numbers that count.
    #[serde(default)]
    pub figure: Vec<FigurePlan>,
    /// What a run must have said to be taken.
    #[serde(default)]
    pub valid: Vec<Valid>,
    /// Distributions that are fitted to histograms.
    #[serde(default)]
    pub fit: Vec<Fit>,
    /// What the report draws.
    #[serde(default)]
    pub chart: Vec<Chart>,
    /// What the report says at its top, as [`pillion_measure_data::Measurement::conclusion`].
    #[serde(default)]
    pub conclusion: Vec<String>,
}

/// Which form of an experiment.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// How.
    pub instrument: Instrument,
    /// The short form.
    pub quick: bool,
}

/// How figures come out of the runs of an experiment.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Programs say lines.
    #[default]
    Lines,
    /// A plug-in counts the instructions of fixed amounts of work in Linux.
    RidingCost,
}

/// What Linux does when the cost of riding is counted.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RidingCost {
    /// How often each machine boots, two times at least: how far boots differ is how far chance may
    /// have a figure wrong.
    pub boots: usize,
    /// The same in the short form.
    pub quick_boots: usize,
    /// Works of linux/initramfs/lib/work and how often each is done, NAME:ROUNDS,..
    pub rounds: String,
    /// The same in the short form.
    pub quick_rounds: String,
    /// Riding systems, and for each the one that it is compared with.
    pub against: BTreeMap<String, String>,
}

/// One of the systems that are compared.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SystemPlan {
    /// Short name.
    pub name: String,
    /// Name for readers.
    pub title: String,
    /// Another one, of which this one is a variant.
    pub like: Option<Like>,
}

/// What a system is a variant of: it has the runs, figures and conditions of that one, and no chart
/// that does not name it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Like {
    /// The other system.
    pub system: String,
    /// Added to Linux's command line.
    pub append: String,
    /// Whether the short form has it, as far as it has the other one.
    #[serde(default)]
    pub quick: bool,
}

/// One boot of the emulator, for one system.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// The system.
    pub system: String,
    /// Instruments that it can be run with.
    #[serde(default = "counted")]
    pub instruments: Vec<Instrument>,
    /// What boots.
    #[serde(default)]
    pub boot: Boot,
    /// The same in the short form.
    pub quick_boot: Option<Boot>,
    /// Arguments of `pillion-measure run`, which then runs in Linux; the run ends with it.
    pub in_linux: Option<String>,
    /// The same in the short form.
    pub quick_in_linux: Option<String>,
    /// Stands before every name that this run says.
    #[serde(default)]
    pub prefix: String,
    /// Figures and histograms out of the run's JSON: a JSON pointer for each name.
    #[serde(default)]
    pub from_result: BTreeMap<String, String>,
    /// Figures out of the log's JSON lines: for each name KIND/FIELD, the largest number of that
    /// field.
    #[serde(default)]
    pub from_log: BTreeMap<String, String>,
    /// Whether it belongs to the short form.
    #[serde(default = "yes")]
    pub quick: bool,
}

fn counted() -> Vec<Instrument> {
    vec![Instrument::Counted]
}

fn yes() -> bool {
    true
}

/// A number that counts.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FigurePlan {
    /// Name, as programs say it.
    pub name: String,
    /// Systems that must say it; one at least when there are none.
    #[serde(default)]
    pub systems: Vec<String>,
    /// Instruments that it speaks of.
    #[serde(default = "counted")]
    pub instruments: Vec<Instrument>,
    /// What it is.
    pub about: String,
    /// Its unit.
    pub unit: String,
    /// Which direction is better.
    #[serde(default)]
    pub direction: Direction,
    /// Worsening against the baseline that fails, in per cent.
    pub threshold: Option<f64>,
    /// Beyond it the measurement fails.
    pub bar: Option<f64>,
    /// What is aimed at.
    pub goal: Option<f64>,
    /// What others reach.
    #[serde(default)]
    pub field: String,
}

/// A condition on a figure, without which a run is not taken.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Valid {
    /// The figure.
    pub figure: String,
    /// Its smallest value.
    pub least: Option<f64>,
    /// Its largest value.
    pub most: Option<f64>,
    /// Its smallest value in the short form.
    pub quick_least: Option<f64>,
    /// Its largest value in the short form.
    pub quick_most: Option<f64>,
    /// Systems of which it is asked; all when there are none.
    #[serde(default)]
    pub systems: Vec<String>,
    /// Instruments with which it is asked.
    #[serde(default = "counted")]
    pub instruments: Vec<Instrument>,
}

/// A distribution that is fitted to each system's histograms of those names.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fit {
    /// The histograms, of at least 20 values that differ, each in a bucket of its own: others get
    /// none. The curve of NAME is NAME_erlang, its figures are NAME_erlang_k, _mean, _offset and
    /// _distance.
    pub series: Vec<String>,
    /// The distribution.
    pub with: Distribution,
}

/// A distribution.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Distribution {
    /// Erlang's.
    Erlang,
}

impl Distribution {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Distribution::Erlang => "erlang",
        }
    }
}

impl Run {
    /// What boots in a form, and what then runs in Linux.
    pub fn in_form(&self, form: Form) -> (Boot, Option<&str>) {
        let boot = self.quick_boot.as_ref().filter(|_| form.quick).unwrap_or(&self.boot);
        let in_linux = self.quick_in_linux.as_ref().filter(|_| form.quick).or(self.in_linux.as_ref());
        (boot.clone(), in_linux.map(String::as_str))
    }
}

impl Plan {
    /// What was declared of a system's figure.
    pub fn figure(&self, system: &str, instrument: Instrument, name: &str) -> Option<&FigurePlan> {
        self.figure.iter().find(|figure| figure.name == name && figure.is_of(system, instrument))
    }
}

impl FigurePlan {
    /// Whether it speaks of that system and instrument.
    pub fn is_of(&self, system: &str, instrument: Instrument) -> bool {
        concerns(&self.systems, system) && self.instruments.contains(&instrument)
    }
}

/// Whether a list of systems, which are all when it is empty, has this one.
pub fn concerns(systems: &[String], system: &str) -> bool {
    systems.is_empty() || systems.iter().any(|name| name == system)
}
