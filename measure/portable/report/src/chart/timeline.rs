//! Activations over time: the time from each previous activation.

use super::curve::Curve;
use super::panels::{self, Style};
use crate::draw::frame::Frame;
use crate::draw::path::{path, through};
use crate::draw::scale::Range;
use crate::draw::{Picture, thin};
use crate::number::quantity;
use maud::Markup;
use pillion_measure_data::{Chart, Points};

const STYLE: Style = Style {
    empty: "No activations.",
    axes: ["time", "since the one before"],
    height: 120.0,
    range: |heights| heights.padded(0.08),
    note,
    inside: spread,
};

pub fn draw(chart: &Chart, curves: &[Curve]) -> Picture {
    panels::draw(chart, curves, &STYLE)
}

/// The shortest and the longest time.
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
