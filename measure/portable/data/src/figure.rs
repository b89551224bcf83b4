//! A single number, with its threshold, bar and goal.

use serde::{Deserialize, Serialize};

/// A measured number.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Figure {
    /// Name of the [`System`](crate::System).
    pub system: String,
    /// Name, as in the line `figure NAME VALUE UNIT`.
    pub name: String,
    /// What it is.
    #[serde(default)]
    pub about: String,
    /// The number.
    pub value: f64,
    /// Its unit; `1` for plain numbers.
    pub unit: String,
    /// Which direction is better.
    #[serde(default)]
    pub direction: Direction,
    /// Worsening against the baseline, in per cent, above which the comparison fails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
    /// Uncertainty by chance, in its unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chance: Option<f64>,
    /// The bar: a figure beyond it fails the measurement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bar: Option<f64>,
    /// The goal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<f64>,
    /// Values that others reach, with the source.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub field: String,
}

/// Which direction of a figure is better.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Smaller is better.
    Smaller,
    /// Larger is better.
    Larger,
    /// Neither; it is for information only.
    #[default]
    None,
}

impl Direction {
    /// Whether `value` is on the bad side of `limit`.
    #[must_use]
    fn is_beyond(self, value: f64, limit: f64) -> bool {
        match self {
            Direction::Smaller => value > limit,
            Direction::Larger => value < limit,
            Direction::None => false,
        }
    }

    /// By how many per cent `new` is worse than `old`; negative if better, zero if neither is.
    pub fn worsening(self, old: f64, new: f64) -> f64 {
        match self {
            Direction::Smaller => percent(old, new),
            Direction::Larger => -percent(old, new),
            Direction::None => 0.0,
        }
    }
}

/// How a figure stands against an older value, its bar and its goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Worse than the older value by more than its threshold.
    Worse,
    /// Beyond its bar.
    Beyond,
    /// It reaches its goal.
    Goal,
    /// Within its bar, or not worse than before.
    Good,
    /// For information only.
    Told,
}

impl Standing {
    /// Whether the measurement fails.
    pub fn fails(self) -> bool {
        matches!(self, Standing::Worse | Standing::Beyond)
    }

    /// The standing as it is printed.
    pub fn text(self) -> &'static str {
        match self {
            Standing::Worse => "WORSE",
            Standing::Beyond => "BEYOND",
            Standing::Goal => "goal",
            Standing::Good => "good",
            Standing::Told => "",
        }
    }
}

/// By how many per cent `new` is larger than `old`; infinite if only `old` is zero.
pub fn percent(old: f64, new: f64) -> f64 {
    let more = new - old;
    match (more == 0.0, old == 0.0) {
        (true, _) => 0.0,
        (false, true) => more.signum() * f64::INFINITY,
        (false, false) => more / old.abs() * 100.0,
    }
}

impl Figure {
    /// How it stands, also against an older value if there is one.
    pub fn standing(&self, old: Option<f64>) -> Standing {
        if old.is_some_and(|old| self.is_worse(old)) {
            Standing::Worse
        } else if self.is_beyond_bar() {
            Standing::Beyond
        } else if self.reaches_goal() {
            Standing::Goal
        } else if self.bar.is_some() || self.goal.is_some() || old.is_some() && self.threshold.is_some() {
            Standing::Good
        } else {
            Standing::Told
        }
    }

    /// Whether it is worse than an older value by more than its threshold.
    pub fn is_worse(&self, old: f64) -> bool {
        self.threshold.is_some_and(|threshold| self.direction.worsening(old, self.value) > threshold)
    }

    /// Whether it is beyond its bar by more than its uncertainty.
    pub fn is_beyond_bar(&self) -> bool {
        let allowed = self.chance.unwrap_or(0.0);
        let allowed = if self.direction == Direction::Larger { -allowed } else { allowed };
        self.bar.is_some_and(|bar| self.direction.is_beyond(self.value, bar + allowed))
    }

    /// Whether it reaches its goal.
    #[must_use]
    fn reaches_goal(&self) -> bool {
        self.goal.is_some_and(|goal| !self.direction.is_beyond(self.value, goal))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worsening_has_a_direction() {
        assert_eq!(Direction::Smaller.worsening(200.0, 210.0), 5.0);
        assert_eq!(Direction::Larger.worsening(200.0, 210.0), -5.0);
        assert_eq!(Direction::None.worsening(200.0, 210.0), 0.0);
        assert_eq!(Direction::Smaller.worsening(0.0, 0.0), 0.0);
        assert_eq!(Direction::Smaller.worsening(0.0, 1.0), f64::INFINITY);
    }

    #[test]
    fn worse_is_what_worsens_beyond_the_threshold() {
        let figure = |value, direction| Figure { value, direction, threshold: Some(2.0), ..Figure::default() };
        assert!(figure(103.0, Direction::Smaller).is_worse(100.0));
        assert!(!figure(101.0, Direction::Smaller).is_worse(100.0));
        assert!(figure(97.0, Direction::Larger).is_worse(100.0));
        assert!(!figure(150.0, Direction::Larger).is_worse(100.0));
        assert!(!figure(150.0, Direction::None).is_worse(100.0));
        assert!(!Figure { threshold: None, ..figure(150.0, Direction::Smaller) }.is_worse(100.0));
    }

    #[test]
    fn chance_is_allowed_beyond_a_bar() {
        let mut figure = Figure {
            value: 101.0,
            bar: Some(100.0),
            goal: Some(99.0),
            direction: Direction::Smaller,
            ..Figure::default()
        };
        assert!(figure.is_beyond_bar() && !figure.reaches_goal());
        figure.chance = Some(2.0);
        assert!(!figure.is_beyond_bar());
        figure.direction = Direction::Larger;
        assert!(!figure.is_beyond_bar() && figure.reaches_goal());
        figure.value = 97.0;
        assert!(figure.is_beyond_bar() && !figure.reaches_goal());
    }

    fn judged(value: f64) -> Figure {
        Figure {
            system: "s".into(),
            name: "f".into(),
            value,
            direction: Direction::Smaller,
            threshold: Some(2.0),
            bar: Some(600.0),
            goal: Some(300.0),
            ..Figure::default()
        }
    }

    #[test]
    fn figures_are_judged() {
        assert_eq!(judged(300.0).standing(None), Standing::Goal);
        assert_eq!(judged(600.0).standing(None), Standing::Good);
        assert_eq!(judged(601.5).standing(None), Standing::Beyond);
        assert_eq!(Figure { bar: None, goal: None, threshold: None, ..judged(900.0) }.standing(None), Standing::Told);
        let never_compared = Figure { bar: None, goal: None, ..judged(900.0) };
        assert_eq!(never_compared.standing(None), Standing::Told);
        let by_chance = Figure { chance: Some(2.0), ..judged(601.5) };
        assert_eq!(by_chance.standing(None), Standing::Good);
    }

    #[test]
    fn worsening_beyond_the_threshold_fails_within_the_bar_too() {
        assert_eq!(judged(204.0).standing(Some(200.0)), Standing::Goal);
        let worse = judged(204.1).standing(Some(200.0));
        assert!(worse == Standing::Worse && worse.fails());
        assert!(!judged(100.0).standing(Some(200.0)).fails());
        let untold = Figure { threshold: None, ..judged(500.0) };
        assert!(!untold.standing(Some(200.0)).fails());
    }
}
