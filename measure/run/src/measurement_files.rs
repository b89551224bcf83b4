//! Measurements as files: written, read, drawn and compared.

use super::text_table;
use anyhow::{Context as _, Result};
use pillion_host::file::write_whole;
use pillion_host::problem::problem;
use pillion_host::progress::step;
use pillion_host::repository::Repository;
use pillion_measure_data::changes::{self, Verdict};
use pillion_measure_data::{Instrument, Measurement, plain};
use std::fs;
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
        problem(format!("{} cannot be read", path.display()), why, remedy)
    })
}

/// `x measure report`: draws measurements into build/measure/report; all written ones if none is
/// named.
pub fn report(repository: &Repository, files: &[PathBuf]) -> Result<bool> {
    let files = if files.is_empty() { all(repository) } else { files.to_vec() };
    if files.is_empty() {
        let why = format!("{} holds no measurement", folder(repository).display());
        return Err(problem("there is nothing to draw", why, "`./x measure run all` measures"));
    }
    let measurements = files.iter().map(|path| read(path)).collect::<Result<Vec<_>>>()?;
    let folder = folder(repository).join("report");
    // Otherwise a chart that no longer exists would stay.
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    let page = step(&format!("drawing {} measurements", measurements.len()), || {
        pillion_measure_report::write(&measurements, &folder)
    })?;
    println!("{}", page.display());
    Ok(true)
}

/// Every written measurement, sorted by name.
fn all(repository: &Repository) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder(repository)).into_iter().flatten();
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut files: Vec<PathBuf> = paths.filter(|path| path.extension().is_some_and(|end| end == "json")).collect();
    files.sort();
    files
}

/// `x measure compare`: prints the change of each figure. The result is bad if a figure has
/// worsened beyond its threshold or is gone.
pub fn compare(old: &Path, new: &Path, json: bool) -> Result<bool> {
    let (old, new) = (read(old)?, read(new)?);
    let remedy = "name two valid measurements of one kind";
    let changes = changes::compare(&old, &new).map_err(|why| problem("these two cannot be compared", why, remedy))?;
    if json {
        println!("{}", plain(&serde_json::to_string_pretty(&changes)?));
    } else {
        let head = format!("{} ({}, {})", new.title, new.experiment, new.instrument);
        println!("{}", plain(&format!("{head}\n{}", text_table::of_changes(&changes))));
    }
    Ok(changes.iter().all(|change| !matches!(change.verdict, Verdict::TooBad | Verdict::Lost)))
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
