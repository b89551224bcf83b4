//! Erlang distributions fitted to latencies.
//!
//! The time to pass `k` stations one after the other, with an exponentially distributed wait at
//! each, is Erlang distributed. Heursch (2006, 3.5.1 and 3.6.4) fits this distribution to interrupt
//! latencies: his `k` and `µ` are [`stages`](Erlang::stages) and the reciprocal of
//! [`mean`](Erlang::mean) here. The [`offset`](Erlang::offset) is an addition, fitted like the
//! others: it is not the smallest time that was seen.

mod likelihood;

use crate::{Bucket, Histogram, Points};
use likelihood::Search;

/// The fewest distinct values to which a distribution is fitted: the fit has three parameters, and
/// many curves match a few bars.
const LEAST_VALUES: usize = 20;
/// The most stages that a fit tries. With more, the curve hardly differs from a normal
/// distribution, which has no stages.
const MOST_STAGES: u32 = 64;
/// Number of steps in which a report draws a curve.
pub const STEPS: u32 = 120;
/// A sample stands for half a unit to either side, so no sample is as small as the offset.
const HALF: f64 = 0.5;

/// An Erlang distribution that starts at an offset.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Erlang {
    /// Number of stations, the shape; 1 is the exponential distribution.
    pub stages: u32,
    /// Mean of the time above the offset.
    pub mean: f64,
    /// Start of the curve: nothing arrives earlier. At least half a unit below the smallest sample.
    pub offset: f64,
}

impl Erlang {
    /// The distribution with at most `MOST_STAGES` stages that maximises the likelihood of the
    /// samples. `None` if fewer than `LEAST_VALUES` of them are distinct, or if only their
    /// buckets are known, not their values.
    pub fn by_likelihood(samples: &Histogram) -> Option<Erlang> {
        let are_known = samples.buckets.iter().all(|bucket| bucket.width == 1);
        let search = Search::of(samples).filter(|_| are_known && samples.buckets.len() >= LEAST_VALUES)?;
        let fits = (1..=MOST_STAGES).map(|stages| search.best(stages));
        fits.max_by(|one, other| one.1.total_cmp(&other.1)).map(|(fit, _)| fit)
    }

    /// Probability density at `time`.
    #[must_use]
    fn density(&self, time: f64) -> f64 {
        let time = time - self.offset;
        if time < 0.0 || (time == 0.0 && self.stages > 1) {
            return 0.0;
        }
        self.ln_density(time).exp()
    }

    /// Probability of a time up to `time`.
    pub fn cumulative(&self, time: f64) -> f64 {
        let passed = self.rate() * (time - self.offset);
        if passed <= 0.0 {
            return 0.0;
        }
        // The probability that fewer than `stages` Poisson arrivals have come; in logarithms,
        // because exp(-passed) alone may underflow.
        let mut ln_term = -passed;
        let mut fewer = ln_term.exp();
        for stage in 1..self.stages {
            ln_term += (passed / f64::from(stage)).ln();
            fewer += ln_term.exp();
        }
        1.0 - fewer.min(1.0)
    }

    /// The Kolmogorov-Smirnov distance: the largest difference between the samples' distribution
    /// and this one, 0 to 1.
    pub fn distance(&self, histogram: &Histogram) -> f64 {
        let all = histogram.samples().max(1) as f64;
        let mut below = 0;
        histogram.buckets.iter().fold(0.0, |distance: f64, bucket| {
            let before = (self.cumulative(low(bucket)) - below as f64 / all).abs();
            below = bucket.count.saturating_add(below);
            let behind = (self.cumulative(high(bucket)) - below as f64 / all).abs();
            distance.max(before).max(behind)
        })
    }

    /// What a report tells of the fit to samples in that unit: name, value and unit.
    pub fn figures<'a>(&self, histogram: &Histogram, unit: &'a str) -> [(&'static str, f64, &'a str); 4] {
        [
            ("k", f64::from(self.stages), "1"),
            ("mean", self.mean, unit),
            ("offset", self.offset, unit),
            ("distance", self.distance(histogram), "1"),
        ]
    }

    /// The curve over a histogram: expected samples per unit of time, at `steps + 1` places.
    pub fn curve(&self, histogram: &Histogram, steps: u32) -> Points {
        let from = self.offset;
        let to = histogram.max().map_or(from, |max| max as f64);
        let at = |step: u32| from + (to - from) * f64::from(step) / f64::from(steps.max(1));
        let samples = histogram.samples() as f64;
        let points = (0..=steps).map(|step| (at(step), self.density(at(step)) * samples)).collect();
        Points { x_unit: histogram.unit.clone(), y_unit: "1".into(), points }
    }

    /// Stages passed per unit of time.
    fn rate(&self) -> f64 {
        f64::from(self.stages) / self.mean
    }

    /// Logarithm of the density at a time relative to the offset.
    fn ln_density(&self, above: f64) -> f64 {
        let more = f64::from(self.stages - 1);
        let ln_powers = if self.stages == 1 { 0.0 } else { more * (self.rate() * above).ln() };
        self.rate().ln() + ln_powers - ln_factorial(self.stages - 1) - self.rate() * above
    }
}

fn ln_factorial(number: u32) -> f64 {
    (2..=number).map(|factor| f64::from(factor).ln()).sum()
}

fn least(histogram: &Histogram) -> Option<f64> {
    histogram.buckets.first().map(Bucket::middle)
}

fn low(bucket: &Bucket) -> f64 {
    bucket.low as f64 - HALF
}

fn high(bucket: &Bucket) -> f64 {
    bucket.last() as f64 + HALF
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Samples of a known distribution: sums of exponential times, from a fixed seed.
    fn samples(known: Erlang, count: usize) -> Histogram {
        let mut state = 1_u64;
        let mut uniform = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
        };
        let mut one = || {
            let waited: f64 = (0..known.stages).map(|_| -uniform().ln() / known.rate()).sum();
            (known.offset + waited).round() as u64
        };
        Histogram::of("ns", (0..count).map(|_| one()))
    }

    fn near(value: f64, known: f64, part: f64) -> bool {
        (value - known).abs() <= known.abs() * part
    }

    #[test]
    fn likelihood_finds_the_distribution_that_made_the_samples() {
        for stages in [1, 2, 3, 5] {
            let known = Erlang { stages, mean: 900.0, offset: 6_500.0 };
            let histogram = samples(known, 10_000);
            let fit = Erlang::by_likelihood(&histogram).unwrap();
            assert_eq!(fit.stages, stages, "{fit:?}");
            assert!(near(fit.mean, 900.0, 0.03) && near(fit.offset, 6_500.0, 0.005), "{fit:?}");
            assert!(fit.distance(&histogram) < 0.015, "{}", fit.distance(&histogram));
        }
    }

    #[test]
    fn counts_that_a_file_forged_are_survived() {
        let mut forged = samples(Erlang { stages: 2, mean: 900.0, offset: 6_500.0 }, 100);
        forged.buckets.iter_mut().for_each(|bucket| bucket.count = u64::MAX);
        let fits = [Erlang::by_likelihood(&forged), Some(Erlang { stages: 1, mean: 900.0, offset: 0.0 })];
        fits.into_iter().flatten().for_each(|fit| assert!(fit.distance(&forged) >= 0.0));
    }

    /// 60 samples that scipy 1.17.1 drew from the Erlang distribution with 3 stages and a mean of
    /// 300 above 1,000.
    const DRAWN: [u64; 60] = [
        1060, 1070, 1072, 1083, 1090, 1109, 1134, 1148, 1154, 1162, 1163, 1164, 1173, 1183, 1195, 1197, 1198, 1201,
        1209, 1220, 1221, 1228, 1232, 1234, 1237, 1239, 1242, 1264, 1272, 1309, 1320, 1327, 1328, 1337, 1350, 1355,
        1362, 1366, 1371, 1377, 1380, 1383, 1394, 1402, 1408, 1425, 1442, 1455, 1486, 1489, 1521, 1530, 1541, 1547,
        1549, 1563, 1613, 1617, 1752, 1780,
    ];

    #[test]
    fn the_fit_is_that_of_another_program() {
        // scipy.stats.erlang.logpdf, maximised by scipy.optimize.minimize_scalar over the offset
        // for each number of stages; kstest.
        let samples = Histogram::of("ns", DRAWN);
        let fit = Erlang::by_likelihood(&samples).unwrap();
        assert_eq!(fit.stages, 3);
        assert!((fit.offset - 1_011.700).abs() < 0.2 && (fit.mean - 308.850).abs() < 0.2, "{fit:?}");
        assert!((fit.offset + fit.mean - samples.mean()).abs() < 1e-9);
        assert!((fit.distance(&samples) - 0.0756).abs() < 0.01, "{}", fit.distance(&samples));
    }

    #[test]
    fn few_values_and_buckets_are_not_fitted() {
        let of = |values: u64| Histogram::of("ns", (0..1_000).map(|at| 500 + at % values));
        assert_eq!(Erlang::by_likelihood(&of(LEAST_VALUES as u64 - 1)), None);
        assert!(Erlang::by_likelihood(&of(LEAST_VALUES as u64)).is_some());
        let mut gathered = of(100);
        gathered.buckets[99].width = 64;
        assert_eq!(Erlang::by_likelihood(&gathered), None);
        assert_eq!(Erlang::by_likelihood(&Histogram::default()), None);
    }

    #[test]
    fn a_wrong_distribution_is_told_by_its_distance() {
        let histogram = samples(Erlang { stages: 1, mean: 1_000.0, offset: 0.0 }, 10_000);
        let wrong = Erlang { stages: 9, mean: 1_000.0, offset: 0.0 };
        assert!(wrong.distance(&histogram) > 0.2);
        assert_eq!(Erlang { offset: 1e9, ..wrong }.distance(&histogram), 1.0);
    }

    #[test]
    fn density_and_cumulative_belong_together() {
        let two = Erlang { stages: 2, mean: 2.0, offset: 1.0 };
        assert!(near(two.density(3.0), 2.0 * (-2.0_f64).exp(), 1e-12));
        assert!(near(two.cumulative(3.0), 1.0 - 3.0 * (-2.0_f64).exp(), 1e-12));
        assert_eq!((two.density(1.0), two.density(0.5), two.cumulative(1.0)), (0.0, 0.0, 0.0));
        let many = Erlang { stages: 60, mean: 5.0, offset: 2.0 };
        let step = 0.001;
        let sum: f64 = (0..6_000).map(|at| many.density(2.0 + (f64::from(at) + 0.5) * step) * step).sum();
        assert!(near(sum, many.cumulative(8.0), 1e-6), "{sum}");
        assert!(near(many.cumulative(1e6), 1.0, 1e-12));
    }

    #[test]
    fn the_curve_stands_for_all_samples() {
        let known = Erlang { stages: 3, mean: 300.0, offset: 1_000.0 };
        let histogram = samples(known, 5_000);
        let curve = known.curve(&histogram, 400).points;
        let width = curve[1].0 - curve[0].0;
        assert_eq!(curve.len(), 401);
        assert!(near(curve.iter().map(|point| point.1 * width).sum(), 5_000.0, 0.01));
    }
}
