//! Draws measurements as a report: charts, and one page that works offline.
//!
//! [`write()`] does everything. The page needs no script and nothing from elsewhere, follows the
//! reader's choice of light or dark, and can be printed.
#![forbid(unsafe_code)]

mod chart;
mod draw;
mod number;
mod page;
mod picture;
#[cfg(feature = "png")]
mod png;
#[cfg(test)]
mod tests;
mod theme;

use anyhow::{Context, Result};
use page::Report;
use pillion_measure_data::Measurement;
use std::fs;
use std::path::{Path, PathBuf};

/// Writes a report of measurements into a folder: report.html, its charts in figures/, all data in
/// data.json. Returns the page's path.
///
/// Charts are numbered within each experiment: figures/EXPERIMENT-1.svg. Charts of an earlier
/// report that are not overwritten stay. Fails if the folder cannot be written.
pub fn write(measurements: &[Measurement], folder: &Path) -> Result<PathBuf> {
    let report = Report::of(measurements);
    let figures = folder.join("figures");
    fs::create_dir_all(&figures).with_context(|| format!("cannot make {}", figures.display()))?;
    write_figures(&report, &figures)?;
    put(&folder.join("data.json"), serde_json::to_string(measurements)?.as_bytes())?;
    let page = folder.join("report.html");
    put(&page, page::html(&report).as_bytes())?;
    Ok(page)
}

fn write_figures(report: &Report, folder: &Path) -> Result<()> {
    let style = theme::style();
    #[cfg(feature = "png")]
    let (painter, light) = (png::Painter::new(), theme::light_style());
    for (measurement, figure) in report.figures() {
        let svg = |style: &str| picture::file(measurement, figure.chart, &figure.picture, style);
        put(&folder.join(format!("{}.svg", figure.file)), svg(&style).as_bytes())?;
        #[cfg(feature = "png")]
        put(&folder.join(format!("{}.png", figure.file)), &painter.paint(&svg(&light))?)?;
    }
    Ok(())
}

fn put(path: &Path, bytes: &[u8]) -> Result<()> {
    fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))
}
