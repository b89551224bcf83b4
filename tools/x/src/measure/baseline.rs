//! Figures of the short, counted form that later ones are compared with: measure/baselines/NAME.json.

use crate::build::bundle::write_whole;
use crate::repository::Repository;
use anyhow::{Context as _, Result};
use pillion_measure_data::Measurement;
use serde::{Deserialize, Serialize};
use serde_json::Number;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Keys of a measurement's machine that change figures.
const MACHINE: [&str; 3] = ["emulator", "linux", "compiler"];

/// A baseline, by system and figure. Only figures that have a threshold are in it.
#[derive(Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    /// What the figures were counted with.
    machine: BTreeMap<String, String>,
    figures: BTreeMap<String, BTreeMap<String, Number>>,
}

impl Baseline {
    /// That of an experiment, if it has one.
    pub fn read(repository: &Repository, experiment: &str) -> Result<Option<Baseline>> {
        let path = path(repository, experiment);
        if !path.is_file() {
            return Ok(None);
        }
        let text = std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        serde_json::from_slice(&text).with_context(|| format!("{} is no baseline", path.display())).map(Some)
    }

    /// The figures of a measurement.
    pub fn of(measurement: &Measurement) -> Baseline {
        let machine = measurement.machine.iter().filter(|(key, _)| MACHINE.contains(&key.as_str()));
        let mut figures: BTreeMap<String, BTreeMap<String, Number>> = BTreeMap::new();
        for figure in measurement.figures.iter().filter(|figure| figure.threshold.is_some()) {
            let Some(number) = plain(figure.value) else { continue };
            figures.entry(figure.system.clone()).or_default().insert(figure.name.clone(), number);
        }
        Baseline { machine: machine.map(|(key, value)| (key.clone(), value.clone())).collect(), figures }
    }

    /// Writes it, and says where; one without figures is no file.
    pub fn write(&self, repository: &Repository, experiment: &str) -> Result<Option<PathBuf>> {
        let path = path(repository, experiment);
        if self.figures.is_empty() {
            remove(&path)?;
            return Ok(None);
        }
        write_whole(&path, (serde_json::to_string_pretty(self)? + "\n").as_bytes())?;
        Ok(Some(path))
    }

    /// What it says of a figure.
    pub fn value(&self, system: &str, name: &str) -> Option<f64> {
        self.figures.get(system)?.get(name)?.as_f64()
    }

    /// Figures that it has and a measurement has not: system and name.
    pub fn lost(&self, measurement: &Measurement) -> Vec<(String, String)> {
        let all = self.figures.iter().flat_map(|(system, figures)| figures.keys().map(move |name| (system, name)));
        let lost = all.filter(|(system, name)| measurement.figure(system, name).is_none());
        lost.map(|(system, name)| (system.clone(), name.clone())).collect()
    }

    /// What the measurement was counted with otherwise.
    pub fn differences(&self, measurement: &Measurement) -> Vec<String> {
        let differs = |(key, old): (&String, &String)| {
            let new = measurement.machine.get(key)?;
            (new != old).then(|| format!("{key}: {old} then, {new} now"))
        };
        self.machine.iter().filter_map(differs).collect()
    }

    /// One figure.
    #[cfg(test)]
    pub fn with(system: &str, name: &str, value: f64) -> Baseline {
        let figures = [(name.to_owned(), plain(value).unwrap())].into();
        Baseline { figures: [(system.to_owned(), figures)].into(), ..Baseline::default() }
    }
}

/// A number as people write it: without a fraction when it has none.
fn plain(value: f64) -> Option<Number> {
    let whole = value.fract() == 0.0 && value.abs() < 9e15;
    if whole { Some(Number::from(value as i64)) } else { Number::from_f64(value) }
}

fn path(repository: &Repository, experiment: &str) -> PathBuf {
    repository.path("measure/baselines").join(experiment).with_extension("json")
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
    use crate::measure::file::tests::measurement;

    #[test]
    fn what_is_written_is_read_again_and_is_small() {
        let folder = tempfile::tempdir().unwrap();
        let repository = Repository::at(folder.path());
        assert_eq!(Baseline::read(&repository, "e").unwrap(), None);
        let mut measured = measurement(&[("s", "b", 2.5), ("s", "a", 300.0)]);
        measured.machine.insert("commit".into(), "abc".into());
        let path = Baseline::of(&measured).write(&repository, "e").unwrap().unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains("\"a\": 300,\n") && text.contains("\"b\": 2.5\n") && !text.contains("abc"), "{text}");
        assert_eq!(Baseline::read(&repository, "e").unwrap(), Some(Baseline::of(&measured)));
        measured.figures.iter_mut().for_each(|figure| figure.threshold = None);
        assert_eq!(Baseline::of(&measured).write(&repository, "e").unwrap(), None);
        assert!(!path.exists());
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
