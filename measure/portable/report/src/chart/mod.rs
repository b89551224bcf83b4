//! Charts, with a module for each kind.

mod bars;
mod columns;
mod cumulative;
mod curve;
mod histogram_chart;
mod key;
mod label;
mod line_chart;
mod locus;
mod panels;
mod scatter;
mod summary;
mod timeline;
mod triangles;

use crate::draw::Picture;
use crate::theme::Colours;
use curve::Curve;
use pillion_measure_data::{Chart, Kind, Measurement, System};

/// Whether any system reported data for a chart. In the short form and with other instruments, some
/// charts have none.
pub fn has_data(measurement: &Measurement, chart: &Chart) -> bool {
    let figure = |system: &System, name: &str| {
        measurement.figures.iter().any(|figure| figure.system == system.name && figure.name == name)
    };
    let is_said = |system: &System, name: &str| match chart.kind {
        Kind::Bars => figure(system, name),
        _ => measurement.series(&system.name, name).is_some(),
    };
    curve::systems(measurement, chart).iter().any(|system| chart.series.iter().any(|name| is_said(system, name)))
}

pub fn draw(measurement: &Measurement, chart: &Chart, colours: &Colours) -> Picture {
    let curves = Curve::all(measurement, chart, colours);
    match chart.kind {
        Kind::Bars => bars::draw(measurement, chart, colours),
        _ if curves.is_empty() => Picture::nothing("No system reported any data for this."),
        Kind::Histogram => histogram_chart::draw(measurement, chart, &curves),
        Kind::Cumulative => cumulative::draw(measurement, chart, &curves),
        Kind::Lines => line_chart::draw(chart, &curves),
        Kind::Scatter => scatter::draw(chart, &curves),
        Kind::Triangles => triangles::draw(chart, &curves),
        Kind::Locus => locus::draw(measurement, &curves),
        Kind::Timeline => timeline::draw(chart, &curves),
    }
}
