//! The findings of an experiment.

use pillion_measure_data::erlang::{Erlang, STEPS};
use pillion_measure_data::{Bucket, Data, Direction, Figure, Histogram, Points, Series, lines};

/// Figures, histograms and points of one experiment, and the reasons if they may not be used.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    /// Single numbers, in the order in which they are shown, without their system.
    pub figures: Vec<Figure>,
    /// Histograms and points, without their system.
    pub series: Vec<Series>,
    /// Why the run is invalid.
    pub disturbances: Vec<String>,
}

impl Findings {
    /// Adds a number; less is better.
    pub fn smaller(&mut self, name: &str, value: f64, unit: &'static str) {
        self.figure(name, value, unit, Direction::Smaller);
    }

    /// Adds a number; more is better.
    pub fn larger(&mut self, name: &str, value: f64, unit: &'static str) {
        self.figure(name, value, unit, Direction::Larger);
    }

    /// Adds a number for information only.
    pub fn told(&mut self, name: &str, value: f64, unit: &'static str) {
        self.figure(name, value, unit, Direction::None);
    }

    fn figure(&mut self, name: &str, value: f64, unit: &'static str, direction: Direction) {
        let (name, value, unit) = (name.into(), rounded(value), unit.into());
        self.figures.push(Figure { name, value, unit, direction, ..Figure::default() });
    }

    fn add(&mut self, name: &str, data: Data) {
        self.series.push(Series { system: String::new(), name: name.into(), data });
    }

    /// Adds a histogram of samples and its figures: minimum, mean, 99 %, maximum and number.
    pub fn histogram(&mut self, name: &str, unit: &'static str, samples: &[u64]) {
        let exact = self.summary(name, unit, samples);
        self.add(name, Data::Histogram(coarser(&exact)));
    }

    /// Adds the same with a bucket for each value, so that a distribution can be fitted.
    pub fn samples(&mut self, name: &str, unit: &'static str, samples: &[u64]) {
        let exact = self.summary(name, unit, samples);
        self.add(name, Data::Histogram(exact));
    }

    /// Adds the Erlang distribution fitted to samples, if enough of them are distinct.
    pub fn erlang(&mut self, name: &str, unit: &'static str, samples: &[u64]) {
        let histogram = Histogram::of(unit, samples.iter().copied());
        let Some(fit) = Erlang::by_likelihood(&histogram) else { return };
        for (what, value, unit) in fit.figures(&histogram, unit) {
            self.told(&format!("{name}_erlang_{what}"), value, unit);
        }
        self.points(&format!("{name}_erlang"), unit, "1", fit.curve(&histogram, STEPS).points);
    }

    /// Adds minimum, mean and maximum of samples; returns the mean.
    pub fn extremes(&mut self, name: &str, unit: &'static str, samples: &[u64]) -> f64 {
        let mean = mean(samples);
        self.smaller(&format!("{name}_min"), samples.iter().min().copied().unwrap_or(0) as f64, unit);
        self.smaller(&format!("{name}_avg"), mean, unit);
        self.smaller(&format!("{name}_max"), samples.iter().max().copied().unwrap_or(0) as f64, unit);
        mean
    }

    fn summary(&mut self, name: &str, unit: &'static str, samples: &[u64]) -> Histogram {
        let exact = Histogram::of(unit, samples.iter().copied());
        self.smaller(&format!("{name}_min"), exact.min().unwrap_or(0) as f64, unit);
        self.smaller(&format!("{name}_avg"), exact.mean(), unit);
        self.smaller(&format!("{name}_p99"), exact.quantile(0.99).unwrap_or(0) as f64, unit);
        self.smaller(&format!("{name}_max"), exact.max().unwrap_or(0) as f64, unit);
        self.told(&format!("{name}_samples"), samples.len() as f64, "1");
        exact
    }

    pub fn points(&mut self, name: &str, x_unit: &str, y_unit: &str, points: Vec<(f64, f64)>) {
        let points = points.into_iter().map(|(x, y)| (rounded(x), rounded(y))).collect();
        let points = Points { x_unit: x_unit.into(), y_unit: y_unit.into(), points };
        self.add(name, Data::Points(points));
    }

    /// Reports why the run is invalid.
    pub fn disturbed(&mut self, reason: impl Into<String>) {
        self.disturbances.push(reason.into());
    }

    /// The number with that name.
    #[cfg(test)]
    pub fn value(&self, name: &str) -> Option<f64> {
        self.figures.iter().find(|found| found.name == name).map(|found| found.value)
    }

    /// The findings as lines. A disturbed run reports only why.
    pub fn lines(&self) -> String {
        if !self.disturbances.is_empty() {
            return self.disturbances.iter().map(|reason| format!("invalid {reason}\n")).collect();
        }
        let figures = self.figures.iter().map(|found| lines::figure(&found.name, found.value, &found.unit));
        let series = self.series.iter().map(|Series { name, data, .. }| match data {
            Data::Histogram(histogram) => lines::histogram(name, histogram),
            Data::Points(points) => lines::points(name, points),
        });
        figures.chain(series).collect()
    }
}

/// The mean of samples; zero if there are none.
pub fn mean(samples: &[u64]) -> f64 {
    samples.iter().sum::<u64>() as f64 / samples.len().max(1) as f64
}

/// Rounds to three decimals: more would be noise, and make lines long.
fn rounded(value: f64) -> f64 {
    // Adding zero turns negative zero, such as an empty sum, into zero.
    (value * 1e3).round() / 1e3 + 0.0
}

/// Larger values share buckets.
const EXACT_BELOW: u64 = 4096;

/// The same histogram with buckets of about 1 % from [`EXACT_BELOW`] on: widths are powers of two,
/// 64 to 128 in each doubling.
fn coarser(exact: &Histogram) -> Histogram {
    let mut histogram = Histogram { unit: exact.unit.clone(), buckets: Vec::new() };
    for bucket in &exact.buckets {
        let width = width_at(bucket.low);
        histogram.add(Bucket { low: bucket.low / width * width, width, count: bucket.count });
    }
    histogram
}

fn width_at(value: u64) -> u64 {
    if value < EXACT_BELOW { 1 } else { 1 << (value.ilog2() - 6) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_brings_its_figures() {
        let mut findings = Findings::default();
        findings.histogram("latency", "ns", &[3, 1, 10_000, 10_001]);
        assert_eq!(findings.value("latency_min"), Some(1.0));
        assert_eq!(findings.value("latency_avg"), Some(5001.25));
        assert_eq!(findings.value("latency_max"), Some(10_001.0));
        assert_eq!(findings.value("latency_samples"), Some(4.0));
        let Data::Histogram(histogram) = &findings.series[0].data else { panic!("{findings:?}") };
        assert_eq!(histogram.buckets.last().unwrap(), &Bucket { low: 9984, width: 128, count: 2 });
    }

    #[test]
    fn samples_keep_their_values() {
        let mut findings = Findings::default();
        findings.samples("irt", "ns", &[10_001, 10_000, 10_001]);
        assert_eq!((findings.value("irt_min"), findings.value("irt_samples")), (Some(10_000.0), Some(3.0)));
        assert_eq!(findings.series[0].data, Data::Histogram(Histogram::of("ns", [10_000, 10_001, 10_001])));
    }

    #[test]
    fn buckets_are_about_a_per_cent_wide() {
        assert_eq!((width_at(4095), width_at(4096), width_at(8191), width_at(1 << 20)), (1, 64, 64, 1 << 14));
    }

    #[test]
    fn a_disturbed_run_says_no_number() {
        let mut findings = Findings::default();
        findings.smaller("a", 1.23456, "ns");
        assert_eq!(findings.lines(), "figure a 1.235 ns\n");
        findings.disturbed("steal time grew");
        assert_eq!(findings.lines(), "invalid steal time grew\n");
    }

    #[test]
    fn an_exponential_distribution_has_one_stage() {
        let samples: Vec<u64> =
            (1..2000).map(|rank| (-(f64::from(rank) / 2000.0).ln() * 1000.0) as u64 + 300).collect();
        let mut findings = Findings::default();
        findings.erlang("irt", "ns", &samples);
        assert_eq!(findings.value("irt_erlang_k"), Some(1.0));
        assert!((findings.value("irt_erlang_mean").unwrap() - 1000.0).abs() < 20.0);
        findings.erlang("same", "ns", &[7, 7, 7]);
        assert_eq!(findings.value("same_erlang_k"), None);
    }
}
