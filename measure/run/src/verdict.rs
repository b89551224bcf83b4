//! Whether a figure is good.

use super::baseline::Baseline;
use pillion_measure_data::Figure;

/// The verdict on a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Worse than the baseline by more than its threshold.
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

impl Verdict {
    /// The verdict on a figure, compared with the baseline if there is one.
    pub fn of(figure: &Figure, baseline: Option<&Baseline>) -> Verdict {
        let old = baseline.and_then(|baseline| baseline.value(&figure.system, &figure.name));
        if old.is_some_and(|old| figure.is_worse(old)) {
            Verdict::Worse
        } else if figure.is_beyond_bar() {
            Verdict::Beyond
        } else if figure.reaches_goal() {
            Verdict::Goal
        } else if figure.bar.is_some() || figure.goal.is_some() || old.is_some() && figure.threshold.is_some() {
            Verdict::Good
        } else {
            Verdict::Told
        }
    }

    /// Whether the measurement fails.
    pub fn fails(self) -> bool {
        matches!(self, Verdict::Worse | Verdict::Beyond)
    }

    /// The verdict as it is printed.
    pub fn text(self) -> &'static str {
        match self {
            Verdict::Worse => "WORSE",
            Verdict::Beyond => "BEYOND",
            Verdict::Goal => "goal",
            Verdict::Good => "good",
            Verdict::Told => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pillion_measure_data::Direction;

    fn figure(value: f64) -> Figure {
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
        assert_eq!(Verdict::of(&figure(300.0), None), Verdict::Goal);
        assert_eq!(Verdict::of(&figure(600.0), None), Verdict::Good);
        assert_eq!(Verdict::of(&figure(601.5), None), Verdict::Beyond);
        assert_eq!(
            Verdict::of(&Figure { bar: None, goal: None, threshold: None, ..figure(900.0) }, None),
            Verdict::Told
        );
        let never_compared = Figure { bar: None, goal: None, ..figure(900.0) };
        assert_eq!(Verdict::of(&never_compared, None), Verdict::Told);
        let by_chance = Figure { chance: Some(2.0), ..figure(601.5) };
        assert_eq!(Verdict::of(&by_chance, None), Verdict::Good);
    }

    #[test]
    fn worsening_beyond_the_threshold_fails_within_the_bar_too() {
        let baseline = Baseline::with("s", "f", 200.0);
        assert_eq!(Verdict::of(&figure(204.0), Some(&baseline)), Verdict::Goal);
        let worse = Verdict::of(&figure(204.1), Some(&baseline));
        assert!(worse == Verdict::Worse && worse.fails());
        assert!(!Verdict::of(&figure(100.0), Some(&baseline)).fails());
        let untold = Figure { threshold: None, ..figure(500.0) };
        assert!(!Verdict::of(&untold, Some(&baseline)).fails());
    }
}
