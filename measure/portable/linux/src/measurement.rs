//! Findings as a measurement: the file that the report draws.

use crate::bench::Bench;
use crate::experiments::Entry;
use crate::findings::Findings;
use crate::options::Options;
use crate::{realtime, this_machine};
use pillion_measure_data::{Figure, Instrument, Measurement, Series, System};
use std::collections::BTreeMap;

/// The measurement made from an experiment's findings. A disturbed one has no numbers.
pub fn of(entry: &Entry, findings: &Findings, options: &Options, bench: &Bench) -> Measurement {
    let system = system(options);
    let is_good = findings.disturbances.is_empty();
    let figures = findings.figures.iter().filter(|_| is_good).cloned();
    let series = findings.series.iter().filter(|_| is_good).cloned();
    Measurement {
        about: entry.about.into(),
        paper: entry.paper.into(),
        command: system.commands.join("; "),
        quick: bench.quick,
        machine: facts(options, bench),
        figures: figures.map(|figure| Figure { system: system.name.clone(), ..figure }).collect(),
        series: series.map(|series| Series { system: system.name.clone(), ..series }).collect(),
        systems: vec![system],
        disturbed: findings.disturbances.clone(),
        charts: (entry.charts)(),
        ..Measurement::new(entry.name, entry.title, bench.instrument)
    }
}

fn system(options: &Options) -> System {
    let is_rt = this_machine::is_preempt_rt();
    let (name, title) = if is_rt { ("linux-rt", "Linux, PREEMPT_RT") } else { ("linux", "Linux") };
    System {
        name: options.system.clone().unwrap_or_else(|| name.into()),
        title: options.system.clone().unwrap_or_else(|| title.into()),
        commands: vec![command_line()],
    }
}

fn command_line() -> String {
    let words = std::env::args().skip(1).map(|word| if word.contains(' ') { format!("'{word}'") } else { word });
    std::iter::once("pillion-measure".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

fn facts(options: &Options, bench: &Bench) -> BTreeMap<String, String> {
    let mut facts = this_machine::describe(bench.cpu);
    facts.insert("clock".into(), bench.clock.name());
    facts.insert("measured on processor".into(), bench.cpu.to_string());
    let limit = if realtime::is_throttled() { "95 % of each second" } else { "none" };
    facts.insert("limit of real-time threads".into(), limit.into());
    if bench.instrument == Instrument::Measured && options.allow_virtual && this_machine::hypervisor().is_some() {
        facts.insert("warning".into(), "measured in a virtual machine: not a latency of hardware".into());
    }
    facts
}
