//! A frequency response in the complex plane.
//!
//! Points go from the lowest frequency to the highest. A series of the same name with `_frequency` behind it, of as many points, tells the
//! frequency of each as its x. The cut-off is where the response falls below 1/√2.

use super::curve::Curve;
use super::key;
use super::label::Label;
use crate::draw::axis::Axis;
use crate::draw::frame::{AXIS_ABOVE, AXIS_BELOW, Frame, NUMBERS_BELOW};
use crate::draw::path::{path, through};
use crate::draw::scale::Range;
use crate::draw::text::{Text, over};
use crate::draw::{Area, Picture, dot, line};
use crate::number::{Unit, rounded, with_unit};
use maud::{Markup, html};
use pillion_measure_data::{Data, Measurement, Points};
use std::f64::consts::{FRAC_1_SQRT_2, TAU};

/// Side of the plane.
const SIDE: f64 = 460.0;
/// Its left edge.
const LEFT: f64 = 130.0;

/// A locus with its frequencies, if they are known.
struct Drawn<'a> {
    curve: &'a Curve<'a>,
    points: &'a Points,
    frequencies: Option<&'a Points>,
}

/// Draws it.
pub fn draw(measurement: &Measurement, curves: &[Curve]) -> Picture {
    let drawn: Vec<Drawn> = curves.iter().filter_map(|curve| with_frequencies(measurement, curve)).collect();
    if drawn.is_empty() {
        return Picture::nothing("No response.");
    }
    let top = key::ROW * (drawn.len() + 1) as f64 + AXIS_ABOVE;
    let area = Area { left: LEFT, top, right: LEFT + SIDE, bottom: top + SIDE };
    let half = drawn
        .iter()
        .flat_map(|drawn| &drawn.points.points)
        .fold(1.15, |half: f64, (x, y)| half.max(x.abs()).max(y.abs()));
    let axis = |title| Axis::new(Range::over([-half, half], false), "1", title, 4.0);
    let frame = Frame::new(area, axis("real part"), axis("imaginary part"));
    let body = html! {
        (key::heads(&["cut-off"], 0.0))
        @for (n, drawn) in drawn.iter().enumerate() {
            @let top = key::ROW * (n + 1) as f64;
            (key::row(key::line_sample(drawn.curve, top), &drawn.curve.label, &[cut_off_said(drawn)], top))
        }
        (plane(&frame))
        @for (drawn, labels) in drawn.iter().zip(labels(&frame, &drawn)) { (locus(&frame, drawn, &labels)) }
        (frame.numbers(NUMBERS_BELOW))
    };
    Picture { height: area.bottom + AXIS_BELOW, body }
}

fn with_frequencies<'a>(measurement: &'a Measurement, curve: &'a Curve<'a>) -> Option<Drawn<'a>> {
    let points = curve.points()?;
    let frequencies = match measurement.series(&curve.system.name, &format!("{}_frequency", curve.series)) {
        Some(Data::Points(frequencies)) if frequencies.points.len() == points.points.len() => Some(frequencies),
        _ => None,
    };
    Some(Drawn { curve, points, frequencies })
}

/// Both axes through zero, the unit circle, and the circle of the cut-off.
fn plane(frame: &Frame) -> Markup {
    let Area { left, top, right, bottom } = frame.area;
    let (x, y) = (frame.x(0.0), frame.y(0.0));
    html! {
        (frame.grid())
        (line("axis", (left, y), (right, y)))
        (line("axis", (x, top), (x, bottom)))
        (path("thin axis", &circle(frame, 1.0)))
        (path("thin axis d2", &circle(frame, FRAC_1_SQRT_2)))
        (over(&Text::new(frame.x(-0.5) - 4.0, frame.y(-0.5) + 14.0, "1/√2").class("quiet small").end()))
    }
}

fn circle(frame: &Frame, radius: f64) -> String {
    let place = |n: u32| {
        let (sine, cosine) = (TAU * f64::from(n) / 120.0).sin_cos();
        (frame.x(radius * cosine), frame.y(radius * sine))
    };
    through(&(0..=120).map(place).collect::<Vec<_>>())
}

/// The first point that is nearer to zero than the cut-off, when some before it was not.
fn cut_off(points: &Points) -> Option<usize> {
    let beyond = |(x, y): &(f64, f64)| x.hypot(*y) < FRAC_1_SQRT_2;
    points.points.iter().position(beyond).filter(|at| *at > 0)
}

fn frequency(drawn: &Drawn, at: usize) -> Option<String> {
    let frequencies = drawn.frequencies?;
    let unit =
        Unit::fitting(if frequencies.x_unit == "1/s" { "Hz" } else { &frequencies.x_unit }, frequencies.points[at].0);
    Some(with_unit(&rounded(frequencies.points[at].0 / unit.divisor, 3), &unit.name))
}

fn cut_off_said(drawn: &Drawn) -> String {
    match cut_off(drawn.points) {
        Some(at) => frequency(drawn, at).unwrap_or_else(|| format!("point {}", at + 1)),
        None => "not reached".into(),
    }
}

/// The curve, its cut-off, and those of its labels that are in nobody's way.
fn locus(frame: &Frame, drawn: &Drawn, labels: &[Label]) -> Markup {
    let places = frame.places(&drawn.points.points);
    html! {
        (path(&drawn.curve.stroke(), &through(&places)))
        @for label in labels { (dot(&drawn.curve.fill(), label.point, 2.6)) (label.text()) }
        @if let Some(place) = cut_off(drawn.points).and_then(|at| places.get(at)) { (mark(drawn, *place)) }
    }
}

/// Labels of all curves: of the first outside of it, of the next inside, and so on, since loci often lie close together.
fn labels(frame: &Frame, drawn: &[Drawn]) -> Vec<Vec<Label>> {
    let mut taken: Vec<Area> = Vec::new();
    let mut of_curve = |(n, drawn): (usize, &Drawn)| {
        let places = frame.places(&drawn.points.points);
        let centre = (frame.x(0.0), frame.y(0.0));
        let side = if n % 2 == 0 { 1.0 } else { -1.0 };
        let all = places
            .iter()
            .enumerate()
            .filter_map(|(at, place)| Some(Label::new(*place, centre, side, frequency(drawn, at)?)));
        let mut free = |label: &Label| {
            let free = taken.iter().all(|other| !other.meets(&label.area));
            taken.extend(free.then_some(label.area));
            free
        };
        all.filter(|label| free(label)).collect()
    };
    drawn.iter().enumerate().map(&mut of_curve).collect()
}

/// The ring at the cut-off.
fn mark(drawn: &Drawn, place: (f64, f64)) -> Markup {
    dot(&format!("paper ring l{}", drawn.curve.slot), place, 5.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cut_off_is_the_first_point_below_it() {
        let of = |points: &[(f64, f64)]| cut_off(&Points { points: points.to_vec(), ..Points::default() });
        assert_eq!(of(&[(1.0, 0.0), (0.7, -0.5), (0.5, -0.49), (0.0, 0.0)]), Some(2));
        assert_eq!((of(&[(1.0, 0.0)]), of(&[(0.1, 0.1), (0.0, 0.0)])), (None, None));
    }
}
