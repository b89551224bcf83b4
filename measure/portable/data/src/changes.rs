//! Compares two measurements of one experiment, figure by figure.

use crate::{Figure, Measurement, percent};
use anyhow::{Result, ensure};
use serde::Serialize;

/// A figure, before and after.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// Name of the [`System`](crate::System).
    pub system: String,
    /// Name of the figure.
    pub name: String,
    /// Its unit.
    pub unit: String,
    /// Before; `None` if the figure is new.
    pub old: Option<f64>,
    /// After; `None` if the figure is gone.
    pub new: Option<f64>,
    /// In per cent, if there is an old value other than zero.
    pub change: Option<f64>,
    /// The verdict on it.
    pub verdict: Verdict,
}

/// The verdict on a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(into = "&'static str")]
pub enum Verdict {
    /// Nothing changed.
    Same,
    /// It is better.
    Better,
    /// It is worse, but within its threshold.
    Worse,
    /// It is worse by more than its threshold.
    TooBad,
    /// It changed, and neither direction is better.
    Changed,
    /// It was not there before.
    New,
    /// It is no longer there.
    Lost,
}

impl Verdict {
    /// The verdict in words.
    pub fn text(self) -> &'static str {
        match self {
            Verdict::Same => "same",
            Verdict::Better => "better",
            Verdict::Worse => "worse",
            Verdict::TooBad => "WORSE",
            Verdict::Changed => "changed",
            Verdict::New => "new",
            Verdict::Lost => "LOST",
        }
    }
}

impl From<Verdict> for &'static str {
    fn from(verdict: Verdict) -> Self {
        verdict.text()
    }
}

/// All figures of both: those of the new measurement in its order, then those that only the old one
/// has. Fails if the two cannot be compared.
pub fn compare(old: &Measurement, new: &Measurement) -> Result<Vec<Change>> {
    check(old, new)?;
    let value = |of: &Measurement, figure: &Figure| of.figure(&figure.system, &figure.name).map(|figure| figure.value);
    let kept = new.figures.iter().map(|figure| change(figure, value(old, figure), Some(figure.value)));
    let lost = old.figures.iter().filter(|figure| value(new, figure).is_none());
    let lost = lost.map(|figure| change(figure, Some(figure.value), None));
    Ok(kept.chain(lost).collect())
}

fn check(old: &Measurement, new: &Measurement) -> Result<()> {
    let (one, other) = (&old.experiment, &new.experiment);
    ensure!(one == other, "one is {one}, the other {other}: the experiments differ");
    let (one, other) = (old.instrument, new.instrument);
    ensure!(one == other, "one is {one}, the other {other}: the instruments differ");
    let [one, other] = [old, new].map(|of| if of.quick { "the short" } else { "the long" });
    ensure!(one == other, "one is {one}, the other {other}: the forms differ");
    for (which, of) in [("first", old), ("second", new)] {
        ensure!(of.is_valid(), "the {which} is invalid: {}", of.disturbed.join("; "));
    }
    Ok(())
}

fn change(figure: &Figure, old: Option<f64>, new: Option<f64>) -> Change {
    let (system, name, unit) = (figure.system.clone(), figure.name.clone(), figure.unit.clone());
    let both = old.zip(new);
    let change = both.filter(|(old, _)| *old != 0.0).map(|(old, new)| percent(old, new));
    let gone_or_new = if old.is_some() { Verdict::Lost } else { Verdict::New };
    let verdict = both.map_or(gone_or_new, |(old, _)| verdict(old, figure));
    Change { system, name, unit, old, new, change, verdict }
}

fn verdict(old: f64, figure: &Figure) -> Verdict {
    match figure.direction.worsening(old, figure.value) {
        _ if figure.value == old => Verdict::Same,
        _ if figure.is_worse(old) => Verdict::TooBad,
        worsening if worsening > 0.0 => Verdict::Worse,
        worsening if worsening < 0.0 => Verdict::Better,
        _ => Verdict::Changed,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{Direction, Instrument};

    /// A measurement with these figures; smaller is better, with a threshold of 2 %.
    pub fn measurement(figures: &[(&str, f64)]) -> Measurement {
        let figure = |(name, value): &(&str, f64)| Figure {
            system: "s".into(),
            name: (*name).into(),
            value: *value,
            unit: "ns".into(),
            direction: Direction::Smaller,
            threshold: Some(2.0),
            ..Figure::default()
        };
        Measurement {
            quick: true,
            figures: figures.iter().map(figure).collect(),
            ..Measurement::new("e", "t", Instrument::Counted)
        }
    }

    #[test]
    fn each_change_has_its_verdict() {
        let names = ["same", "better", "worse", "WORSE", "LOST"];
        let old = measurement(&names.map(|name| (name, 100.0)));
        let new = [("same", 100.0), ("better", 90.0), ("worse", 101.0), ("WORSE", 103.0), ("new", 1.0)];
        let changes = compare(&old, &measurement(&new)).unwrap();
        assert_eq!(changes.len(), 6);
        for change in changes {
            assert_eq!(change.name, change.verdict.text(), "{change:?}");
            assert_eq!(serde_json::to_value(&change).unwrap()["verdict"], change.name.as_str());
        }
    }

    #[test]
    fn a_change_is_in_per_cent_of_what_was() {
        let old = measurement(&[("less", -4.0), ("zero", 0.0)]);
        let changes = compare(&old, &measurement(&[("less", -3.0), ("zero", 1.0), ("new", 1.0)])).unwrap();
        let told: Vec<_> = changes.iter().map(|change| change.change).collect();
        assert_eq!(told, [Some(25.0), None, None]);
        assert_eq!(changes[1].verdict, Verdict::TooBad);
    }

    #[test]
    fn what_has_no_direction_only_changes() {
        let told = |value| {
            let mut measured = measurement(&[("f", value)]);
            measured.figures[0].direction = Direction::None;
            measured
        };
        assert_eq!(compare(&told(1.0), &told(9.0)).unwrap()[0].verdict, Verdict::Changed);
    }

    #[test]
    fn what_is_of_different_kinds_is_not_compared() {
        let one = || measurement(&[("f", 1.0)]);
        assert!(compare(&one(), &one()).is_ok());
        let others = [
            (Measurement { experiment: "other".into(), ..one() }, "one is e, the other other: the experiments differ"),
            (
                Measurement { instrument: Instrument::Modelled, ..one() },
                "one is counted, the other modelled: the instruments differ",
            ),
            (Measurement { quick: false, ..one() }, "one is the short, the other the long: the forms differ"),
            (
                Measurement { disturbed: vec!["noise".into(), "heat".into()], ..one() },
                "the second is invalid: noise; heat",
            ),
        ];
        for (other, why) in others {
            assert_eq!(compare(&one(), &other).unwrap_err().to_string(), why);
        }
    }
}
