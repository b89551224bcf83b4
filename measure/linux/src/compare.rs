//! `pillion-measure compare`: which figures got better or worse.

use anyhow::{Context, Result, ensure};
use pillion_measure_data::{FORMAT, Figure, Measurement};
use std::path::Path;

/// Prints the figures of two files; false when one is worse by more than it may be.
///
/// # Errors
/// A file cannot be read, or the two cannot be compared.
pub fn compare(old: &Path, new: &Path) -> Result<bool> {
    let (old, new) = (read(old)?, read(new)?);
    ensure!(old.experiment == new.experiment, "{} and {} are not the same experiment", old.experiment, new.experiment);
    ensure!(old.instrument == new.instrument, "{} and {} figures are not compared", old.instrument, new.instrument);
    ensure!(old.quick == new.quick, "one of them is the short form");
    let pairs = new.figures.iter().filter_map(|after| Some((old.figure(&after.system, &after.name)?, after)));
    let rows: Vec<Row> = pairs.map(|(before, after)| row(before, after)).collect();
    ensure!(!rows.is_empty(), "they have no figure in common");
    rows.iter().for_each(|row| println!("{}", row.text));
    Ok(!rows.iter().any(|row| row.is_bad))
}

/// Reads a measurement.
///
/// # Errors
/// The file is missing or is none.
pub fn read(path: &Path) -> Result<Measurement> {
    let name = || path.display().to_string();
    let text = std::fs::read_to_string(path).with_context(name)?;
    let measurement: Measurement = serde_json::from_str(&text).with_context(name)?;
    ensure!(measurement.format == FORMAT, "{}: format {}, not {FORMAT}", name(), measurement.format);
    Ok(measurement)
}

struct Row {
    text: String,
    is_bad: bool,
}

fn row(before: &Figure, after: &Figure) -> Row {
    let worsening = after.direction.worsening(before.value, after.value);
    let is_bad = after.threshold.is_some_and(|threshold| worsening > threshold);
    let change = (after.value - before.value) / before.value.abs().max(f64::MIN_POSITIVE) * 100.0;
    let note = if is_bad { "  WORSE" } else { "" };
    let name = format!("{}: {}", after.system, after.name);
    let text = format!("{name:<48} {:>14} {:>14} {:<5} {change:>+8.2} %{note}", before.value, after.value, after.unit);
    Row { text, is_bad }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pillion_measure_data::Direction;

    fn figure(value: f64, direction: Direction) -> Figure {
        Figure { name: "call".into(), value, direction, threshold: Some(2.0), ..Figure::default() }
    }

    #[test]
    fn worse_beyond_the_threshold_is_bad() {
        let bad = |before, after, direction| row(&figure(before, direction), &figure(after, direction)).is_bad;
        assert!(bad(100.0, 103.0, Direction::Smaller));
        assert!(!bad(100.0, 101.0, Direction::Smaller));
        assert!(bad(100.0, 97.0, Direction::Larger));
        assert!(!bad(100.0, 150.0, Direction::Larger));
    }
}
