//! Lists the experiments.

use super::experiment::Experiment;
use anyhow::Result;
use pillion_host::repository::Repository;
use pillion_measure_data::Instrument;
use std::collections::BTreeSet;
use std::io::{self, Write as _};

/// `x measure list`: prints every experiment.
pub fn list(repository: &Repository, json: bool) -> Result<bool> {
    let experiments = Experiment::all(repository)?;
    let text = if json {
        let list: Vec<serde_json::Value> = experiments.iter().map(Experiment::json).collect();
        serde_json::to_string_pretty(&list)?
    } else {
        experiments.iter().map(Experiment::lines).collect::<Vec<_>>().join("\n")
    };
    match writeln!(io::stdout(), "{}", text.trim_end()) {
        // The reader, such as `head`, has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
        written => written?,
    }
    Ok(true)
}

impl Experiment {
    fn instruments(&self) -> BTreeSet<Instrument> {
        self.plan.run.iter().flat_map(|run| run.instruments.iter().copied()).collect()
    }

    fn json(&self) -> serde_json::Value {
        let plan = &self.plan;
        let system =
            |system: &super::plan::SystemPlan| serde_json::json!({ "name": system.name, "title": system.title });
        serde_json::json!({
            "name": self.name,
            "title": plan.title,
            "about": plan.about,
            "paper": plan.paper,
            "instruments": self.instruments(),
            "systems": plan.system.iter().map(system).collect::<Vec<_>>(),
            "folder": self.here,
        })
    }

    fn lines(&self) -> String {
        let instruments: Vec<&str> = self.instruments().into_iter().map(Instrument::name).collect();
        let systems: Vec<&str> = self.plan.system.iter().map(|system| system.name.as_str()).collect();
        let mut text = format!("{:<20} {}\n", self.name, self.plan.title);
        for (key, value) in [
            ("paper", self.plan.paper.as_str()),
            ("instruments", &instruments.join(", ")),
            ("systems", &systems.join(", ")),
        ] {
            if !value.is_empty() {
                text += &format!("{:<20} {key}: {value}\n", "");
            }
        }
        text
    }
}
