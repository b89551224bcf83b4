//! The search for the likeliest Erlang distribution.

use super::{Erlang, HALF, least, ln_factorial};
use crate::{Bucket, Histogram};

/// Number of offsets tried first.
const COARSE: u32 = 48;
/// Steps of the search around the best of them; each step keeps 62 % of the interval.
const FINE: u32 = 24;

/// A search for the likeliest distribution. For a given offset and number of stages, the likeliest
/// one has the samples' mean, so the search is only over the offset: over the logarithm of its
/// distance below the smallest sample.
pub struct Search<'a> {
    histogram: &'a Histogram,
    least: f64,
    mean: f64,
    /// Distances tried first, each with the mean logarithm of how far samples lie above it.
    coarse: Vec<(f64, f64)>,
}

impl<'a> Search<'a> {
    /// Starts a search; `None` if there are no samples.
    pub fn of(histogram: &'a Histogram) -> Option<Search<'a>> {
        let least = least(histogram)?;
        let mut search = Search { histogram, least, mean: histogram.mean(), coarse: Vec::new() };
        let (from, to) = (HALF.ln(), least.max(1.0).ln());
        let distances = (0..=COARSE).map(|at| from + (to - from) * f64::from(at) / f64::from(COARSE));
        search.coarse = distances.map(|distance| (distance, search.mean_ln(distance))).collect();
        Some(search)
    }

    /// The likeliest distribution with that many stages, and its likelihood.
    pub fn best(&self, stages: u32) -> (Erlang, f64) {
        let at = |distance: f64| self.likelihood(stages, distance, self.mean_ln(distance));
        let coarse = self.coarse.iter().map(|&(distance, ln)| (distance, self.likelihood(stages, distance, ln)));
        let coarse = coarse.max_by(|one, other| one.1.total_cmp(&other.1)).unwrap_or_default();
        let step = self.coarse[1].0 - self.coarse[0].0;
        let (first, last) = (self.coarse[0].0, self.coarse[COARSE as usize].0);
        let fine = highest((coarse.0 - step).max(first), (coarse.0 + step).min(last), at);
        let (distance, likelihood) = if fine.1 > coarse.1 { fine } else { coarse };
        let offset = self.least - distance.exp();
        (Erlang { stages, mean: self.mean - offset, offset }, likelihood)
    }

    /// Mean logarithm of a sample's likelihood.
    fn likelihood(&self, stages: u32, distance: f64, mean_ln: f64) -> f64 {
        let mean = self.mean - self.least + distance.exp();
        let (stages, more) = (f64::from(stages), stages - 1);
        stages * (stages / mean).ln() + f64::from(more) * mean_ln - ln_factorial(more) - stages
    }

    fn mean_ln(&self, distance: f64) -> f64 {
        let offset = self.least - distance.exp();
        let each = |bucket: &Bucket| (bucket.middle() - offset).ln() * bucket.count as f64;
        self.histogram.buckets.iter().map(each).sum::<f64>() / self.histogram.samples() as f64
    }
}

/// The maximum of a function with a single peak between two places, and its value, by
/// golden-section search.
fn highest(mut from: f64, mut to: f64, function: impl Fn(f64) -> f64) -> (f64, f64) {
    let golden = (5_f64.sqrt() - 1.0) / 2.0;
    let place = |at: f64| (at, function(at));
    let (mut lower, mut upper) = (place(to - golden * (to - from)), place(from + golden * (to - from)));
    for _ in 0..FINE {
        if lower.1 > upper.1 {
            to = upper.0;
            upper = lower;
            lower = place(to - golden * (to - from));
        } else {
            from = lower.0;
            lower = upper;
            upper = place(from + golden * (to - from));
        }
    }
    if lower.1 > upper.1 { lower } else { upper }
}
