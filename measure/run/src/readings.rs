//! The readings of an experiment's runs, by system.

use super::gather;
use super::job::{Finished, Job};
use super::plan::{Form, Plan};
use super::system_name;
use pillion_measure_data::System;
use pillion_measure_data::lines::Readings;
use std::collections::BTreeMap;

/// A system, and the readings of its runs.
pub struct SystemReadings {
    /// The system, with its commands.
    pub system: System,
    /// Figures, histograms, points and complaints.
    pub readings: Readings,
    /// Uncertainty of figures by chance.
    pub chance: BTreeMap<String, f64>,
}

/// The systems that were run, in the plan's order, without readings.
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
            // The name is enough for a label; the machine's table has clock and caches.
            let title_of = |machine| titles.get(machine)?.split(',').next();
            let machine = system_name::machine(&job.system).and_then(title_of);
            let title = machine.map_or(planned.title.clone(), |machine| format!("{}, {machine}", planned.title));
            let system = System { name: job.system.clone(), title, commands: vec![job.command()] };
            systems.push(SystemReadings { system, readings: Readings::default(), chance: BTreeMap::new() });
        }
    }
    systems
}

/// Reads the lines of each system's runs, and the values extracted from results and logs.
pub fn read(all: &mut [SystemReadings], plan: &Plan, form: Form, finished: &[Finished]) {
    for SystemReadings { system, readings, .. } in all {
        for Finished { job, output } in finished.iter().filter(|one| one.job.system == system.name) {
            if let Ok(output) = output {
                gather::take(readings, plan, &plan.run[job.run], form.instrument, output);
            }
        }
    }
}
