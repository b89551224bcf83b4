//! Gathers buckets of any width into columns of a drawing.

use crate::draw::axis::nice;
use crate::draw::scale::Range;
use pillion_measure_data::Histogram;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The most columns of a histogram.
const MOST: f64 = 280.0;

/// Columns of equal width, or each wider than the one before by the same factor.
#[derive(Clone, Copy, Debug)]
pub struct Columns {
    log: bool,
    low: f64,
    step: f64,
}

impl Columns {
    /// Columns for histograms over a range. A linear column holds a whole number of the usual
    /// buckets; otherwise some columns would hold more of them than others.
    pub fn new(range: &Range, histograms: &[&Histogram]) -> Columns {
        if range.log {
            return Columns { log: true, low: range.low.ln(), step: (range.high.ln() - range.low.ln()) / MOST };
        }
        let bucket = histograms.iter().map(|histogram| usual(histogram)).max().unwrap_or(1) as f64;
        let step = bucket * nice(((range.high - range.low) / MOST / bucket).max(1.0));
        Columns { log: false, low: (range.low / step).floor() * step, step }
    }

    /// Left edge of a column.
    pub fn start(&self, column: i64) -> f64 {
        let place = self.low + self.step * column as f64;
        if self.log { place.exp() } else { place }
    }

    /// Width of the column that contains a value.
    pub fn width(&self, value: f64) -> f64 {
        if self.log { value * self.step.exp_m1() } else { self.step }
    }

    /// Width of all columns; `None` if they differ.
    pub fn equal(&self) -> Option<f64> {
        (!self.log).then_some(self.step)
    }

    /// Samples in each column that has any. A bucket wider than a column is spread evenly, with at
    /// least one sample in each column.
    pub fn counts(&self, histogram: &Histogram) -> BTreeMap<i64, f64> {
        let mut counts = BTreeMap::new();
        for bucket in &histogram.buckets {
            let (low, high) = (self.place(bucket.low as f64), self.place(bucket.low as f64 + bucket.width as f64));
            let (first, over) = (low.floor() as i64, (high - low).round().max(1.0));
            for column in first..first + over as i64 {
                *counts.entry(column).or_insert(0.0) += (bucket.count as f64 / over).max(1.0);
            }
        }
        counts
    }

    /// The position of a value, in columns from the left edge of the first one, which also takes
    /// smaller values.
    fn place(&self, value: f64) -> f64 {
        let value = if self.log { value.max(f64::MIN_POSITIVE).ln() } else { value };
        ((value - self.low) / self.step).clamp(0.0, MOST * 2.0)
    }
}

/// The most frequent bucket width.
fn usual(histogram: &Histogram) -> u64 {
    let mut widths = BTreeMap::new();
    histogram.buckets.iter().for_each(|bucket| *widths.entry(bucket.width).or_insert(0) += 1);
    widths.into_iter().max_by_key(|(width, buckets)| (*buckets, Reverse(*width))).map_or(1, |(width, _)| width)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_hold_whole_buckets() {
        let buckets = (0..1000).map(|n| (n * 10, 10, 2).into()).collect();
        let histogram = Histogram { unit: "ns".into(), buckets };
        let columns = Columns::new(&Range::between(0.0, 10_000.0, false), &[&histogram]);
        assert_eq!(columns.equal(), Some(50.0));
        let counts = columns.counts(&histogram);
        assert!(counts.len() == 200 && counts.values().all(|count| *count == 10.0));
    }

    #[test]
    fn wide_buckets_are_spread_and_never_vanish() {
        let histogram = Histogram {
            unit: "ns".into(),
            buckets: vec![(0, 1, 1).into(), (1, 1, 1).into(), (100, 40, 80).into(), (200, 40, 1).into()],
        };
        let columns = Columns::new(&Range::between(0.0, 280.0, false), &[&histogram]);
        let counts = columns.counts(&histogram);
        assert_eq!((counts[&0], counts[&100], counts[&139], counts[&200]), (1.0, 2.0, 2.0, 1.0));
        assert_eq!(counts.get(&140), None);
    }

    #[test]
    fn logarithmic_columns_grow() {
        let histogram = Histogram::of("ns", [0, 1, 10, 100_000]);
        let columns = Columns::new(&Range::between(1.0, 1e5, true), &[&histogram]);
        assert!((columns.start(56) - 10.0).abs() < 1e-9);
        assert!(columns.counts(&histogram).keys().all(|column| (0..=280).contains(column)));
        assert_eq!(columns.equal(), None);
    }
}
