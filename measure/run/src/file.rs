//! Measurements as files.

use anyhow::Result;
use pillion_host::file::write_whole;
use pillion_host::problem::problem;
use pillion_host::repository::Repository;
use pillion_measure_data::{Instrument, Measurement};
use std::path::{Path, PathBuf};

/// The folder that measurements are written to.
pub fn folder(repository: &Repository) -> PathBuf {
    repository.build("measure")
}

/// The file that an experiment's measurement is written to.
pub fn path(repository: &Repository, experiment: &str, instrument: Instrument) -> PathBuf {
    folder(repository).join(format!("{experiment}.{instrument}.json"))
}

/// Writes a measurement to build/measure/NAME.INSTRUMENT.json.
pub fn write(repository: &Repository, measurement: &Measurement) -> Result<PathBuf> {
    let path = path(repository, &measurement.experiment, measurement.instrument);
    write_whole(&path, (serde_json::to_string_pretty(measurement)? + "\n").as_bytes())?;
    Ok(path)
}

/// Reads a measurement.
pub fn read(path: &Path) -> Result<Measurement> {
    Measurement::read(path).map_err(|why| {
        let remedy = "name a file that `./x measure run` or `pillion-measure` wrote";
        problem(format!("{} cannot be read", path.display()), why.to_string(), remedy)
    })
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use pillion_measure_data::{Direction, Figure};

    /// A measurement with these figures: SYSTEM, NAME and value; smaller is better, with a
    /// threshold of 2 %.
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
            quick: true,
            machine: [("emulator".to_owned(), "QEMU 7.2".to_owned())].into(),
            figures: figures.iter().map(figure).collect(),
            ..Measurement::new("e", "t", Instrument::Counted)
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
