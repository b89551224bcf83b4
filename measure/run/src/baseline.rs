//! Baselines: figures of the short form that later ones are compared with, in
//! measure/baselines/NAME.json, and for the model in NAME.modelled.json.

use super::system_name;
use anyhow::{Context as _, Result};
use pillion_host::file::{read, write_whole};
use pillion_host::repository::Repository;
use pillion_measure_data::{Instrument, Measurement};
use serde::{Deserialize, Serialize};
use serde_json::Number;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Facts about a measurement's machine that affect figures.
const MACHINE: [&str; 3] = ["emulator", "linux", "compiler"];

/// A baseline, by system and figure. It contains only figures that have a threshold.
#[derive(Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    /// The machine on which the figures were counted.
    machine: BTreeMap<String, String>,
    figures: BTreeMap<String, BTreeMap<String, Number>>,
}

impl Baseline {
    /// Reads the baseline of an experiment for an instrument; empty if there is none.
    pub fn read(repository: &Repository, experiment: &str, instrument: Instrument) -> Result<Baseline> {
        let path = path(repository, experiment, instrument);
        if !path.is_file() {
            return Ok(Baseline::default());
        }
        serde_json::from_slice(&read(&path)?).with_context(|| format!("{} is no baseline", path.display()))
    }

    /// Makes a baseline from the figures of a measurement.
    pub fn of(measurement: &Measurement) -> Baseline {
        let machine = measurement.machine.iter().filter(|(key, _)| MACHINE.contains(&key.as_str()));
        let mut figures: BTreeMap<String, BTreeMap<String, Number>> = BTreeMap::new();
        for figure in measurement.figures.iter().filter(|figure| figure.threshold.is_some()) {
            let Some(number) = shortest(figure.value) else { continue };
            figures.entry(figure.system.clone()).or_default().insert(figure.name.clone(), number);
        }
        Baseline { machine: machine.map(|(key, value)| (key.clone(), value.clone())).collect(), figures }
    }

    /// Writes it, and returns the path; without figures, no file is written.
    pub fn write(&self, repository: &Repository, experiment: &str, instrument: Instrument) -> Result<Option<PathBuf>> {
        let path = path(repository, experiment, instrument);
        if self.figures.is_empty() {
            remove(&path)?;
            return Ok(None);
        }
        write_whole(&path, (serde_json::to_string_pretty(self)? + "\n").as_bytes())?;
        Ok(Some(path))
    }

    /// Forgets the figures of other systems than these.
    pub fn retain(&mut self, is_kept: impl Fn(&str) -> bool) {
        self.figures.retain(|system, _| is_kept(system));
    }

    /// Its value for a figure.
    pub fn value(&self, system: &str, name: &str) -> Option<f64> {
        self.figures.get(system)?.get(name)?.as_f64()
    }

    /// Figures that it has and a measurement lacks: system and name. It ignores machines that were
    /// not modelled.
    pub fn lost(&self, measurement: &Measurement) -> Vec<(String, String)> {
        let is_modelled = |system: &&String| {
            let machine = system_name::machine(system);
            machine.is_none()
                || measurement.systems.iter().any(|measured| system_name::machine(&measured.name) == machine)
        };
        let systems = self.figures.keys().filter(is_modelled);
        let all = systems.flat_map(|system| self.figures[system].keys().map(move |name| (system, name)));
        let lost = all.filter(|(system, name)| measurement.figure(system, name).is_none());
        lost.map(|(system, name)| (system.clone(), name.clone())).collect()
    }

    /// The facts about the machine that differ from the measurement's.
    pub fn differences(&self, measurement: &Measurement) -> Vec<String> {
        let differs = |(key, old): (&String, &String)| {
            let new = measurement.machine.get(key)?;
            (new != old).then(|| format!("{key}: {old} then, {new} now"))
        };
        self.machine.iter().filter_map(differs).collect()
    }

    /// A baseline of one figure.
    #[cfg(test)]
    pub fn with(system: &str, name: &str, value: f64) -> Baseline {
        let figures = [(name.to_owned(), shortest(value).unwrap())].into();
        Baseline { figures: [(system.to_owned(), figures)].into(), ..Baseline::default() }
    }
}

/// A number as people write it: without a fraction if it is whole.
fn shortest(value: f64) -> Option<Number> {
    let whole = value.fract() == 0.0 && value.abs() < 9e15;
    if whole { Some(Number::from(value as i64)) } else { Number::from_f64(value) }
}

fn path(repository: &Repository, experiment: &str, instrument: Instrument) -> PathBuf {
    let file = match instrument {
        Instrument::Counted => format!("{experiment}.json"),
        _ => format!("{experiment}.{instrument}.json"),
    };
    repository.path("measure/baselines").join(file)
}

fn remove(path: &Path) -> Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measurement_files::tests::measurement;
    use pillion_measure_data::System;

    #[test]
    fn what_is_written_is_read_again_and_is_small() {
        let folder = tempfile::tempdir().unwrap();
        let repository = Repository::at(folder.path());
        let counted = Instrument::Counted;
        assert_eq!(Baseline::read(&repository, "e", counted).unwrap(), Baseline::default());
        let mut measured = measurement(&[("s", "b", 2.5), ("s", "a", 300.0)]);
        measured.machine.insert("commit".into(), "abc".into());
        let path = Baseline::of(&measured).write(&repository, "e", counted).unwrap().unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains("\"a\": 300,\n") && text.contains("\"b\": 2.5\n") && !text.contains("abc"), "{text}");
        assert_eq!(Baseline::read(&repository, "e", counted).unwrap(), Baseline::of(&measured));
        measured.figures.iter_mut().for_each(|figure| figure.threshold = None);
        assert_eq!(Baseline::of(&measured).write(&repository, "e", counted).unwrap(), None);
        assert!(!path.exists());
    }

    #[test]
    fn an_instrument_has_a_baseline_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let repository = Repository::at(folder.path());
        let [few, many] = [1.0, 2.0].map(|value| Baseline::of(&measurement(&[("s", "a", value)])));
        few.write(&repository, "e", Instrument::Counted).unwrap();
        let path = many.write(&repository, "e", Instrument::Modelled).unwrap().unwrap();
        assert!(path.ends_with("measure/baselines/e.modelled.json"));
        for (instrument, baseline) in [(Instrument::Counted, few), (Instrument::Modelled, many)] {
            assert_eq!(Baseline::read(&repository, "e", instrument).unwrap(), baseline);
        }
    }

    #[test]
    fn nothing_is_lost_of_a_machine_that_was_not_modelled() {
        let baseline = Baseline::of(&measurement(&[("s@new", "a", 1.0), ("s@old", "a", 2.0), ("t@old", "a", 3.0)]));
        let mut now = measurement(&[]);
        now.systems.push(System { name: "s@old".into(), ..System::default() });
        let lost = ["s@old", "t@old"].map(|system| (system.to_owned(), "a".to_owned()));
        assert_eq!(baseline.lost(&now), lost);
    }

    #[test]
    fn what_is_lost_is_found() {
        let baseline = Baseline::of(&measurement(&[("s", "a", 200.0), ("s", "gone", 1.0)]));
        assert_eq!(baseline.lost(&measurement(&[("s", "a", 210.0)])), [("s".to_owned(), "gone".to_owned())]);
    }

    #[test]
    fn another_machine_is_told() {
        let baseline = Baseline::of(&measurement(&[("s", "a", 1.0)]));
        let mut now = measurement(&[("s", "a", 1.0)]);
        assert!(baseline.differences(&now).is_empty());
        now.machine.insert("emulator".into(), "QEMU 9".into());
        assert_eq!(baseline.differences(&now).len(), 1);
    }
}
