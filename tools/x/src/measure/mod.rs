//! `x measure`: runs the experiments of measure/, draws and compares what they say.

mod assemble;
mod baseline;
mod check;
mod compare;
#[cfg(test)]
mod documented;
mod emulate;
mod experiment;
mod file;
mod fit;
mod gather;
mod heard;
mod job;
mod like;
mod linux_program;
mod list;
mod machine;
mod model;
mod plan;
mod report;
mod riding;
mod run;
mod table;
mod valid;
mod verdict;

use crate::cli::{MeasureArguments, MeasureCommand};
use crate::repository::Repository;
use anyhow::{Context as _, Result};
use experiment::Experiment;
pub use experiment::FOLDER as EXPERIMENTS;
use job::{Form, Job};
use model::Plugin;
use pillion_measure_data::{Instrument, Measurement};
use std::path::Path;

/// `x measure`.
pub fn command(repository: &Repository, arguments: &MeasureArguments) -> Result<bool> {
    match &arguments.command {
        MeasureCommand::List(arguments) => list::command(repository, arguments),
        MeasureCommand::Run(arguments) => run::command(repository, arguments),
        MeasureCommand::Report(arguments) => report::command(repository, arguments),
        MeasureCommand::Compare(arguments) => compare::command(arguments),
    }
}

/// What the model of caches says of a run of that machine, with these arguments of `x run`.
pub fn modelled(repository: &Repository, arguments: &[&str], machine: &str) -> Result<String> {
    let plugin = Plugin { file: model::build_model(repository)?, arguments: machine.into() };
    let arguments = arguments.iter().map(|argument| (*argument).to_owned()).collect();
    let job = Job { system: String::new(), run: 0, arguments, plugin: Some(plugin) };
    Ok(emulate::run(repository, &job)?.plugin)
}

/// What `x measure run` wrote last of an experiment, counted, in the clone at `root`.
pub fn written(root: &Path, experiment: &str) -> Result<Measurement> {
    file::read(&file::path(&Repository::at(root), experiment, Instrument::Counted))
}

/// The counted, short form of an experiment.
pub fn measured(repository: &Repository, experiment: &str) -> Result<Measurement> {
    let experiments = [Experiment::read(repository, experiment)?];
    let form = Form { instrument: Instrument::Counted, quick: true };
    let mut measured = None;
    run::measure(repository, &experiments, form, None, 1, |_, measurement| {
        measured = Some(measurement);
        Ok(())
    })?;
    measured.context("it has no short form")
}
