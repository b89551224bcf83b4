//! An experiment's file measure.toml.

use super::boot_options::Boot;
use super::linux_program;
use pillion_measure_data::{Chart, Direction, Instrument};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The plan of an experiment.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Headline.
    pub title: String,
    /// What it shows, in a sentence.
    pub about: String,
    /// Where the method comes from.
    #[serde(default)]
    pub paper: String,
    /// The work that Linux does, if a plug-in counts its instructions and no program prints lines.
    pub riding_cost: Option<RidingCost>,
    /// The systems that are compared.
    pub system: Vec<SystemPlan>,
    /// Boots of the emulator.
    pub run: Vec<Run>,
    /// The figures that matter.
    #[serde(default)]
    pub figure: Vec<FigurePlan>,
    /// Conditions that a run must meet to be valid.
    #[serde(default)]
    pub valid: Vec<Valid>,
    /// Histograms to which Erlang distributions are fitted. Each needs at least 20 distinct values,
    /// each in a bucket of its own; others are not fitted. The curve of NAME is NAME_erlang, its
    /// figures are NAME_erlang_k, _mean, _offset and _distance.
    #[serde(default)]
    pub erlang: Vec<String>,
    /// Charts of the report.
    #[serde(default)]
    pub chart: Vec<Chart>,
    /// The conclusion at the top of the report: see
    /// [`pillion_measure_data::Measurement::conclusion`].
    #[serde(default)]
    pub conclusion: Vec<String>,
}

/// A form of an experiment.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// The instrument.
    pub instrument: Instrument,
    /// Whether it is the short form.
    pub quick: bool,
    /// Whether what Pillion is compared with is left out, where a figure does not need it: Linux
    /// without Pillion.
    pub ours: bool,
}

/// The work that Linux does when the cost of riding is counted.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RidingCost {
    /// How often each machine boots, at least twice: the variation between boots gives the
    /// uncertainty of a figure.
    pub boots: usize,
    /// Likewise in the short form.
    pub quick_boots: usize,
    /// Works of linux/initramfs/lib/work and how often each is done: NAME:ROUNDS,..
    pub rounds: String,
    /// Likewise in the short form.
    pub quick_rounds: String,
    /// Riding systems, and the system that each is compared with.
    pub against: BTreeMap<String, String>,
}

/// A system that is compared.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SystemPlan {
    /// Short name.
    pub name: String,
    /// Name for readers.
    pub title: String,
    /// The system of which this one is a variant.
    pub like: Option<Like>,
}

/// What a system is a variant of. It has that system's runs, figures and conditions, and appears
/// only in charts that name it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Like {
    /// The other system.
    pub system: String,
    /// Addition to Linux's command line.
    pub append: String,
    /// Whether the short form includes it, provided that it includes the other system.
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
    /// What to boot.
    #[serde(default)]
    pub boot: Boot,
    /// Likewise in the short form.
    pub quick_boot: Option<Boot>,
    /// Arguments of `pillion-measure run`, which then runs in Linux; the run ends with it.
    pub in_linux: Option<String>,
    /// Likewise in the short form.
    pub quick_in_linux: Option<String>,
    /// Another command that measures in Linux, instead of `in_linux`, and prints lines.
    pub command: Option<String>,
    /// Likewise in the short form.
    pub quick_command: Option<String>,
    /// Prefix of every name that this run reports.
    #[serde(default)]
    pub prefix: String,
    /// Figures and histograms from the run's JSON: a JSON pointer for each name.
    #[serde(default)]
    pub from_result: BTreeMap<String, String>,
    /// Figures from the log's JSON lines: for each name KIND/FIELD, of which the largest number
    /// counts.
    #[serde(default)]
    pub from_log: BTreeMap<String, String>,
    /// Paths that the plug-in counts by processor; the programs mark them.
    #[serde(default)]
    pub path: Vec<Path>,
    /// Sums of such paths.
    #[serde(default)]
    pub sum: Vec<Sum>,
    /// Likewise stretches with interrupts off.
    #[serde(default)]
    pub stretch: Vec<Stretch>,
    /// Whether the plug-in measure/plugin/own.c counts how late the demonstration tasks are in
    /// instructions of their own processors: own_avg, own_max, with_turns_max, fewest_samples,
    /// processors.
    #[serde(default)]
    pub own_latency: bool,
    /// Whether it is part of the short form.
    #[serde(default = "yes")]
    pub quick: bool,
}

/// A path of which a processor's own instructions are counted, by measure/plugin/several.c. Its
/// average is the figure of that name; NAME_min and NAME_max are its extremes.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Path {
    /// Name of the figure.
    pub name: String,
    /// The series in which it is: the number of marks before it.
    pub series: usize,
    /// The processor.
    pub processor: usize,
    /// The event with which it begins: a marker, `exit` of a guest, or the kernel's entry for a
    /// `letter`, a guest's `message` or the `timer`.
    pub from: String,
    /// The event with which it ends.
    pub upto: String,
}

/// What the parts of a path on several processors take together, on average.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sum {
    /// Name of the figure.
    pub name: String,
    /// The paths that are added, of the same run.
    pub of: Vec<String>,
}

/// The longest stretch of instructions of a processor in the kernel with interrupts off.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stretch {
    /// Name of the figure.
    pub name: String,
    /// The series in which it is: the number of marks before it.
    pub series: usize,
    /// The processor.
    pub processor: usize,
}

fn counted() -> Vec<Instrument> {
    vec![Instrument::Counted]
}

fn yes() -> bool {
    true
}

/// A figure that matters.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FigurePlan {
    /// Its name, as programs report it.
    pub name: String,
    /// Systems that must report it; if empty, at least one must.
    #[serde(default)]
    pub systems: Vec<String>,
    /// Instruments that it applies to.
    #[serde(default = "counted")]
    pub instruments: Vec<Instrument>,
    /// What it is.
    pub about: String,
    /// Its unit.
    pub unit: String,
    /// Which direction is better.
    #[serde(default)]
    pub direction: Direction,
    /// Worsening against the baseline, in per cent, above which the comparison fails.
    pub threshold: Option<f64>,
    /// The bar: a figure beyond it fails the measurement.
    pub bar: Option<f64>,
    /// The goal.
    pub goal: Option<f64>,
    /// What comparable systems reach, as the report shows it.
    #[serde(default)]
    pub field: String,
}

/// A condition on a figure that a run must meet to be valid.
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
    /// Systems that it applies to; if empty, all.
    #[serde(default)]
    pub systems: Vec<String>,
    /// Instruments that it applies to.
    #[serde(default = "counted")]
    pub instruments: Vec<Instrument>,
}

impl Run {
    /// Whether a plug-in counts in it by processor.
    pub fn is_counted_by_processor(&self) -> bool {
        !self.path.is_empty() || !self.stretch.is_empty()
    }

    /// Whether it is part of a form. What the cost of riding is counted against always is.
    pub fn is_in(&self, form: Form, is_riding_cost: bool) -> bool {
        self.instruments.contains(&form.instrument)
            && (self.quick || !form.quick)
            && (is_riding_cost || !form.ours || !self.in_form(form).0.direct)
    }

    /// What to boot in a form, and the command that then measures in Linux.
    pub fn in_form(&self, form: Form) -> (Boot, Option<String>) {
        let boot = self.quick_boot.as_ref().filter(|_| form.quick).unwrap_or(&self.boot);
        let in_linux = self.quick_in_linux.as_ref().filter(|_| form.quick).or(self.in_linux.as_ref());
        let command = self.quick_command.as_ref().filter(|_| form.quick).or(self.command.as_ref());
        (boot.clone(), in_linux.map(|what| linux_program::command(what)).or(command.cloned()))
    }
}

impl Plan {
    /// The declaration of a system's figure.
    pub fn figure(&self, system: &str, instrument: Instrument, name: &str) -> Option<&FigurePlan> {
        self.figure.iter().find(|figure| figure.name == name && figure.is_of(system, instrument))
    }
}

impl FigurePlan {
    /// Whether it applies to that system and instrument.
    pub fn is_of(&self, system: &str, instrument: Instrument) -> bool {
        concerns(&self.systems, system) && self.instruments.contains(&instrument)
    }
}

/// Whether a list of systems, which stands for all if it is empty, contains this one.
pub fn concerns(systems: &[String], system: &str) -> bool {
    systems.is_empty() || systems.iter().any(|name| name == system)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_pillion_is_compared_with_can_be_left_out() {
        let run = |text: &str| -> Run { toml::from_str(text).unwrap_or_else(|error| panic!("{error}")) };
        let form = Form { instrument: Instrument::Counted, quick: true, ours: true };
        let own = run("system = 'own-space'");
        let linux = run("system = 'linux'\nboot.direct = true");
        let long = run("system = 'linux'\nboot.direct = true\nquick_boot.direct = false");
        assert!(own.is_in(form, false) && !linux.is_in(form, false) && long.is_in(form, false));
        // The cost of riding is a comparison.
        assert!(linux.is_in(form, true) && linux.is_in(Form { ours: false, ..form }, false));
    }
}
