//! Draws the report.

use super::file;
use anyhow::{Context as _, Result};
use pillion_host::problem::problem;
use pillion_host::progress::step;
use pillion_host::repository::Repository;
use std::fs;
use std::path::PathBuf;

/// `x measure report`: draws measurements into build/measure/report; all written ones if none is
/// named.
pub fn report(repository: &Repository, files: &[PathBuf]) -> Result<bool> {
    let files = if files.is_empty() { all(repository) } else { files.to_vec() };
    if files.is_empty() {
        let why = format!("{} holds no measurement", file::folder(repository).display());
        return Err(problem("there is nothing to draw", why, "`./x measure run all` measures"));
    }
    let measurements = files.iter().map(|path| file::read(path)).collect::<Result<Vec<_>>>()?;
    let folder = file::folder(repository).join("report");
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
    let entries = fs::read_dir(file::folder(repository)).into_iter().flatten();
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut files: Vec<PathBuf> = paths.filter(|path| path.extension().is_some_and(|end| end == "json")).collect();
    files.sort();
    files
}
