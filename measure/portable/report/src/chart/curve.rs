//! What a chart draws: series of systems, each with a name and a look.

use crate::theme::{Colours, SLOTS};
use pillion_measure_data::{Chart, Data, Histogram, Measurement, Points, System};

/// A series of a system.
#[derive(Debug)]
pub struct Curve<'a> {
    /// The system.
    pub system: &'a System,
    /// The series' name.
    pub series: &'a str,
    /// Which of the chart's series it is.
    pub order: usize,
    /// The system's colour.
    pub slot: usize,
    /// Dashes: the system's, or the series' when the chart has several.
    pub dashes: usize,
    /// What it is called in this chart.
    pub label: String,
    data: &'a Data,
}

/// Systems that a chart shows, in their order. A chart that names a system shows it on each machine
/// of the model: NAME@MACHINE.
pub fn systems<'a>(measurement: &'a Measurement, chart: &Chart) -> Vec<&'a System> {
    let is_named =
        |system: &System| chart.systems.iter().any(|name| Some(name.as_str()) == system.name.split('@').next());
    let shown = |system: &&System| chart.systems.is_empty() || is_named(system);
    measurement.systems.iter().filter(shown).collect()
}

/// A name of a series or figure, for readers.
pub fn spoken(name: &str) -> String {
    name.replace('_', " ")
}

impl<'a> Curve<'a> {
    /// All that a chart draws, system by system.
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

    /// Its histogram, when it is one that has samples.
    pub fn histogram(&self) -> Option<&'a Histogram> {
        match self.data {
            Data::Histogram(histogram) if histogram.samples() > 0 => Some(histogram),
            _ => None,
        }
    }

    /// Its points, when it has any.
    pub fn points(&self) -> Option<&'a Points> {
        match self.data {
            Data::Points(points) if !points.points.is_empty() => Some(points),
            _ => None,
        }
    }

    /// Classes of its line.
    pub fn stroke(&self) -> String {
        format!("line l{} d{}", self.slot, self.dashes)
    }

    /// Class of its filling.
    pub fn fill(&self) -> String {
        format!("f{}", self.slot)
    }
}

/// Names each curve by what tells it apart: its system, its series, or both.
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
