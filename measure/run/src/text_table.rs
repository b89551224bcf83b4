//! Measurements, and changes between them, as tables.

use super::baseline::Baseline;
use comfy_table::{CellAlignment, Table, presets};
use pillion_measure_data::changes::Change;
use pillion_measure_data::{Figure, Measurement, percent};
use std::fmt::Write as _;

/// Columns: heading, and whether they are numeric.
const COLUMNS: [(&str, bool); 10] = [
    ("figure", false),
    ("system", false),
    ("value", true),
    ("unit", false),
    ("bar", true),
    ("goal", true),
    ("baseline", true),
    ("change", true),
    ("", false),
    ("the field", false),
];

/// A table of the figures that the experiment describes, or of all figures if it describes none;
/// the rest is only in the file.
pub fn text(measurement: &Measurement, baseline: &Baseline) -> String {
    let mut out = format!("\n{} ({}, {})\n", measurement.title, measurement.experiment, measurement.instrument);
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut before = "";
    let described = measurement.figures.iter().any(|figure| !figure.about.is_empty());
    for figure in measurement.figures.iter().filter(|figure| !described || !figure.about.is_empty()) {
        let about = if described { &figure.about } else { &figure.name };
        rows.push(row(if about == before { "" } else { about }, figure, baseline));
        before = about;
    }
    let shown: Vec<usize> =
        (0..COLUMNS.len()).filter(|&column| rows.iter().any(|row| !row[column].is_empty())).collect();
    let rows = rows.into_iter().map(|row| shown.iter().map(|&column| row[column].clone()).collect());
    let mut table = table(shown.iter().map(|&column| COLUMNS[column].0), rows);
    for (at, &column) in shown.iter().enumerate() {
        if let Some(column) = table.column_mut(at).filter(|_| COLUMNS[column].1) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let _ = writeln!(out, "{}", table.trim_fmt());
    out
}

/// A table of changes.
pub fn of_changes(changes: &[Change]) -> String {
    let value = |value: Option<f64>| value.map_or("-".into(), number);
    let row = |change: &Change| {
        let percent = change.change.map_or(String::new(), |percent| format!("{percent:+.2} %"));
        let (name, system, unit) = (change.name.clone(), change.system.clone(), change.unit.clone());
        vec![name, system, value(change.old), value(change.new), unit, percent, change.verdict.text().into()]
    };
    let heads = ["figure", "system", "old", "new", "unit", "change", ""];
    table(heads, changes.iter().map(row)).trim_fmt()
}

fn table<'a>(heads: impl IntoIterator<Item = &'a str>, rows: impl Iterator<Item = Vec<String>>) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_header(heads).add_rows(rows);
    table
}

/// The faults of all experiments, printed at the end, where the user looks first; empty if there
/// are none.
pub fn faults(faults: &[String]) -> String {
    let mut out = String::new();
    if !faults.is_empty() {
        let _ = writeln!(out, "\nfailed:");
    }
    for fault in faults {
        let _ = writeln!(out, "  {fault}");
    }
    out
}

/// A figure's value, with its bar and its baseline.
pub fn against(figure: &Figure, baseline: &Baseline) -> String {
    let held = [("bar", figure.bar), ("baseline", baseline.value(&figure.system, &figure.name))];
    held.into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
        .fold(number(figure.value), |said, (name, value)| said + &format!(", {name} {}", number(value)))
}

fn row(about: &str, figure: &Figure, baseline: &Baseline) -> Vec<String> {
    let old = baseline.value(&figure.system, &figure.name);
    let change = old.filter(|old| *old != 0.0).map(|old| percent(old, figure.value));
    let chance = figure.chance.map_or(String::new(), |chance| format!(" ± {}", number(chance)));
    vec![
        about.to_owned(),
        figure.system.clone(),
        number(figure.value) + &chance,
        if figure.unit == "1" { String::new() } else { figure.unit.clone() },
        optional(figure.bar),
        optional(figure.goal),
        optional(old),
        change.map_or(String::new(), |change| format!("{change:+.1} %")),
        figure.standing(old).text().to_owned(),
        figure.field.clone(),
    ]
}

fn optional(value: Option<f64>) -> String {
    value.map_or(String::new(), number)
}

/// A number with commas between thousands, and with at most three decimals.
fn number(value: f64) -> String {
    let text = format!("{value:.3}");
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let (sign, digits) = whole.strip_prefix('-').map_or(("", whole), |digits| ("-", digits));
    let mut out = String::from(sign);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    let fraction = fraction.trim_end_matches('0');
    if fraction.is_empty() { out } else { format!("{out}.{fraction}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measurement_files::tests::measurement;

    #[test]
    fn numbers_are_easy_to_read() {
        assert_eq!(
            [0.0, 1234567.0, -1234.5, 0.75, 999.9996].map(number),
            ["0", "1,234,567", "-1,234.5", "0.75", "1,000"]
        );
    }

    #[test]
    fn a_row_has_its_change_and_verdict() {
        let mut measured = measurement(&[("own-space", "f", 1300.0), ("linux", "f", 7000.0), ("linux", "untold", 1.0)]);
        measured.figures[..2].iter_mut().for_each(|figure| figure.about = "release to first instruction".into());
        let text = text(&measured, &Baseline::with("own-space", "f", 1000.0));
        assert!(text.contains("1,300") && text.contains("+30.0 %") && text.contains("WORSE"), "{text}");
        assert_eq!(text.matches("release to first").count(), 1, "{text}");
        assert!(!text.contains("untold") && !text.contains("goal"), "{text}");
        measured.figures.iter_mut().for_each(|figure| figure.about.clear());
        assert!(super::text(&measured, &Baseline::default()).contains("untold"));
    }

    #[test]
    fn what_failed_stands_at_the_end_with_its_numbers() {
        let measured = measurement(&[("own-space", "f", 1300.0)]);
        assert_eq!(against(&measured.figures[0], &Baseline::with("own-space", "f", 1000.0)), "1,300, baseline 1,000");
        assert_eq!(faults(&[]), "");
        assert_eq!(faults(&["load: WORSE".into(), "smi: MISSING".into()]).lines().count(), 4);
    }

    #[test]
    fn what_is_less_negative_grew() {
        let text = text(&measurement(&[("s", "f", -3.0)]), &Baseline::with("s", "f", -4.0));
        assert!(text.contains("+25.0 %"), "{text}");
    }
}
