//! How good a figure is, by its bar and its goal.

use maud::{Markup, html};
use pillion_measure_data::{Figure, Measurement, Standing};

/// The verdict on a figure; `None` without bar and goal. A goal alone says nothing until reached.
pub fn verdict(figure: &Figure) -> Option<Standing> {
    match figure.standing(None) {
        Standing::Told => None,
        Standing::Good => figure.bar.map(|_| Standing::Good),
        standing => Some(standing),
    }
}

/// How many figures of valid measurements have a verdict.
pub fn count<'a>(wanted: Standing, measurements: impl Iterator<Item = &'a Measurement>) -> usize {
    let valid = measurements.filter(|measurement| measurement.is_valid());
    valid.flat_map(|measurement| &measurement.figures).filter(|figure| verdict(figure) == Some(wanted)).count()
}

/// A class of the style, a sign, and words.
fn look(standing: Standing) -> (&'static str, &'static str, &'static str) {
    match standing {
        Standing::Worse | Standing::Beyond => ("beyond", "✕", "beyond the bar"),
        Standing::Good | Standing::Told => ("within", "○", "within the bar"),
        Standing::Goal => ("reached", "●", "goal reached"),
    }
}

/// A sign and words for a verdict.
pub fn mark(standing: Standing) -> Markup {
    let (class, sign, words) = look(standing);
    html! { span class={ "verdict " (class) } { span aria-hidden="true" { (sign) } " " (words) } }
}

/// The sign alone.
pub fn dot(standing: Standing) -> Markup {
    let (class, sign, _) = look(standing);
    html! { span class={ "verdict " (class) } { (sign) } }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pillion_measure_data::Direction;

    #[test]
    fn a_figure_without_limits_has_no_verdict() {
        let mut figure = Figure { value: 5.0, direction: Direction::Smaller, ..Figure::default() };
        assert_eq!(verdict(&figure), None);
        figure.bar = Some(6.0);
        assert_eq!(verdict(&figure), Some(Standing::Good));
        figure.goal = Some(5.0);
        assert_eq!(verdict(&figure), Some(Standing::Goal));
        figure.bar = Some(4.0);
        assert_eq!(verdict(&figure), Some(Standing::Beyond));
    }
}
