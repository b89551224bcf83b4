//! `pillion-measure compare`: which figures got better or worse.

use anyhow::{Context, Result, ensure};
use pillion_measure_data::changes::{Change, Verdict, compare as changes};
use pillion_measure_data::{Measurement, percent};
use std::path::Path;

/// Prints the figures that two files have in common; false if one has worsened beyond its
/// threshold.
///
/// # Errors
/// A file cannot be read, or the two cannot be compared.
pub fn compare(old: &Path, new: &Path) -> Result<bool> {
    let changes = changes(&read(old)?, &read(new)?)?;
    let rows: Vec<String> = changes.iter().filter_map(row).collect();
    ensure!(!rows.is_empty(), "they have no figure in common");
    rows.iter().for_each(|row| println!("{row}"));
    Ok(changes.iter().all(|change| change.verdict != Verdict::TooBad))
}

/// Reads a measurement.
///
/// # Errors
/// The file is missing, or is not a measurement.
pub fn read(path: &Path) -> Result<Measurement> {
    Measurement::read(path).with_context(|| path.display().to_string())
}

/// The line for a figure that both have.
fn row(change: &Change) -> Option<String> {
    let (old, new) = (change.old?, change.new?);
    let note = if change.verdict == Verdict::TooBad { "  WORSE" } else { "" };
    let name = format!("{}: {}", change.system, change.name);
    Some(format!("{name:<48} {old:>14} {new:>14} {:<5} {:>+8.2} %{note}", change.unit, percent(old, new)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_says_what_got_worse_and_by_how_much() {
        let change = |old, verdict| Change {
            system: "linux".into(),
            name: "call".into(),
            unit: "ns".into(),
            old,
            new: Some(103.0),
            change: None,
            verdict,
        };
        let worse = row(&change(Some(100.0), Verdict::TooBad)).unwrap();
        assert!(worse.starts_with("linux: call ") && worse.ends_with(" 103 ns       +3.00 %  WORSE"), "{worse}");
        assert!(row(&change(Some(0.0), Verdict::Worse)).unwrap().ends_with(" +inf %"));
        assert_eq!(row(&change(None, Verdict::New)), None);
    }
}
