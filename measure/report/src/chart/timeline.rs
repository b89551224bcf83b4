//! Activations over time: how long after the one before each was.

use super::curve::Curve;
use super::panels::{Panel, stacked};
use crate::draw::axis::Axis;
use crate::draw::frame::Frame;
use crate::draw::path::{path, through};
use crate::draw::scale::Range;
use crate::draw::{Picture, thin};
use crate::number::quantity;
use maud::{Markup, html};
use pillion_measure_data::{Chart, Points};

const HEIGHT: f64 = 120.0;

/// Draws it.
pub fn draw(chart: &Chart, curves: &[Curve]) -> Picture {
    let drawn: Vec<(&Curve, &Points)> = curves.iter().filter_map(|curve| Some((curve, curve.points()?))).collect();
    let Some((_, units)) = drawn.first() else { return Picture::nothing("No activations.") };
    let all = || drawn.iter().flat_map(|(_, points)| &points.points);
    let x = Range::over(all().map(|point| point.0), chart.log_x).with_near_zero();
    let y = Range::over(all().map(|point| point.1), chart.log_y.unwrap_or(false)).padded(0.08);
    let x = Axis::new(x, &units.x_unit, if chart.x.is_empty() { "time" } else { &chart.x }, 7.0);
    let y = Axis::new(y, &units.y_unit, if chart.y.is_empty() { "since the one before" } else { &chart.y }, 4.0);
    let panels: Vec<Panel> = drawn.iter().map(|(curve, points)| Panel { curve, note: note(points) }).collect();
    stacked(
        &panels,
        &x,
        &y,
        HEIGHT,
        |frame, curve| html! { @if let Some(points) = curve.points() { (spread(frame, curve, points)) } },
    )
}

/// Shortest and longest.
fn note(points: &Points) -> String {
    let heights = Range::over(points.points.iter().map(|point| point.1), false);
    let heights =
        if points.points.len() > 1 { (heights.low, heights.high) } else { (points.points[0].1, points.points[0].1) };
    format!("{} to {}", quantity(heights.0, &points.y_unit), quantity(heights.1, &points.y_unit))
}

/// The curve, thinned to what a screen can show.
fn spread(frame: &Frame, curve: &Curve, points: &Points) -> Markup {
    let places = thin::curve(frame.places(&points.points));
    path(&format!("thin l{}", curve.slot), &through(&places))
}
