//! Plans the jobs of experiments.

use super::boot_options::Boot;
use super::by_processor;
use super::cache_model::Model;
use super::experiment::Experiment;
use super::job::Job;
use super::linux_program::{self, LinuxProgram};
use super::own_latency;
use super::plan::{Form, Run};
use super::riding;
use super::tool::Tool;
use anyhow::Result;
use pillion_host::problem::problem;
use pillion_host::progress::step;
use pillion_measure_data::Instrument;
use std::collections::BTreeMap;
use std::fs;

/// Duration of loads beside a measuring program, which run until it ends: longer than any does.
const FOREVER: u32 = 1_000_000;
/// The experiments' own loads: a script for each, with its name.
const SCRIPTS: &str = "measure/experiments/in-linux";
/// Timeouts in seconds of this computer's time, of a run of the short form and of the long form.
const TIMEOUTS: [u32; 2] = [900, 3600];
/// Likewise with the model, which slows the emulator down.
const MODEL_TIMEOUT: u32 = 7200;

/// Plans the runs of one form.
pub struct Planner<'a> {
    tool: &'a dyn Tool,
    form: Form,
    /// The model, if it is the instrument.
    model: Option<Model>,
    linux_program: LinuxProgram<'a>,
}

impl<'a> Planner<'a> {
    /// Builds what all runs need; `machine` restricts the model to one machine of measure/machines.
    pub fn new(tool: &'a dyn Tool, form: Form, machine: Option<&str>) -> Result<Planner<'a>> {
        let modelled = form.instrument == Instrument::Modelled;
        if let Some(machine) = machine.filter(|_| !modelled) {
            let why = format!("only the model has machines, and the instrument is `{}`", form.instrument);
            let remedy = "add --instrument modelled, or leave out --machine";
            return Err(problem(format!("nothing runs on the machine {machine}"), why, remedy));
        }
        let model = || step("building the model", || Model::prepare(tool, machine));
        let model = modelled.then(model).transpose()?;
        Ok(Planner { tool, form, model, linux_program: LinuxProgram::new(tool) })
    }

    /// Titles of the model's machines.
    pub fn titles(&self) -> BTreeMap<String, String> {
        self.model.as_ref().map(Model::titles).unwrap_or_default()
    }

    /// The jobs of an experiment; empty if it has no run in this form.
    pub fn jobs(&self, experiment: &Experiment) -> Result<Vec<Job>> {
        let mut jobs = Vec::new();
        for (number, run) in experiment.plan.run.iter().enumerate() {
            if !run.is_in(self.form, experiment.plan.riding_cost.is_some()) {
                continue;
            }
            let boot = self.boot(experiment, number, run)?;
            let by_processor = self.model.is_none() && run.is_counted_by_processor();
            let mut plugin = by_processor.then(|| by_processor::prepare(self.tool)).transpose()?;
            if self.model.is_none() && run.own_latency {
                plugin = Some(own_latency::prepare(self.tool)?);
            }
            let job = Job { system: run.system.clone(), run: number, boot, plugin };
            match (&self.model, &experiment.plan.riding_cost) {
                (Some(model), _) => jobs.extend(model.jobs(self.tool, &job)?),
                (None, None) => jobs.push(job),
                (None, Some(cost)) => jobs.extend(riding::jobs(cost, self.form, self.tool, &job)?),
            }
        }
        Ok(jobs)
    }

    fn boot(&self, experiment: &Experiment, number: usize, run: &Run) -> Result<Boot> {
        let (mut boot, command) = run.in_form(self.form);
        boot.set_here(&experiment.here);
        boot.set_devices(experiment.plan.riding_cost.is_none());
        let mut needs_program = command.as_ref().is_some_and(|command| command.contains(linux_program::NAME));
        for script in boot.load.iter().map(|load| format!("{SCRIPTS}/{load}")) {
            let path = self.tool.repository().path(&script);
            let Ok(text) = fs::read_to_string(path) else { continue };
            needs_program |= text.contains(linux_program::NAME);
            boot.file.push(script);
        }
        if needs_program {
            boot.file.push(self.linux_program.path()?.into());
        }
        if let Some(command) = command {
            let short = if self.form.quick { "-quick" } else { "" };
            let name = format!("{}/{number}{short}", experiment.name);
            boot.file.push(self.linux_program.script(&name, &command)?);
            boot.load.push(linux_program::LOAD.into());
            boot.seconds.get_or_insert(FOREVER);
        }
        let short_or_long = TIMEOUTS[usize::from(!self.form.quick)];
        boot.timeout = Some(if self.model.is_some() { MODEL_TIMEOUT } else { short_or_long });
        Ok(boot)
    }
}
