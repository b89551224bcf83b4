//! Measurements in the order of the page: by experiment, with their charts drawn and numbered.

use crate::chart;
use crate::draw::Picture;
use crate::theme::Colours;
use pillion_measure_data::{Chart, Measurement};

/// The contents of the page.
#[derive(Debug)]
pub struct Report<'a> {
    /// Experiments, in the order in which they first appear.
    pub experiments: Vec<Experiment<'a>>,
    /// The colour of each system.
    pub colours: Colours,
}

/// All measurements of an experiment.
#[derive(Debug)]
pub struct Experiment<'a> {
    /// Its number, from 1.
    pub number: usize,
    /// The measurements: one or more for each instrument.
    pub parts: Vec<Part<'a>>,
}

/// A measurement with its charts.
#[derive(Debug)]
pub struct Part<'a> {
    pub measurement: &'a Measurement,
    /// Its charts; empty if it is invalid.
    pub figures: Vec<Figure<'a>>,
}

/// A drawn chart.
#[derive(Debug)]
pub struct Figure<'a> {
    /// Its number, `3.1`.
    pub number: String,
    /// Name of its files without the extension.
    pub file: String,
    /// What it shows.
    pub chart: &'a Chart,
    /// The drawing.
    pub picture: Picture,
}

impl<'a> Report<'a> {
    /// Sorts the measurements and draws their charts.
    pub fn of(measurements: &'a [Measurement]) -> Report<'a> {
        let colours = Colours::of(measurements);
        let mut experiments: Vec<Experiment> = Vec::new();
        for measurement in measurements {
            let known = experiments.iter_mut().find(|experiment| experiment.name() == measurement.experiment);
            match known {
                Some(experiment) => experiment.add(measurement, &colours),
                None => {
                    let mut experiment = Experiment { number: experiments.len() + 1, parts: Vec::new() };
                    experiment.add(measurement, &colours);
                    experiments.push(experiment);
                }
            }
        }
        Report { experiments, colours }
    }

    pub fn measurements(&self) -> impl Iterator<Item = &'a Measurement> {
        self.experiments.iter().flat_map(|experiment| &experiment.parts).map(|part| part.measurement)
    }

    /// Every chart, with the measurement that it belongs to.
    pub fn figures(&self) -> impl Iterator<Item = (&'a Measurement, &Figure<'a>)> {
        let parts = self.experiments.iter().flat_map(|experiment| &experiment.parts);
        parts.flat_map(|part| part.figures.iter().map(|figure| (part.measurement, figure)))
    }
}

impl<'a> Experiment<'a> {
    /// The first measurement, whose texts are used for all.
    pub fn first(&self) -> &'a Measurement {
        self.parts[0].measurement
    }

    fn name(&self) -> &str {
        self.parts.first().map_or("", |part| &part.measurement.experiment)
    }

    /// The anchor of its section.
    pub fn anchor(&self) -> String {
        format!("experiment-{}", self.number)
    }

    fn add(&mut self, measurement: &'a Measurement, colours: &Colours) {
        let before: usize = self.parts.iter().map(|part| part.figures.len()).sum();
        let charts: &[Chart] = if measurement.is_valid() { &measurement.charts } else { &[] };
        let figure = |(n, chart)| Figure {
            number: format!("{}.{}", self.number, before + n + 1),
            file: format!("{}-{}", file_name(&measurement.experiment), before + n + 1),
            chart,
            picture: chart::draw(measurement, chart, colours),
        };
        let drawn = charts.iter().filter(|chart| chart::has_data(measurement, chart));
        let figures = drawn.enumerate().map(figure).collect();
        self.parts.push(Part { measurement, figures });
    }
}

/// A name without characters that could lead out of the folder.
fn file_name(name: &str) -> String {
    name.chars().map(|letter| if letter.is_ascii_alphanumeric() || letter == '_' { letter } else { '-' }).collect()
}
