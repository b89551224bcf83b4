//! Plots of points below each other over the same axes, one for each curve.

use super::curve::Curve;
use crate::draw::axis::Axis;
use crate::draw::frame::{AXIS_BELOW, Frame, NUMBERS_BELOW};
use crate::draw::lettering::{Text, fitted, width};
use crate::draw::scale::Range;
use crate::draw::{Area, Picture, WIDTH};
use maud::{Markup, html};
use pillion_measure_data::{Chart, Points};

/// Height of the line above a plot that names it.
const NAME: f64 = 24.0;
/// From a plot to the name of the next.
const BETWEEN: f64 = 12.0;
/// Height reserved at the top for the title of the vertical axis.
const TITLE: f64 = 16.0;

/// What differs between kinds of charts.
pub struct Style {
    /// The text shown if there are no points.
    pub empty: &'static str,
    /// Titles of the axes if the chart has none, x and y.
    pub axes: [&'static str; 2],
    /// Height of a plot.
    pub height: f64,
    /// The range of the vertical axis, given the range of all points.
    pub range: fn(Range) -> Range,
    /// The note above a plot, at its right.
    pub note: fn(&Points) -> String,
    /// Draws the contents of a plot.
    pub inside: fn(&Frame, &Curve, &Points) -> Markup,
}

type Panel<'a> = (&'a Curve<'a>, &'a Points);

pub fn draw(chart: &Chart, curves: &[Curve], style: &Style) -> Picture {
    let panels: Vec<Panel> = curves.iter().filter_map(|curve| Some((curve, curve.points()?))).collect();
    let Some((x, y)) = axes(chart, &panels, style) else { return Picture::nothing(style.empty) };
    let room = Frame::room(&y);
    let untitled = Axis { title: String::new(), ..y.clone() };
    let top = |n: usize| TITLE + n as f64 * (NAME + style.height + BETWEEN);
    let frame = |n: usize| {
        let begin = top(n) + NAME;
        Frame::new(
            Area { left: room, top: begin, right: WIDTH - 8.0, bottom: begin + style.height },
            x.clone(),
            untitled.clone(),
        )
    };
    let body = html! {
        (Text::new(0.0, 11.0, &y.title).class("quiet"))
        @for (n, (curve, points)) in panels.iter().enumerate() {
            @let frame = frame(n);
            (name(curve, &(style.note)(points), &frame, top(n) + 15.0))
            (frame.grid())
            ((style.inside)(&frame, curve, points))
            (frame.base())
            @if n + 1 == panels.len() { (frame.numbers(NUMBERS_BELOW)) }
        }
    };
    Picture { height: top(panels.len()) - BETWEEN + AXIS_BELOW, body }
}

/// Axes over all points; `None` if there are no points.
fn axes(chart: &Chart, panels: &[Panel], style: &Style) -> Option<(Axis, Axis)> {
    let units = panels.first()?.1;
    let all = || panels.iter().flat_map(|(_, points)| &points.points);
    let x = Range::over(all().map(|point| point.0), chart.log_x).with_near_zero();
    let y = (style.range)(Range::over(all().map(|point| point.1), chart.log_y.unwrap_or(false)));
    let [usual_x, usual_y] = style.axes;
    let x = Axis::new(x, &units.x_unit, if chart.x.is_empty() { usual_x } else { &chart.x }, 7.0);
    let y = Axis::new(y, &units.y_unit, if chart.y.is_empty() { usual_y } else { &chart.y }, 4.0);
    Some((x, y))
}

fn name(curve: &Curve, note: &str, frame: &Frame, y: f64) -> Markup {
    let room = frame.area.right - frame.area.left - width(note) - 10.0;
    html! {
        (Text::new(frame.area.left, y, &fitted(&curve.label, room)).class("text bold"))
        (Text::new(frame.area.right, y, note).class("quiet").end())
    }
}
