//! What has to be run for an experiment: a list of boots.

use super::boot::Boot;
use super::experiment::Experiment;
use super::linux_program::{self, LinuxProgram};
use super::model::{Model, Plugin};
use super::plan::{Kind, Run};
use super::riding;
use super::tool::{Streams, Tool};
use anyhow::Result;
use pillion_measure_data::Instrument;
use std::fs;
use std::path::Path;

/// Loads beside a program that measures run until it ends: longer than any does.
const FOREVER: u32 = 1_000_000;
/// Loads of the experiments', each a script of its name.
const SCRIPTS: &str = "measure/experiments/in-linux";
/// Seconds of the host's after which a run of the short form is given up, and one of the long form.
const TIMEOUTS: [u32; 2] = [900, 3600];
/// The same with the model, which slows the emulator down.
const MODEL_TIMEOUT: u32 = 7200;

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
    /// What boots.
    pub boot: Boot,
    /// A plug-in of the emulator.
    pub plugin: Option<Plugin>,
}

impl Job {
    /// What boots, with a plug-in that writes to that file.
    fn boot_with(&self, output: &Path) -> Boot {
        let mut boot = self.boot.clone();
        if let Some(Plugin { file, arguments }) = &self.plugin {
            let value = format!("{file},out={},{arguments}", output.display());
            boot.qemu_arg.extend(["-plugin".into(), value]);
        }
        boot
    }

    /// The command line that repeats it.
    pub fn command(&self) -> String {
        self.boot_with(Path::new("counts")).command()
    }

    /// Runs it.
    pub fn run(&self, tool: &dyn Tool) -> Result<Streams> {
        let folder = tempfile::tempdir()?;
        let output = folder.path().join("plugin");
        let streams = tool.boot(&self.boot_with(&output))?;
        let written = fs::read(&output).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        Ok(Streams { plugin: written.unwrap_or_default(), ..streams })
    }
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
        let boot = boot(experiment, number, run, form, means)?;
        let job = Job { system: run.system.clone(), run: number, boot, plugin: None };
        match (&means.model, experiment.plan.kind) {
            (Some(model), _) => jobs.extend(model.jobs(means.tool, &job)?),
            (None, Kind::Lines) => jobs.push(job),
            (None, Kind::RidingCost) => jobs.extend(riding::jobs(experiment, form, means.tool.repository(), &job)?),
        }
    }
    Ok(jobs)
}

fn boot(experiment: &Experiment, number: usize, run: &Run, form: Form, means: &Means) -> Result<Boot> {
    let mut boot = run.quick_boot.as_ref().filter(|_| form.quick).unwrap_or(&run.boot).clone();
    boot.set_here(&experiment.here);
    boot.set_devices(experiment.plan.kind == Kind::Lines);
    let what = run.quick_in_linux.as_ref().filter(|_| form.quick).or(run.in_linux.as_ref());
    let mut needs_program = what.is_some();
    for script in boot.load.iter().map(|load| format!("{SCRIPTS}/{load}")) {
        let path = means.tool.repository().path(&script);
        let Ok(text) = fs::read_to_string(path) else { continue };
        needs_program |= text.contains(linux_program::NAME);
        boot.file.push(script);
    }
    if needs_program {
        boot.file.push(means.linux_program.path()?.into());
    }
    if let Some(what) = what {
        let short = if form.quick { "-quick" } else { "" };
        let name = format!("{}/{number}{short}", experiment.name);
        boot.file.push(means.linux_program.script(&name, what)?);
        boot.load.push(linux_program::LOAD.into());
        boot.seconds.get_or_insert(FOREVER);
    }
    let short_or_long = TIMEOUTS[usize::from(!form.quick)];
    boot.timeout = Some(if means.model.is_some() { MODEL_TIMEOUT } else { short_or_long });
    Ok(boot)
}
