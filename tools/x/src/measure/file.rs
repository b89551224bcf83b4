//! Measurements as files.

use crate::build::bundle::write_whole;
use crate::problem::problem;
use crate::repository::Repository;
use anyhow::{Context as _, Result};
use pillion_measure_data::{FORMAT, Measurement};
use std::path::{Path, PathBuf};

/// Where measurements are written.
pub fn folder(repository: &Repository) -> PathBuf {
    repository.build("measure")
}

/// Writes a measurement: build/measure/NAME.INSTRUMENT.json.
pub fn write(repository: &Repository, measurement: &Measurement) -> Result<PathBuf> {
    let path = folder(repository).join(format!("{}.{}.json", measurement.experiment, measurement.instrument));
    write_whole(&path, (serde_json::to_string_pretty(measurement)? + "\n").as_bytes())?;
    Ok(path)
}

/// Reads a measurement.
pub fn read(path: &Path) -> Result<Measurement> {
    let remedy = "name a file that `./x measure run` or `pillion-measure` wrote";
    let what = || format!("{} cannot be read", path.display());
    let data = std::fs::read(path).map_err(|error| problem(what(), error.to_string(), remedy))?;
    let value: serde_json::Value = serde_json::from_slice(&data).map_err(|e| problem(what(), e.to_string(), remedy))?;
    if value["format"] != FORMAT {
        return Err(problem(what(), format!("its format is {}, and {FORMAT} is read", value["format"]), remedy));
    }
    serde_json::from_value(value).with_context(what)
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use pillion_measure_data::{Direction, Figure, Instrument};

    /// A measurement of some figures, SYSTEM, NAME and value; smaller is better, by 2 %.
    pub fn measurement(figures: &[(&str, &str, f64)]) -> Measurement {
        let figure = |(system, name, value): &(&str, &str, f64)| Figure {
            system: (*system).into(),
            name: (*name).into(),
            value: *value,
            unit: "ns".into(),
            direction: Direction::Smaller,
            threshold: Some(2.0),
            ..Figure::default()
        };
        Measurement {
            format: FORMAT,
            experiment: "e".into(),
            title: "t".into(),
            about: "a".into(),
            paper: String::new(),
            text: String::new(),
            instrument: Instrument::Counted,
            command: String::new(),
            quick: true,
            machine: [("emulator".to_owned(), "QEMU 7.2".to_owned())].into(),
            systems: Vec::new(),
            disturbed: Vec::new(),
            figures: figures.iter().map(figure).collect(),
            series: Vec::new(),
            charts: Vec::new(),
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let measured = measurement(&[("s", "f", 1.5)]);
        let path = write(&Repository::at(folder.path()), &measured).unwrap();
        assert!(path.ends_with("build/measure/e.counted.json"));
        assert_eq!(read(&path).unwrap(), measured);
        std::fs::write(&path, "{\"format\": 99}").unwrap();
        assert!(read(&path).unwrap_err().to_string().contains("99"));
    }
}
