//! The four numbers that are told of each histogram.

use super::curve::Curve;
use crate::number::{plain, quantity};
use pillion_measure_data::{Histogram, Measurement};

/// Smallest, mean, 99th percentile, largest, and how many there are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// Smallest sample.
    pub min: f64,
    /// Mean.
    pub avg: f64,
    /// What 99 % of the samples do not exceed.
    pub p99: f64,
    /// Largest sample.
    pub max: f64,
    /// Number of samples.
    pub samples: u64,
}

/// Heads of the columns in which [`Summary::cells`] stand.
pub const HEADS: [&str; 5] = ["min", "avg", "p99", "max", "samples"];

impl Summary {
    /// Of a histogram; the program's own figures where it said them, since buckets may be wide.
    pub fn of(measurement: &Measurement, curve: &Curve, histogram: &Histogram) -> Summary {
        let told = |what: &str, otherwise: f64| {
            let figure = measurement.figure(&curve.system.name, &format!("{}_{what}", curve.series));
            figure.filter(|figure| figure.unit == histogram.unit).map_or(otherwise, |figure| figure.value)
        };
        Summary {
            min: told("min", histogram.min().unwrap_or(0) as f64),
            avg: told("avg", histogram.mean()),
            p99: told("p99", histogram.quantile(0.99).unwrap_or(0) as f64),
            max: told("max", histogram.max().unwrap_or(0) as f64),
            samples: histogram.samples(),
        }
    }

    /// As they are written.
    pub fn cells(&self, unit: &str) -> Vec<String> {
        let values = [self.min, self.avg, self.p99, self.max].map(|value| quantity(value, unit));
        values.into_iter().chain([plain(self.samples as f64)]).collect()
    }
}
