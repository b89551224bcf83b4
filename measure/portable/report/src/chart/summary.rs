//! The numbers shown for each histogram.

use super::curve::Curve;
use crate::number::{plain, quantity};
use pillion_measure_data::{Histogram, Measurement};

/// Smallest, mean, 99th percentile, largest, and the number of samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// Smallest sample.
    pub min: f64,
    /// Mean.
    pub avg: f64,
    /// The value that 99 % of the samples do not exceed.
    pub p99: f64,
    /// Largest sample.
    pub max: f64,
    pub samples: u64,
}

/// Heads of the columns for [`Summary::cells`].
pub const HEADS: [&str; 5] = ["min", "avg", "p99", "max", "samples"];

impl Summary {
    /// The summary of a histogram, with the program's own figures where it reported them, because
    /// buckets may be wide.
    pub fn of(measurement: &Measurement, curve: &Curve, histogram: &Histogram) -> Summary {
        let told = |what: &str| told(measurement, curve, histogram, what);
        Summary {
            min: told("min").unwrap_or(histogram.min().unwrap_or(0) as f64),
            avg: told("avg").unwrap_or(histogram.mean()),
            p99: told("p99").unwrap_or(quantile(measurement, curve, histogram, 0.99)),
            max: quantile(measurement, curve, histogram, 1.0),
            samples: histogram.samples(),
        }
    }

    /// The cells of a table row.
    pub fn cells(&self, unit: &str) -> Vec<String> {
        let values = [self.min, self.avg, self.p99, self.max].map(|value| quantity(value, unit));
        values.into_iter().chain([plain(self.samples as f64)]).collect()
    }
}

/// The program's own figure of a histogram.
fn told(measurement: &Measurement, curve: &Curve, histogram: &Histogram, what: &str) -> Option<f64> {
    let figure = measurement.figure(&curve.system.name, &format!("{}_{what}", curve.series))?;
    (figure.unit == histogram.unit).then_some(figure.value)
}

/// The value that a fraction of the samples does not exceed; it is limited to the maximum that the
/// program reported, which may lie within the last bucket.
pub fn quantile(measurement: &Measurement, curve: &Curve, histogram: &Histogram, part: f64) -> f64 {
    let end = histogram.quantile(part).unwrap_or(0) as f64;
    match told(measurement, curve, histogram, "max") {
        Some(max) if part >= 1.0 => max,
        Some(max) => end.min(max),
        None => end,
    }
}
