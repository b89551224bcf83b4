//! Runs the experiments of measure/, and draws and compares their results.
//!
//! The entry points [`list()`], [`run()`], [`report()`] and [`compare()`] are the commands of
//! `x measure`. The caller provides the [`Tool`] that builds and boots.
#![forbid(unsafe_code)]

mod assemble;
mod baseline;
mod boot_options;
mod by_processor;
mod cache_model;
#[cfg(test)]
mod documented;
mod emulated_machine;
mod erlang_fits;
mod experiment;
mod gather;
mod job;
mod linux_program;
mod list;
mod measurement_files;
mod own_latency;
mod plan;
mod plan_check;
mod planner;
mod plugin;
mod processors;
mod readings;
mod riding;
mod run;
mod system_name;
mod text_table;
mod tool;
mod validity;
mod variants;

use anyhow::{Context as _, Result};
pub use boot_options::Boot;
use experiment::Experiment;
pub use experiment::FOLDER as EXPERIMENTS;
use job::Job;
pub use list::list;
pub use measurement_files::{compare, report};
use pillion_host::repository::Repository;
use pillion_measure_data::{Instrument, Measurement};
pub use plan::Form;
use plugin::Plugin;
pub use run::{Order, run};
use std::path::Path;
pub use tool::{RunOutput, Tool};

/// The output of the cache model for a boot on that machine.
pub fn modelled(tool: &dyn Tool, boot: Boot, machine: &str) -> Result<String> {
    let plugin = Plugin { file: cache_model::build_model(tool.repository())?, arguments: machine.into() };
    let job = Job { system: String::new(), run: 0, boot, plugin: Some(plugin) };
    Ok(job.run(tool)?.plugin)
}

/// The last counted measurement of an experiment that `x measure run` wrote in the clone at `root`.
pub fn written(root: &Path, experiment: &str) -> Result<Measurement> {
    measurement_files::read(&measurement_files::path(&Repository::at(root), experiment, Instrument::Counted))
}

/// Measures the short form of an experiment, counted.
pub fn measured(tool: &dyn Tool, experiment: &str) -> Result<Measurement> {
    let experiments = [Experiment::read(tool.repository(), experiment)?];
    let form = Form { instrument: Instrument::Counted, quick: true, ours: false };
    let mut measured = None;
    run::measure(tool, &experiments, form, None, 1, |_, measurement| {
        measured = Some(measurement);
        Ok(())
    })?;
    measured.context("it has no short form")
}
