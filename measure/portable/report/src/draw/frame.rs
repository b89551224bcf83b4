//! A plot: an area with two axes.

use super::axis::{Axis, Tick};
use super::lettering::{self, Text};
use super::scale::Scale;
use super::{Area, WIDTH, line};
use maud::{Markup, html};

/// Gap between the numbers and the plot.
const GAP: f64 = 8.0;
/// From the plot's edge to the baseline of the numbers below it.
pub const NUMBERS_BELOW: f64 = 18.0;
/// From the plot's edge to the lower end of its horizontal axis, including the title.
pub const AXIS_BELOW: f64 = 44.0;
/// From the baseline of the vertical axis's title to the plot.
const TITLE_ABOVE: f64 = 12.0;
/// Height reserved above a plot for the title of its vertical axis.
pub const AXIS_ABOVE: f64 = 26.0;

/// A plot.
#[derive(Debug)]
pub struct Frame {
    /// The area of the curves.
    pub area: Area,
    x_axis: Axis,
    y_axis: Axis,
    x_scale: Scale,
    y_scale: Scale,
}

impl Frame {
    /// A plot in an area.
    pub fn new(area: Area, x_axis: Axis, y_axis: Axis) -> Frame {
        let x_scale = Scale::new(x_axis.range, area.left, area.right);
        let y_scale = Scale::new(y_axis.range, area.bottom, area.top);
        Frame { area, x_axis, y_axis, x_scale, y_scale }
    }

    /// Width that the numbers of a vertical axis need at its left.
    pub fn room(axis: &Axis) -> f64 {
        let labels = axis.ticks.iter().filter_map(|tick| tick.label.as_deref());
        labels.map(lettering::width).fold(0.0, f64::max) + GAP + 2.0
    }

    /// The coordinate of a value on the horizontal axis.
    pub fn x(&self, value: f64) -> f64 {
        self.x_scale.at(value)
    }

    /// The coordinate of a value on the vertical axis.
    pub fn y(&self, value: f64) -> f64 {
        self.y_scale.at(value)
    }

    /// The numbered values of the horizontal axis.
    pub fn x_values(&self) -> impl Iterator<Item = f64> {
        self.x_axis.ticks.iter().filter(|tick| tick.label.is_some()).map(|tick| tick.value)
    }

    /// Positions of points, but of those that are no numbers, or not positive on a log axis.
    pub fn places(&self, points: &[(f64, f64)]) -> Vec<(f64, f64)> {
        let fits = |value: f64, log: bool| value.is_finite() && (!log || value > 0.0);
        let (x_log, y_log) = (self.x_axis.range.log, self.y_axis.range.log);
        let shown = points.iter().filter(|(x, y)| fits(*x, x_log) && fits(*y, y_log));
        shown.map(|(x, y)| (self.x(*x), self.y(*y))).collect()
    }

    /// Horizontal lines with their numbers, and the vertical axis's title above.
    pub fn grid(&self) -> Markup {
        html! {
            @for tick in &self.y_axis.ticks {
                @if let Some(label) = &tick.label {
                    @let y = self.y(tick.value);
                    (line("grid", (self.area.left, y), (self.area.right, y)))
                    (Text::new(self.area.left - GAP, y + 4.0, label).class("quiet").end())
                }
            }
            (Text::new(0.0, self.area.top - TITLE_ABOVE, &self.y_axis.title).class("quiet"))
        }
    }

    /// The horizontal axis with its marks, at the lower edge.
    pub fn base(&self) -> Markup {
        let y = self.area.bottom;
        html! {
            (line("axis", (self.area.left, y), (self.area.right, y)))
            @for tick in &self.x_axis.ticks {
                @let x = self.x(tick.value);
                (line("axis", (x, y), (x, y + if tick.label.is_some() { 5.0 } else { 3.0 })))
            }
        }
    }

    /// Numbers and title of the horizontal axis, `below` the plot.
    pub fn numbers(&self, below: f64) -> Markup {
        let y = self.area.bottom + below;
        html! {
            @for (tick, label) in self.readable() {
                @let x = self.x(tick.value).min(WIDTH - lettering::width(label) / 2.0);
                (Text::new(x, y, label).class("quiet").middle())
            }
            (Text::new(self.area.right, y + 18.0, &self.x_axis.title).class("quiet").end())
        }
    }

    /// The numbers that do not overlap their left neighbour.
    fn readable(&self) -> Vec<(&Tick, &str)> {
        let mut end = f64::NEG_INFINITY;
        let mut shown = Vec::new();
        for tick in &self.x_axis.ticks {
            let Some(label) = &tick.label else { continue };
            let (place, half) = (self.x(tick.value), lettering::width(label) / 2.0);
            if place - half > end + GAP {
                shown.push((tick, label.as_str()));
                end = place + half;
            }
        }
        shown
    }
}
