//! `x measure compare`: two measurements of one experiment, figure by figure.

use super::file;
use super::table::number;
use super::verdict::is_worse;
use crate::cli::MeasureCompareArguments;
use crate::problem::problem;
use anyhow::Result;
use comfy_table::{Table, presets};
use pillion_measure_data::{Figure, Measurement};
use serde::Serialize;

/// A figure, before and after.
#[derive(Debug, PartialEq, Serialize)]
struct Change {
    system: String,
    name: String,
    unit: String,
    old: Option<f64>,
    new: Option<f64>,
    /// In per cent, when there is an old value that is not zero.
    change: Option<f64>,
    verdict: &'static str,
}

/// Prints each figure's change; a worsening beyond its threshold is bad.
pub fn command(arguments: &MeasureCompareArguments) -> Result<bool> {
    let (old, new) = (file::read(&arguments.old)?, file::read(&arguments.new)?);
    if let Some(why) = incomparable(&old, &new) {
        return Err(problem("these two cannot be compared", why, "name two valid measurements of one kind"));
    }
    let changes = changes(&old, &new);
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&changes)?);
    } else {
        println!("{} ({}, {})\n{}", new.title, new.experiment, new.instrument, text(&changes));
    }
    Ok(changes.iter().all(|change| !matches!(change.verdict, "WORSE" | "LOST")))
}

/// Why figures of one say nothing about those of the other.
fn incomparable(old: &Measurement, new: &Measurement) -> Option<String> {
    let form = |measurement: &Measurement| if measurement.quick { "the short" } else { "the long" };
    let differs = |what: &str, old: &str, new: &str| Some(format!("one is {old}, the other {new}: {what} differ"));
    if old.experiment != new.experiment {
        return differs("the experiments", &old.experiment, &new.experiment);
    }
    if old.instrument != new.instrument {
        return differs("the instruments", old.instrument.name(), new.instrument.name());
    }
    if old.quick != new.quick {
        return differs("the forms", form(old), form(new));
    }
    let disturbed = [("first", old), ("second", new)].into_iter().find(|(_, measurement)| !measurement.is_valid());
    disturbed.map(|(which, measurement)| format!("the {which} is invalid: {}", measurement.disturbed.join("; ")))
}

fn changes(old: &Measurement, new: &Measurement) -> Vec<Change> {
    let kept = new.figures.iter().map(|figure| change(old.figure(&figure.system, &figure.name), figure));
    let lost = old.figures.iter().filter(|figure| new.figure(&figure.system, &figure.name).is_none());
    kept.chain(lost.map(|figure| Change { old: Some(figure.value), new: None, verdict: "LOST", ..blank(figure) }))
        .collect()
}

fn blank(figure: &Figure) -> Change {
    let (system, name, unit) = (figure.system.clone(), figure.name.clone(), figure.unit.clone());
    Change { system, name, unit, old: None, new: None, change: None, verdict: "" }
}

fn change(before: Option<&Figure>, figure: &Figure) -> Change {
    let new = Some(figure.value);
    let Some(before) = before else { return Change { new, verdict: "new", ..blank(figure) } };
    let worsening = figure.direction.worsening(before.value, figure.value);
    let verdict = match worsening {
        _ if before.value == figure.value => "same",
        worsening if is_worse(figure, Some(worsening)) => "WORSE",
        worsening if worsening > 0.0 => "worse",
        worsening if worsening < 0.0 => "better",
        _ => "changed",
    };
    let change = (before.value != 0.0).then(|| (figure.value - before.value) / before.value.abs() * 100.0);
    Change { old: Some(before.value), new, change, verdict, ..blank(figure) }
}

fn text(changes: &[Change]) -> String {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_header(["figure", "system", "old", "new", "unit", "change", ""]);
    let value = |value: Option<f64>| value.map_or("-".into(), number);
    for change in changes {
        let percent = change.change.map_or(String::new(), |percent| format!("{percent:+.2} %"));
        let (old, new) = (value(change.old), value(change.new));
        table.add_row([&change.name, &change.system, &old, &new, &change.unit, &percent, change.verdict]);
    }
    table.trim_fmt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::file::tests::measurement;
    use pillion_measure_data::{Direction, Instrument};

    #[test]
    fn each_change_has_its_verdict() {
        let names = ["same", "better", "worse", "WORSE"];
        let old = measurement(&[names.map(|name| ("s", name, 100.0)).as_slice(), &[("s", "LOST", 1.0)]].concat());
        let values = names.iter().zip([100.0, 90.0, 101.0, 103.0]);
        let mut now: Vec<(&str, &str, f64)> = values.map(|(name, value)| ("s", *name, value)).collect();
        now.push(("s", "new", 1.0));
        for change in changes(&old, &measurement(&now)) {
            assert_eq!(change.name, change.verdict, "{change:?}");
        }
        let larger = |value| {
            let mut measured = measurement(&[("s", "f", value)]);
            measured.figures[0].direction = Direction::Larger;
            measured
        };
        assert_eq!(changes(&larger(100.0), &larger(90.0))[0].verdict, "WORSE");
    }

    #[test]
    fn what_is_of_different_kinds_is_not_compared() {
        let one = || measurement(&[("s", "f", 1.0)]);
        assert_eq!(incomparable(&one(), &one()), None);
        let others = [
            Measurement { experiment: "other".into(), ..one() },
            Measurement { instrument: Instrument::Modelled, ..one() },
            Measurement { quick: false, ..one() },
            Measurement { disturbed: vec!["noise".into()], ..one() },
        ];
        for other in others {
            assert!(incomparable(&one(), &other).is_some(), "{other:?}");
        }
    }
}
