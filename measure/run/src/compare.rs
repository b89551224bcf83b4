//! Compares two measurements of one experiment, figure by figure.

use super::file;
use super::text_table::number;
use anyhow::Result;
use comfy_table::{Table, presets};
use pillion_host::problem::problem;
use pillion_measure_data::changes::{Change, Verdict, compare as changes};
use std::path::Path;

/// `x measure compare`: prints the change of each figure. The result is bad if a figure has
/// worsened beyond its threshold or is gone.
pub fn compare(old: &Path, new: &Path, json: bool) -> Result<bool> {
    let (old, new) = (file::read(old)?, file::read(new)?);
    let remedy = "name two valid measurements of one kind";
    let changes =
        changes(&old, &new).map_err(|why| problem("these two cannot be compared", why.to_string(), remedy))?;
    if json {
        println!("{}", serde_json::to_string_pretty(&changes)?);
    } else {
        println!("{} ({}, {})\n{}", new.title, new.experiment, new.instrument, text(&changes));
    }
    Ok(changes.iter().all(|change| !matches!(change.verdict, Verdict::TooBad | Verdict::Lost)))
}

fn text(changes: &[Change]) -> String {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_header(["figure", "system", "old", "new", "unit", "change", ""]);
    let value = |value: Option<f64>| value.map_or("-".into(), number);
    for change in changes {
        let percent = change.change.map_or(String::new(), |percent| format!("{percent:+.2} %"));
        let (old, new) = (value(change.old), value(change.new));
        table.add_row([&change.name, &change.system, &old, &new, &change.unit, &percent, change.verdict.text()]);
    }
    table.trim_fmt()
}
