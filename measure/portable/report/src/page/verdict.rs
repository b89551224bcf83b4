//! How good a figure is.

use maud::{Markup, html};
use pillion_measure_data::{Figure, Measurement};

/// The verdict of bar and goal on a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// It is beyond its bar.
    Beyond,
    /// It is within its bar, but not at its goal.
    Within,
    /// It reaches its goal.
    Reached,
}

impl Verdict {
    /// The verdict on a figure; `None` if it has neither bar nor goal.
    pub fn of(figure: &Figure) -> Option<Verdict> {
        match (figure.is_beyond_bar(), figure.reaches_goal(), figure.bar.is_some()) {
            (true, _, _) => Some(Verdict::Beyond),
            (false, true, _) => Some(Verdict::Reached),
            (false, false, true) => Some(Verdict::Within),
            (false, false, false) => None,
        }
    }

    /// How many figures of valid measurements have this verdict.
    pub fn count<'a>(self, measurements: impl Iterator<Item = &'a Measurement>) -> usize {
        let figures =
            measurements.filter(|measurement| measurement.is_valid()).flat_map(|measurement| &measurement.figures);
        figures.filter(|figure| Verdict::of(figure) == Some(self)).count()
    }

    /// A sign and words for it.
    pub fn mark(self) -> Markup {
        let (class, sign, words) = match self {
            Verdict::Beyond => ("beyond", "✕", "beyond the bar"),
            Verdict::Within => ("within", "○", "within the bar"),
            Verdict::Reached => ("reached", "●", "goal reached"),
        };
        html! { span class={ "verdict " (class) } { span aria-hidden="true" { (sign) } " " (words) } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pillion_measure_data::Direction;

    #[test]
    fn a_figure_without_limits_has_no_verdict() {
        let mut figure = Figure { value: 5.0, direction: Direction::Smaller, ..Figure::default() };
        assert_eq!(Verdict::of(&figure), None);
        figure.bar = Some(6.0);
        assert_eq!(Verdict::of(&figure), Some(Verdict::Within));
        figure.goal = Some(5.0);
        assert_eq!(Verdict::of(&figure), Some(Verdict::Reached));
        figure.bar = Some(4.0);
        assert_eq!(Verdict::of(&figure), Some(Verdict::Beyond));
    }
}
