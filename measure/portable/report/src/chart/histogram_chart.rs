//! How often each value was seen.
//!
//! Up to three histograms share a plot; more are drawn below each other over the same axis, with
//! one plot for each system. A series of points is a curve of expected samples per unit of x, such
//! as a fit.

use super::columns::Columns;
use super::curve::Curve;
use super::key;
use super::summary::{HEADS, Summary};
use crate::draw::axis::Axis;
use crate::draw::frame::{AXIS_ABOVE, AXIS_BELOW, Frame, NUMBERS_BELOW};
use crate::draw::lettering::width;
use crate::draw::path::{bars, path, through};
use crate::draw::scale::Range;
use crate::draw::{Area, Picture, WIDTH, dot, line};
use crate::number::quantity;
use maud::{Markup, html};
use pillion_measure_data::{Chart, Histogram, Measurement};

/// The most histograms in one plot.
const TOGETHER: usize = 3;
/// Height of a single plot, and of one of several.
const HEIGHTS: (f64, f64) = (270.0, 105.0);
/// Height of the strip that marks a histogram's four numbers.
const STRIP: f64 = 10.0;
/// No dashes.
const SOLID: usize = 0;
/// From the strips of one plot to the key of the next.
const BETWEEN: f64 = 14.0;
/// Bottom of the logarithmic axis of counts, so that a single sample has a height.
const LEAST: f64 = 0.6;

/// A histogram, its numbers, and the expected curves over it.
struct Drawn<'a> {
    curve: &'a Curve<'a>,
    histogram: &'a Histogram,
    summary: Summary,
    fits: Vec<&'a Curve<'a>>,
}

pub fn draw(measurement: &Measurement, chart: &Chart, curves: &[Curve]) -> Picture {
    let drawn = drawn(measurement, curves);
    if drawn.is_empty() {
        return Picture::nothing("No samples.");
    }
    let panels = panels(&drawn);
    let axes = Axes::of(chart, &drawn);
    let plots = plots(&panels, &axes);
    let end = plots.last().map_or(0.0, |plot| plot.frame.area.bottom + strips(plot.panel));
    let body = html! {
        (key::heads(&HEADS, 0.0)) (marks())
        @for plot in &plots { (rows(plot.panel, plot.top)) (inside(plot, &axes.columns)) }
        @if let Some(last) = plots.last() { (last.frame.numbers(NUMBERS_BELOW + strips(last.panel))) }
    };
    Picture { height: end + AXIS_BELOW, body }
}

/// A plot, and where its rows of the key begin.
struct Plot<'a> {
    panel: &'a [Drawn<'a>],
    top: f64,
    frame: Frame,
}

/// Arranges plots below each other.
fn plots<'a>(panels: &[&'a [Drawn<'a>]], axes: &Axes) -> Vec<Plot<'a>> {
    let height = if panels.len() == 1 { HEIGHTS.0 } else { HEIGHTS.1 };
    let mut top = key::ROW;
    let mut plots = Vec::new();
    for (n, &panel) in panels.iter().enumerate() {
        let begin = top + panel.len() as f64 * key::ROW + if n == 0 { AXIS_ABOVE } else { 8.0 };
        let area = Area { left: Frame::room(&axes.y), top: begin, right: WIDTH, bottom: begin + height };
        plots.push(Plot { panel, top, frame: Frame::new(area, axes.x.clone(), axes.y_of(n)) });
        top = area.bottom + strips(panel) + BETWEEN;
    }
    plots
}

/// Height of the strips below a plot.
fn strips(panel: &[Drawn]) -> f64 {
    panel.len() as f64 * STRIP + 6.0
}

/// The histograms among the curves, each with the expected curves over it: those of its system, and
/// of these, if there are any, those whose names begin with its own.
fn drawn<'a>(measurement: &Measurement, curves: &'a [Curve]) -> Vec<Drawn<'a>> {
    let all: Vec<(&Curve, &Histogram)> = curves.iter().filter_map(|curve| Some((curve, curve.histogram()?))).collect();
    let owner = |fit: &Curve| {
        let same = |(curve, _): &&(&Curve, &Histogram)| curve.system.name == fit.system.name;
        let mine = all.iter().filter(same).find(|(curve, _)| fit.series.starts_with(curve.series));
        mine.or_else(|| all.iter().find(same)).map(|(curve, _)| (curve.system.name.as_str(), curve.series))
    };
    let fits = |curve: &Curve| {
        let over =
            |fit: &&Curve| fit.points().is_some() && owner(fit) == Some((curve.system.name.as_str(), curve.series));
        curves.iter().filter(over).collect()
    };
    let with_numbers = |&(curve, histogram)| Drawn {
        curve,
        histogram,
        summary: Summary::of(measurement, curve, histogram),
        fits: fits(curve),
    };
    all.iter().map(with_numbers).collect()
}

/// Distributes the histograms over plots.
fn panels<'a, 'b>(drawn: &'b [Drawn<'a>]) -> Vec<&'b [Drawn<'a>]> {
    let of_system: Vec<&[Drawn]> =
        drawn.chunk_by(|one, other| one.curve.system.name == other.curve.system.name).collect();
    match drawn.len() <= TOGETHER {
        true => vec![drawn],
        false if of_system.iter().all(|panel| panel.len() <= TOGETHER) => of_system,
        false => drawn.chunks(1).collect(),
    }
}

/// Both axes, and the columns between them.
struct Axes {
    x: Axis,
    y: Axis,
    columns: Columns,
}

impl Axes {
    fn of(chart: &Chart, drawn: &[Drawn]) -> Axes {
        let histograms: Vec<&Histogram> = drawn.iter().map(|drawn| drawn.histogram).collect();
        let ends = histograms.iter().flat_map(|histogram| histogram.buckets.iter());
        let ends = ends.flat_map(|bucket| [bucket.low as f64, bucket.low as f64 + bucket.width as f64]);
        let range = Range::over(ends, chart.log_x).with_near_zero().padded(0.015);
        let columns = Columns::new(&range, &histograms);
        let counts = histograms.iter().flat_map(|histogram| columns.counts(histogram).into_values());
        let log = chart.log_y.unwrap_or(true);
        let most = counts.fold(1.0, f64::max) * if log { 1.6 } else { 1.05 };
        let unit = &histograms[0].unit;
        let title = match (chart.y.as_str(), columns.equal()) {
            ("", Some(width)) => format!("samples in {}", quantity(width, unit)),
            ("", None) => "samples".into(),
            (title, _) => title.into(),
        };
        let x = Axis::new(range, unit, &chart.x, 7.0);
        let y = Axis::new(Range::between(if log { LEAST } else { 0.0 }, most, log), "1", &title, 4.0);
        Axes { x, y, columns }
    }

    /// The vertical axis of a plot: only the first has a title.
    fn y_of(&self, panel: usize) -> Axis {
        let title = if panel == 0 { self.y.title.clone() } else { String::new() };
        Axis { title, ..self.y.clone() }
    }
}

/// Filling and outline; if a system has several series, each has its own look.
fn look(drawn: &Drawn, panel: &[Drawn]) -> (String, String) {
    let same = panel.len() > 1 && panel.iter().all(|other| other.curve.system.name == drawn.curve.system.name);
    let slot = drawn.curve.slot;
    let (faint, dashes) = match (same, drawn.curve.order) {
        (false, _) if panel.len() > 1 => ("", slot),
        (false, _) | (true, 0) => ("", SOLID),
        (true, 1) => (" faint", 4),
        (true, _) => (" faint", 2),
    };
    (format!("area f{slot}{faint}"), format!("line l{slot} d{dashes}"))
}

fn rows(panel: &[Drawn], top: f64) -> Markup {
    html! {
        @for (n, drawn) in panel.iter().enumerate() {
            @let top = top + n as f64 * key::ROW;
            @let (fill, stroke) = look(drawn, panel);
            (key::row(key::area_sample(&fill, &stroke, top), &drawn.curve.label, &drawn.summary.cells(&drawn.histogram.unit), top))
        }
    }
}

fn inside(plot: &Plot, columns: &Columns) -> Markup {
    let Plot { panel, frame, .. } = plot;
    html! {
        (frame.grid())
        @for drawn in panel.iter() {
            @let (fill, stroke) = look(drawn, panel);
            @let outline = outline(frame, columns, drawn.histogram);
            (path(&fill, &outline))
            (path(&stroke, &outline))
        }
        @for fit in panel.iter().flat_map(|drawn| &drawn.fits) { (expected(frame, columns, fit)) }
        (frame.base())
        @for (n, drawn) in panel.iter().enumerate() {
            (strip(frame, drawn, frame.area.bottom + 11.0 + n as f64 * STRIP))
        }
    }
}

fn outline(frame: &Frame, columns: &Columns, histogram: &Histogram) -> String {
    let counts = columns.counts(histogram);
    let bar = |(column, count): (&i64, &f64)| {
        (frame.x(columns.start(*column)), frame.x(columns.start(column + 1)), frame.y(*count))
    };
    bars(&counts.iter().map(bar).collect::<Vec<_>>(), frame.area.bottom)
}

/// A curve of expected samples, as far as it expects any.
fn expected(frame: &Frame, columns: &Columns, fit: &Curve) -> Markup {
    let points = fit.points().map_or(&[][..], |points| &points.points);
    let counts: Vec<(f64, f64)> =
        points.iter().map(|(x, y)| (*x, y * columns.width(*x))).filter(|(_, y)| *y > LEAST).collect();
    path("line axis", &through(&frame.places(&counts)))
}

/// Explains, before the heads of the numbers, how the strip marks them.
fn marks() -> Markup {
    let y = 9.0;
    let before = |column: usize| key::right(column, HEADS.len()) - width(HEADS[column]) - 10.0;
    let bar = |column: usize| line("thin axis", (before(column), y - 3.5), (before(column), y + 3.5));
    html! { (bar(0)) (dot("quiet", (before(1), y), 2.8)) (bar(2)) (bar(3)) }
}

/// A thin line from the smallest to the largest value, a dot at the mean, a mark at 99 %.
fn strip(frame: &Frame, drawn: &Drawn, y: f64) -> Markup {
    let Summary { min, avg, p99, max, .. } = drawn.summary;
    let (thin, fill) = (format!("thin l{}", drawn.curve.slot), drawn.curve.fill());
    let mark = |value: f64, half: f64| line(&thin, (frame.x(value), y - half), (frame.x(value), y + half));
    html! {
        (line(&thin, (frame.x(min), y), (frame.x(max), y)))
        (mark(min, 3.5)) (mark(p99, 3.5)) (mark(max, 3.5))
        (dot(&fill, (frame.x(avg), y), 2.8))
    }
}
