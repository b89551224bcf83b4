//! Scatter plots.

use super::curve::Curve;
use super::{key, line_chart};
use crate::draw::frame::{AXIS_ABOVE, AXIS_BELOW, Frame, NUMBERS_BELOW};
use crate::draw::{Area, Picture, WIDTH, dot, thin};
use maud::{Markup, html};
use pillion_measure_data::{Chart, Points};

const HEIGHT: f64 = 320.0;

pub fn draw(chart: &Chart, curves: &[Curve]) -> Picture {
    let points: Vec<(&Curve, &Points)> = curves.iter().filter_map(|curve| Some((curve, curve.points()?))).collect();
    let Some((x, y)) = line_chart::axes(chart, &points) else { return Picture::nothing("No points.") };
    let rows = if points.len() > 1 { points.len() as f64 * key::ROW } else { 0.0 };
    let top = rows + AXIS_ABOVE;
    let area = Area { left: Frame::room(&y), top, right: WIDTH - 10.0, bottom: top + HEIGHT };
    let frame = Frame::new(area, x, y);
    let body = html! {
        @if points.len() > 1 {
            @for (n, (curve, _)) in points.iter().enumerate() {
                @let top = key::ROW * n as f64;
                (key::row(dot(&curve.fill(), (13.0, top + 9.0), 4.0), &curve.label, &[], top))
            }
        }
        (frame.grid())
        @for (curve, points) in &points { (cloud(&frame, curve, points)) }
        (frame.base()) (frame.numbers(NUMBERS_BELOW))
    };
    Picture { height: area.bottom + AXIS_BELOW, body }
}

fn cloud(frame: &Frame, curve: &Curve, points: &Points) -> Markup {
    let places = thin::cloud(frame.places(&points.points));
    let radius = if places.len() > 500 { 1.3 } else { 2.4 };
    html! { g class={ "cloud " (curve.fill()) } { @for place in places { (dot("", place, radius)) } } }
}
