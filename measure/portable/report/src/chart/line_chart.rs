//! Points joined by lines, each with its name at its right end.

use super::curve::Curve;
use crate::draw::axis::Axis;
use crate::draw::frame::{AXIS_ABOVE, AXIS_BELOW, Frame, NUMBERS_BELOW};
use crate::draw::lettering::{Text, apart, wrapped};
use crate::draw::path::{path, through};
use crate::draw::scale::Range;
use crate::draw::{Area, Picture, WIDTH, dot, line, thin};
use maud::{Markup, html};
use pillion_measure_data::{Chart, Points};

const HEIGHT: f64 = 300.0;
/// Width reserved for the names.
const NAMES: f64 = 176.0;
/// Height of a line of a name.
const LETTERS: f64 = 14.0;
/// Curves with more points than this have no dots.
const DOTS: usize = 40;

/// A line, its end, and the lines of its name.
struct Drawn<'a> {
    curve: &'a Curve<'a>,
    places: Vec<(f64, f64)>,
    name: Vec<String>,
}

impl<'a> Drawn<'a> {
    fn new(curve: &'a Curve<'a>, places: Vec<(f64, f64)>) -> Drawn<'a> {
        Drawn { curve, places, name: wrapped(&curve.label, NAMES - 26.0) }
    }
}

pub fn draw(chart: &Chart, curves: &[Curve]) -> Picture {
    let points: Vec<(&Curve, &Points)> = curves.iter().filter_map(|curve| Some((curve, curve.points()?))).collect();
    let Some((x, y)) = axes(chart, &points) else { return Picture::nothing("No points.") };
    let area = Area { left: Frame::room(&y), top: AXIS_ABOVE, right: WIDTH - NAMES, bottom: AXIS_ABOVE + HEIGHT };
    let frame = Frame::new(area, x, y);
    let line = |(curve, points): (_, &Points)| Drawn::new(curve, thin::curve(frame.places(&points.points)));
    let drawn: Vec<Drawn> = points.into_iter().map(line).filter(|drawn| !drawn.places.is_empty()).collect();
    let body = html! {
        (frame.grid()) (frame.base()) (frame.numbers(NUMBERS_BELOW))
        @for drawn in &drawn { (joined(drawn)) }
        (names(&drawn, &frame))
    };
    Picture { height: area.bottom + AXIS_BELOW, body }
}

/// Axes over all points; `None` if there are no points.
pub fn axes(chart: &Chart, points: &[(&Curve, &Points)]) -> Option<(Axis, Axis)> {
    let units = points.first()?.1;
    let all = || points.iter().flat_map(|(_, points)| &points.points);
    let x = Range::over(all().map(|point| point.0), chart.log_x).with_near_zero();
    let y = Range::over(all().map(|point| point.1), chart.log_y.unwrap_or(false)).with_near_zero().padded(0.04);
    Some((Axis::new(x, &units.x_unit, &chart.x, 6.0), Axis::new(y, &units.y_unit, &chart.y, 5.0)))
}

fn joined(drawn: &Drawn) -> Markup {
    html! {
        (path(&drawn.curve.stroke(), &through(&drawn.places)))
        @if drawn.places.len() <= DOTS {
            @for place in &drawn.places { (dot(&drawn.curve.fill(), *place, 2.6)) }
        }
    }
}

/// Names beside the plot, moved apart, each connected to its curve's end by a thin line.
fn names(drawn: &[Drawn], frame: &Frame) -> Markup {
    let end = |drawn: &Drawn| *drawn.places.last().unwrap_or(&(frame.area.right, frame.area.top));
    let wanted: Vec<(f64, f64)> =
        drawn.iter().map(|drawn| (end(drawn).1, drawn.name.len() as f64 * LETTERS + 4.0)).collect();
    let found = apart(&wanted, frame.area.top - 10.0, frame.area.bottom + 10.0);
    html! {
        @for (drawn, y) in drawn.iter().zip(found) {
            @let left = frame.area.right + 20.0;
            @let (x, at) = end(drawn);
            (line(&format!("thin l{}", drawn.curve.slot), (x + 4.0, at), (left - 4.0, y)))
            @for (n, words) in drawn.name.iter().enumerate() {
                @let below = (n as f64 - drawn.name.len() as f64 / 2.0) * LETTERS + 11.0;
                (Text::new(left, y + below, words).class("text bold"))
            }
        }
    }
}
