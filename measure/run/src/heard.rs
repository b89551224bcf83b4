//! What the systems of an experiment said.

use super::gather;
use super::job::{Form, Job};
use super::plan::Plan;
use super::tool::Streams;
use anyhow::Result;
use pillion_measure_data::System;
use pillion_measure_data::lines::Said;
use std::collections::BTreeMap;

/// A system as it was run, and what it said.
pub struct Heard {
    /// The system, with its commands.
    pub system: System,
    /// What it said.
    pub said: Said,
    /// By how much chance may have figures wrong.
    pub chance: BTreeMap<String, f64>,
}

/// A job and what came of it.
pub type Done = (Job, Result<Streams>);

/// The plan's name of a system that may run on a modelled machine.
pub fn plain(system: &str) -> &str {
    system.split('@').next().unwrap_or(system)
}

/// The systems that were run, in the plan's order.
pub fn systems(plan: &Plan, done: &[Done], titles: &BTreeMap<String, String>) -> Vec<Heard> {
    let mut heard: Vec<Heard> = Vec::new();
    for system in &plan.system {
        for (job, _) in done.iter().filter(|(job, _)| plain(&job.system) == system.name) {
            let known = heard.iter_mut().find(|heard| heard.system.name == job.system);
            if let Some(known) = known {
                known.system.commands.push(job.command());
                continue;
            }
            // Its name is enough of a label: clock and caches stand in the machine's table.
            let machine = job.system.split_once('@').and_then(|(_, preset)| titles.get(preset)?.split(',').next());
            let title = machine.map_or(system.title.clone(), |machine| format!("{}, {machine}", system.title));
            let system = System { name: job.system.clone(), title, commands: vec![job.command()] };
            heard.push(Heard { system, said: Said::default(), chance: BTreeMap::new() });
        }
    }
    heard
}

/// Takes what the runs of each system said.
pub fn listen(heard: &mut [Heard], plan: &Plan, form: Form, done: &[Done]) {
    for heard in heard {
        for (job, streams) in done.iter().filter(|(job, _)| job.system == heard.system.name) {
            if let Ok(streams) = streams {
                gather::take(&mut heard.said, plan, &plan.run[job.run], form.instrument, streams);
            }
        }
    }
}
