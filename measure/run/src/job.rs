//! What has to be run for an experiment: a list of boots.

use super::experiment::Experiment;
use super::linux_program::{self, LinuxProgram};
use super::model::{Model, Plugin};
use super::plan::{Kind, Run};
use super::riding;
use super::tool::Tool;
use anyhow::Result;
use pillion_measure_data::Instrument;
use std::fs;

/// Loads beside a program that measures run until it ends: longer than any does.
const FOREVER: &str = "1000000";
/// The load for which the machine needs the network to this computer.
const OUTSIDE: &str = "net";
/// Loads for which it needs what the emulator serves by itself, and the options that give it.
const INSIDE: [(&str, &str); 2] = [("packets", "--wire"), ("disk", "--card")];
/// Loads of the experiments', each a script of its name.
const SCRIPTS: &str = "measure/experiments/in-linux";
/// Seconds of the host's after which a run of the short form is given up, and one of the long form.
const TIMEOUTS: [&str; 2] = ["900", "3600"];
/// The same with the model, which slows the emulator down.
const MODEL_TIMEOUT: &str = "7200";

/// Which form of an experiment.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// How.
    pub instrument: Instrument,
    /// The short form.
    pub quick: bool,
}

/// A boot of the emulator.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// Name of the system; with a model, NAME@PRESET.
    pub system: String,
    /// Which run of the plan.
    pub run: usize,
    /// Arguments of `x run --headless --counted`.
    pub arguments: Vec<String>,
    /// A plug-in of the emulator.
    pub plugin: Option<Plugin>,
}

/// What is needed to make jobs.
pub struct Means<'a> {
    /// What builds.
    pub tool: &'a dyn Tool,
    /// The model, when it is the instrument.
    pub model: Option<Model>,
    /// The program that measures Linux.
    pub linux_program: LinuxProgram<'a>,
}

/// The jobs of an experiment.
pub fn all(experiment: &Experiment, form: Form, means: &Means) -> Result<Vec<Job>> {
    let mut jobs = Vec::new();
    for (number, run) in experiment.plan.run.iter().enumerate() {
        if !run.instruments.contains(&form.instrument) || form.quick && !run.quick {
            continue;
        }
        let job = Job {
            system: run.system.clone(),
            run: number,
            arguments: arguments(experiment, number, run, form, means)?,
            plugin: None,
        };
        match (&means.model, experiment.plan.kind) {
            (Some(model), _) => jobs.extend(model.jobs(means.tool, &job)?),
            (None, Kind::Lines) => jobs.push(job),
            (None, Kind::RidingCost) => jobs.extend(riding::jobs(experiment, form, means.tool.repository(), &job)?),
        }
    }
    Ok(jobs)
}

fn arguments(experiment: &Experiment, number: usize, run: &Run, form: Form, means: &Means) -> Result<Vec<String>> {
    let quick = run.quick_arguments.as_ref().filter(|_| form.quick);
    let mut arguments: Vec<String> = quick.unwrap_or(&run.arguments).clone();
    arguments.iter_mut().for_each(|argument| *argument = argument.replace("{here}", &experiment.here));
    let loads = loads(&arguments);
    if experiment.plan.kind == Kind::Lines && !need_outside(&loads) {
        arguments.push("--isolated".into());
    }
    arguments.extend(devices(&loads));
    let what = run.quick_in_linux.as_ref().filter(|_| form.quick).or(run.in_linux.as_ref());
    let mut needs_program = what.is_some();
    for script in loads.iter().map(|load| format!("{SCRIPTS}/{load}")) {
        let Ok(text) = fs::read_to_string(means.tool.repository().path(&script)) else { continue };
        needs_program |= text.contains(linux_program::NAME);
        arguments.extend(["--file".into(), script]);
    }
    if needs_program {
        arguments.extend(["--file".into(), means.linux_program.path()?.into()]);
    }
    if let Some(what) = what {
        let name = format!("{}/{number}{}", experiment.name, if form.quick { "-quick" } else { "" });
        arguments.extend(means.linux_program.load(&name, what)?);
        or_default(&mut arguments, "--seconds", FOREVER);
    }
    let timeout = if means.model.is_some() { MODEL_TIMEOUT } else { TIMEOUTS[usize::from(!form.quick)] };
    or_default(&mut arguments, "--timeout", timeout);
    Ok(arguments)
}

/// Whether a load is among these for which the machine needs this computer. Without, it repeats to the last instruction.
fn need_outside(loads: &[String]) -> bool {
    loads.iter().any(|load| load == OUTSIDE)
}

/// Options for what loads need that the emulator serves by itself.
fn devices(loads: &[String]) -> impl Iterator<Item = String> {
    let needed = INSIDE.iter().filter(|(name, _)| loads.iter().any(|load| load == name));
    needed.map(|(_, option)| (*option).to_owned())
}

/// The loads that arguments of `x run` name.
fn loads(arguments: &[String]) -> Vec<String> {
    let values = arguments.iter().zip(arguments.iter().skip(1)).filter(|(option, _)| *option == "--load");
    values.flat_map(|(_, names)| names.split(',').map(str::to_owned)).collect()
}

/// Adds an option with that value, unless it is there.
fn or_default(arguments: &mut Vec<String>, option: &str, value: &str) {
    let is_there = |argument: &String| argument.split('=').next() == Some(option);
    if !arguments.iter().any(is_there) {
        arguments.extend([option.to_owned(), value.to_owned()]);
    }
}

/// Adds words to Linux's command line, which `x run` takes once.
pub fn append(arguments: &mut Vec<String>, words: &str) {
    let there = arguments.iter().position(|argument| argument == "--append");
    match there.and_then(|at| arguments.get_mut(at + 1)) {
        Some(line) => *line += &format!(" {words}"),
        None => arguments.extend(["--append".to_owned(), words.to_owned()]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn only_what_loads_need_is_given_to_the_machine() {
        let named = loads(&words("--direct --load flood,coverage --seconds 5 --load measure"));
        assert_eq!(named, ["flood", "coverage", "measure"]);
        assert!(!need_outside(&named));
        assert!(need_outside(&loads(&words("--load measure,net --no-linux"))));
        let inside = loads(&words("--load packets,measure,disk"));
        assert!(!need_outside(&inside), "a wire and a card are inside");
        assert_eq!(devices(&inside).collect::<Vec<_>>(), ["--wire", "--card"]);
        assert!(loads(&words("--no-linux --load")).is_empty());
    }

    #[test]
    fn defaults_yield_to_what_is_named() {
        let mut arguments = words("--cpu=max --seconds 5");
        or_default(&mut arguments, "--cpu", "EPYC");
        or_default(&mut arguments, "--seconds", FOREVER);
        or_default(&mut arguments, "--timeout", TIMEOUTS[0]);
        assert_eq!(arguments, words("--cpu=max --seconds 5 --timeout 900"));
    }
}
