//! Charts: each kind is drawn by a module of its own.

mod bars;
mod columns;
mod cumulative;
mod curve;
mod histogram;
mod key;
mod label;
mod lines;
mod locus;
mod panels;
mod scatter;
mod summary;
mod timeline;
mod triangles;

use crate::draw::Picture;
use crate::theme::Colours;
use curve::Curve;
use pillion_measure_data::{Chart, Kind, Measurement};

/// Draws a chart of a measurement.
pub fn draw(measurement: &Measurement, chart: &Chart, colours: &Colours) -> Picture {
    let curves = Curve::all(measurement, chart, colours);
    match chart.kind {
        Kind::Bars => bars::draw(measurement, chart, colours),
        _ if curves.is_empty() => Picture::nothing("No system said anything of this."),
        Kind::Histogram => histogram::draw(measurement, chart, &curves),
        Kind::Cumulative => cumulative::draw(measurement, chart, &curves),
        Kind::Lines => lines::draw(chart, &curves),
        Kind::Scatter => scatter::draw(chart, &curves),
        Kind::Triangles => triangles::draw(chart, &curves),
        Kind::Locus => locus::draw(measurement, &curves),
        Kind::Timeline => timeline::draw(chart, &curves),
    }
}
