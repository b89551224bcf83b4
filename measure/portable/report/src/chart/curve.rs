//! The contents of a chart: series of systems, each with a name and a look.

use crate::theme::{Colours, SLOTS};
use pillion_measure_data::{Chart, Data, Histogram, Measurement, Points, System};

/// A series of a system.
#[derive(Debug)]
pub struct Curve<'a> {
    pub system: &'a System,
    pub series: &'a str,
    /// Index of the series in the chart.
    pub order: usize,
    /// The system's colour.
    pub slot: usize,
    /// Dashes: the system's, or the series' if the chart has several.
    pub dashes: usize,
    /// Its label in this chart.
    pub label: String,
    data: &'a Data,
}

/// The systems that a chart shows, in their order. If the chart names a system, the system appears
/// on each machine of the model: NAME@MACHINE.
pub fn systems<'a>(measurement: &'a Measurement, chart: &Chart) -> Vec<&'a System> {
    let is_named =
        |system: &System| chart.systems.iter().any(|name| Some(name.as_str()) == system.name.split('@').next());
    let shown = |system: &&System| chart.systems.is_empty() || is_named(system);
    measurement.systems.iter().filter(shown).collect()
}

/// The name of a series or figure as readers see it.
pub fn spoken(name: &str) -> String {
    name.replace('_', " ")
}

impl<'a> Curve<'a> {
    /// Everything that a chart draws, system by system.
    pub fn all(measurement: &'a Measurement, chart: &'a Chart, colours: &Colours) -> Vec<Curve<'a>> {
        let mut curves = Vec::new();
        for system in systems(measurement, chart) {
            for (order, series) in chart.series.iter().enumerate() {
                let Some(data) = measurement.series(&system.name, series) else { continue };
                let slot = colours.slot(&system.name);
                curves.push(Curve { system, series, order, slot, dashes: slot, label: String::new(), data });
            }
        }
        name(&mut curves);
        curves
    }

    /// Its histogram, if it has one with samples.
    pub fn histogram(&self) -> Option<&'a Histogram> {
        match self.data {
            Data::Histogram(histogram) if histogram.samples() > 0 => Some(histogram),
            _ => None,
        }
    }

    /// Its points, if it has any.
    pub fn points(&self) -> Option<&'a Points> {
        match self.data {
            Data::Points(points) if !points.points.is_empty() => Some(points),
            _ => None,
        }
    }

    /// CSS classes of its line.
    pub fn stroke(&self) -> String {
        format!("line l{} d{}", self.slot, self.dashes)
    }

    /// CSS class of its filling.
    pub fn fill(&self) -> String {
        format!("f{}", self.slot)
    }
}

/// Labels each curve with what distinguishes it: its system, its series, or both.
fn name(curves: &mut [Curve]) {
    let several_series = curves.iter().any(|curve| curve.order != curves[0].order);
    let several_systems = curves.iter().any(|curve| curve.system.name != curves[0].system.name);
    for curve in curves {
        curve.label = match (several_systems, several_series) {
            (_, false) => curve.system.title.clone(),
            (false, true) => spoken(curve.series),
            (true, true) => format!("{}: {}", curve.system.title, spoken(curve.series)),
        };
        if several_series {
            curve.dashes = curve.order % SLOTS;
        }
    }
}
