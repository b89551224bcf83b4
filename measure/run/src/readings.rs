//! What the runs of an experiment told, system by system.

use super::gather;
use super::job::{Finished, Job};
use super::plan::{Form, Plan};
use super::system_name;
use pillion_measure_data::System;
use pillion_measure_data::lines::Readings;
use std::collections::BTreeMap;

/// A system as it was run, and what its runs told.
pub struct SystemReadings {
    /// The system, with its commands.
    pub system: System,
    /// Figures, histograms, points and complaints.
    pub readings: Readings,
    /// By how much chance may have figures wrong.
    pub chance: BTreeMap<String, f64>,
}

/// The systems that were run, in the plan's order, with nothing read yet.
pub fn systems(plan: &Plan, finished: &[Finished], titles: &BTreeMap<String, String>) -> Vec<SystemReadings> {
    let mut systems: Vec<SystemReadings> = Vec::new();
    for planned in &plan.system {
        let is_own = |job: &Job| system_name::planned(&job.system) == planned.name;
        for job in finished.iter().map(|one| &one.job).filter(|job| is_own(job)) {
            let known = systems.iter_mut().find(|known| known.system.name == job.system);
            if let Some(known) = known {
                known.system.commands.push(job.command());
                continue;
            }
            // Its name is enough of a label: clock and caches stand in the machine's table.
            let title_of = |machine| titles.get(machine)?.split(',').next();
            let machine = system_name::machine(&job.system).and_then(title_of);
            let title = machine.map_or(planned.title.clone(), |machine| format!("{}, {machine}", planned.title));
            let system = System { name: job.system.clone(), title, commands: vec![job.command()] };
            systems.push(SystemReadings { system, readings: Readings::default(), chance: BTreeMap::new() });
        }
    }
    systems
}

/// Reads what the runs of each system said in lines, and what is taken out of results and logs.
pub fn read(all: &mut [SystemReadings], plan: &Plan, form: Form, finished: &[Finished]) {
    for SystemReadings { system, readings, .. } in all {
        for Finished { job, output } in finished.iter().filter(|one| one.job.system == system.name) {
            if let Ok(output) = output {
                gather::take(readings, plan, &plan.run[job.run], form.instrument, output);
            }
        }
    }
}
