//! The fraction of samples that are at least as large as a value.
//!
//! A series of points is drawn as it is: value and fraction.

use super::curve::Curve;
use super::{key, summary};
use crate::draw::axis::Axis;
use crate::draw::frame::{AXIS_ABOVE, AXIS_BELOW, Frame, NUMBERS_BELOW};
use crate::draw::path::{path, steps, through};
use crate::draw::scale::Range;
use crate::draw::thin;
use crate::draw::{Area, Picture, WIDTH, dot};
use crate::number::{plain, power, quantity};
use maud::{Markup, html};
use pillion_measure_data::{Chart, Measurement};

const HEIGHT: f64 = 300.0;
/// Heads of the columns, with the fraction of samples above each.
const TOLD: [(&str, f64); 4] = [("median", 0.5), ("p99", 0.01), ("p99.99", 0.0001), ("max", 0.0)];

pub fn draw(measurement: &Measurement, chart: &Chart, curves: &[Curve]) -> Picture {
    let drawn: Vec<(&Curve, Vec<(f64, f64)>)> = curves.iter().map(|curve| (curve, tail(curve))).collect();
    let drawn: Vec<_> = drawn.into_iter().filter(|(_, tail)| !tail.is_empty()).collect();
    if drawn.is_empty() {
        return Picture::nothing("No samples.");
    }
    let (x, y) = axes(chart, &drawn);
    let top = key::ROW * (drawn.len() + 1) as f64 + AXIS_ABOVE;
    let area = Area { left: Frame::room(&y), top, right: WIDTH - 6.0, bottom: top + HEIGHT };
    let frame = Frame::new(area, x, y);
    let body = html! {
        (key::heads(&TOLD.map(|(head, _)| head), 0.0))
        @for (n, (curve, _)) in drawn.iter().enumerate() {
            @let top = key::ROW * (n + 1) as f64;
            (key::row(key::line_sample(curve, top), &curve.label, &cells(measurement, curve), top))
        }
        (frame.grid())
        @for (curve, tail) in &drawn { (fall(&frame, curve, tail)) }
        (frame.base())
        (frame.numbers(NUMBERS_BELOW))
    };
    Picture { height: area.bottom + AXIS_BELOW, body }
}

/// Values, with the fraction of samples that reach them.
fn tail(curve: &Curve) -> Vec<(f64, f64)> {
    match (curve.histogram(), curve.points()) {
        (Some(histogram), _) => histogram.tail().map(|(value, part)| (value as f64, part)).collect(),
        (None, Some(points)) => points.points.clone(),
        (None, None) => Vec::new(),
    }
}

fn axes(chart: &Chart, drawn: &[(&Curve, Vec<(f64, f64)>)]) -> (Axis, Axis) {
    let unit = drawn.iter().find_map(|(curve, _)| {
        Some(match curve.histogram() {
            Some(histogram) => histogram.unit.as_str(),
            None => curve.points()?.x_unit.as_str(),
        })
    });
    let all = || drawn.iter().flat_map(|(_, tail)| tail);
    let x = Range::over(all().map(|(value, _)| *value), chart.log_x).with_near_zero().padded(0.015);
    let log = chart.log_y.unwrap_or(true);
    let least = Range::over(all().map(|(_, part)| *part), log).low.min(0.1);
    let y = Range::between(if log { least / 1.6 } else { 0.0 }, 1.0, log);
    let title = if chart.y.is_empty() { "part of the samples that is as large or larger" } else { &chart.y };
    let y = Axis::new(y, "1", title, 5.0);
    let y = if log { y.labelled(one_in) } else { y };
    (Axis::new(x, unit.unwrap_or("1"), &chart.x, 7.0), y)
}

/// `1 in 1 000`.
fn one_in(part: f64) -> String {
    let all = (1.0 / part).round();
    match all {
        all if all <= 1.0 => "all".into(),
        all if all < 1e6 => format!("1 in {}", plain(all)),
        all => format!("1 in {}", power(all)),
    }
}

/// A falling step curve that ends in a dot at the largest value; points are a plain line.
fn fall(frame: &Frame, curve: &Curve, tail: &[(f64, f64)]) -> Markup {
    let places = thin::curve(frame.places(tail));
    if curve.histogram().is_none() {
        return path(&curve.stroke(), &through(&places));
    }
    // Each fraction holds from the previous value to its own: the step is at the value's left.
    let falls: Vec<(f64, f64)> =
        places.iter().zip(places.iter().skip(1)).map(|(here, next)| (here.0, next.1)).collect();
    let mut falls: Vec<(f64, f64)> = places.first().copied().into_iter().chain(falls).collect();
    falls.extend(places.last());
    html! {
        (path(&curve.stroke(), &steps(&falls)))
        @if let Some(last) = places.last() { (dot(&curve.fill(), *last, 3.5)) }
    }
}

/// The percentiles of a histogram.
fn cells(measurement: &Measurement, curve: &Curve) -> Vec<String> {
    let Some(histogram) = curve.histogram() else { return vec![String::new(); TOLD.len()] };
    let cell = |above: f64| quantity(summary::quantile(measurement, curve, histogram, 1.0 - above), &histogram.unit);
    TOLD.iter().map(|(_, above)| cell(*above)).collect()
}
