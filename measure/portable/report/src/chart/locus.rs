//! A frequency response in the complex plane.
//!
//! Points go from the lowest frequency to the highest. A series with the same name followed by
//! `_frequency`, and with as many points, has the frequency of each point as its x, and as its y
//! the percentage of the edges that were answered. The cut-off is the last point up to which all
//! edges were answered. The response of a system that is always equally late lies on a square: the
//! absolute values of its real and imaginary parts add up to 1.

use super::curve::Curve;
use super::key;
use super::label::Label;
use crate::draw::axis::Axis;
use crate::draw::frame::{AXIS_ABOVE, AXIS_BELOW, Frame, NUMBERS_BELOW};
use crate::draw::path::{path, through};
use crate::draw::scale::Range;
use crate::draw::{Area, Picture, dot, line};
use crate::number::{Unit, rounded, with_unit};
use maud::{Markup, html};
use pillion_measure_data::{Data, Measurement, Points};

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

pub fn draw(measurement: &Measurement, curves: &[Curve]) -> Picture {
    let drawn: Vec<Drawn> = curves.iter().filter_map(|curve| with_frequencies(measurement, curve)).collect();
    if drawn.is_empty() {
        return Picture::nothing("No response.");
    }
    let top = key::ROW * (drawn.len() + 1) as f64 + AXIS_ABOVE;
    let area = Area { left: LEFT, top, right: LEFT + SIDE, bottom: top + SIDE };
    let unit = &drawn[0].points.x_unit;
    let one = if unit == "%" { 100.0 } else { 1.0 };
    let half = drawn
        .iter()
        .flat_map(|drawn| &drawn.points.points)
        .fold(1.15 * one, |half: f64, (x, y)| half.max(x.abs()).max(y.abs()));
    let axis = |title| Axis::new(Range::over([-half, half], false), unit, title, 4.0);
    let frame = Frame::new(area, axis("real part"), axis("imaginary part"));
    let body = html! {
        (key::heads(&["cut-off"], 0.0))
        @for (n, drawn) in drawn.iter().enumerate() {
            @let top = key::ROW * (n + 1) as f64;
            (key::row(key::line_sample(drawn.curve, top), &drawn.curve.label, &[cut_off_said(drawn)], top))
        }
        (plane(&frame, one))
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

/// Both axes through zero, and the square of systems that are always equally late.
fn plane(frame: &Frame, one: f64) -> Markup {
    let Area { left, top, right, bottom } = frame.area;
    let (x, y) = (frame.x(0.0), frame.y(0.0));
    let corners = [(one, 0.0), (0.0, one), (-one, 0.0), (0.0, -one), (one, 0.0)];
    html! {
        (frame.grid())
        (line("axis", (left, y), (right, y)))
        (line("axis", (x, top), (x, bottom)))
        (path("thin axis d2", &through(&frame.places(&corners))))
    }
}

/// The last point up to which every edge was answered.
fn cut_off(drawn: &Drawn) -> Option<usize> {
    drawn.frequencies?.points.iter().take_while(|(_, answered)| *answered >= 100.0).count().checked_sub(1)
}

fn frequency(drawn: &Drawn, at: usize) -> Option<String> {
    let frequencies = drawn.frequencies?;
    let unit =
        Unit::fitting(if frequencies.x_unit == "1/s" { "Hz" } else { &frequencies.x_unit }, frequencies.points[at].0);
    Some(with_unit(&rounded(frequencies.points[at].0 / unit.divisor, 3), &unit.name))
}

fn cut_off_said(drawn: &Drawn) -> String {
    cut_off(drawn).and_then(|at| frequency(drawn, at)).unwrap_or_else(|| "not told".into())
}

/// The curve, its cut-off, and those of its labels that do not overlap others.
fn locus(frame: &Frame, drawn: &Drawn, labels: &[Label]) -> Markup {
    let places = frame.places(&drawn.points.points);
    html! {
        (path(&drawn.curve.stroke(), &through(&places)))
        @for label in labels { (dot(&drawn.curve.fill(), label.point, 2.6)) (label.text()) }
        @if let Some(place) = cut_off(drawn).and_then(|at| places.get(at)) { (mark(drawn, *place)) }
    }
}

/// Labels of all curves, outside the first, inside the next, and so on, because loci often lie
/// close together.
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
    use crate::theme::Colours;
    use pillion_measure_data::{Chart, Instrument, Series, System};

    /// Draws points at each frequency, in per cent, with the percentage of edges answered there.
    fn picture(locus: &[(f64, f64)], answered: &[(f64, f64)]) -> String {
        let mut measurement = Measurement::new("e", "t", Instrument::Counted);
        measurement.systems = vec![System { name: "s".into(), title: "S".into(), ..System::default() }];
        for (name, x_unit, points) in [("locus", "%", locus), ("locus_frequency", "1/s", answered)] {
            let data = Data::Points(Points { x_unit: x_unit.into(), y_unit: "%".into(), points: points.to_vec() });
            measurement.series.push(Series { system: "s".into(), name: name.into(), data });
        }
        let chart = r#"{ "kind": "locus", "title": "t", "series": ["locus"] }"#;
        let chart: Chart = serde_json::from_str(chart).unwrap();
        let colours = Colours::of(std::slice::from_ref(&measurement));
        let curves = Curve::all(&measurement, &chart, &colours);
        draw(&measurement, &curves).body.into_string()
    }

    #[test]
    fn the_cut_off_is_named_by_its_frequency() {
        let locus = [(90.0, 10.0), (0.0, 100.0), (20.0, 20.0)];
        let body = picture(&locus, &[(500.0, 100.0), (20_000.0, 100.0), (31_500.0, 98.0)]);
        assert!(body.contains("text-anchor=\"end\">20\u{202f}kHz</text>"), "{body}");
        assert!(picture(&locus, &[]).contains("not told"));
    }

    #[test]
    fn the_square_of_the_reliable_is_as_large_as_the_plane_allows() {
        let body = picture(&[(90.0, 10.0)], &[(500.0, 100.0)]);
        let square = body.split("<path").find(|path| path.contains("d2")).unwrap();
        let places: Vec<f64> =
            square.split(|c: char| !c.is_ascii_digit() && c != '.').filter_map(|word| word.parse().ok()).collect();
        let widest = places.iter().fold(0.0, |most: f64, place| most.max(*place));
        assert!(widest > LEFT + 0.9 * SIDE, "{square}");
    }
}
