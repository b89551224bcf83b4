//! How often each value was seen.

use serde::{Deserialize, Serialize};

/// A histogram. Buckets are in ascending order, do not overlap, and are never empty.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
pub struct Histogram {
    /// Unit of the values.
    pub unit: String,
    /// The buckets, without empty ones.
    pub buckets: Vec<Bucket>,
}

/// Values from `low` up to, but not including, `low + width`.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(from = "(u64, u64, u64)", into = "(u64, u64, u64)")]
pub struct Bucket {
    /// Smallest value.
    pub low: u64,
    /// Number of values that it covers; at least 1.
    pub width: u64,
    /// Number of samples in it.
    pub count: u64,
}

impl From<(u64, u64, u64)> for Bucket {
    fn from((low, width, count): (u64, u64, u64)) -> Bucket {
        Bucket { low, width: width.max(1), count }
    }
}

impl From<Bucket> for (u64, u64, u64) {
    fn from(bucket: Bucket) -> (u64, u64, u64) {
        (bucket.low, bucket.width, bucket.count)
    }
}

impl Bucket {
    /// The middle value, which represents its samples.
    pub fn middle(&self) -> f64 {
        self.low as f64 + (self.width - 1) as f64 / 2.0
    }

    /// The largest value that it covers.
    pub fn last(&self) -> u64 {
        self.low.saturating_add(self.width - 1)
    }
}

impl Histogram {
    /// A histogram of samples, with a bucket for each value.
    pub fn of(unit: &str, samples: impl IntoIterator<Item = u64>) -> Histogram {
        let mut histogram = Histogram { unit: unit.into(), buckets: Vec::new() };
        let mut sorted: Vec<u64> = samples.into_iter().collect();
        sorted.sort_unstable();
        for value in sorted {
            match histogram.buckets.last_mut() {
                Some(last) if last.low == value => last.count += 1,
                _ => histogram.buckets.push(Bucket { low: value, width: 1, count: 1 }),
            }
        }
        histogram
    }

    /// Adds a bucket in its place. Counts of equal buckets add up.
    pub fn add(&mut self, bucket: Bucket) {
        if bucket.count == 0 {
            return;
        }
        match self.buckets.binary_search_by_key(&bucket.low, |bucket| bucket.low) {
            Ok(at) => {
                self.buckets[at].count = self.buckets[at].count.saturating_add(bucket.count);
                self.buckets[at].width = self.buckets[at].width.max(bucket.width);
            }
            Err(at) => self.buckets.insert(at, bucket),
        }
    }

    /// Number of samples; as many as can be counted if a file says more.
    pub fn samples(&self) -> u64 {
        self.buckets.iter().fold(0, |sum, bucket| sum.saturating_add(bucket.count))
    }

    /// Smallest value, to the precision of its bucket.
    pub fn min(&self) -> Option<u64> {
        self.buckets.first().map(|bucket| bucket.low)
    }

    /// Largest value, to the precision of its bucket.
    pub fn max(&self) -> Option<u64> {
        self.buckets.last().map(Bucket::last)
    }

    /// Mean of the samples; zero if there are none.
    pub fn mean(&self) -> f64 {
        let sum: f64 = self.buckets.iter().map(|bucket| bucket.middle() * bucket.count as f64).sum();
        sum / self.samples().max(1) as f64
    }

    /// The value that a fraction `part` of the samples, `0.0..=1.0`, does not exceed: the last
    /// value of its bucket.
    pub fn quantile(&self, part: f64) -> Option<u64> {
        let rank = (part.clamp(0.0, 1.0) * self.samples() as f64).ceil().max(1.0) as u64;
        let mut seen = 0_u64;
        self.buckets.iter().find_map(|bucket| {
            seen = seen.saturating_add(bucket.count);
            (seen >= rank).then(|| bucket.last())
        })
    }

    /// For each bucket, the fraction of samples that are as large or larger; it falls from 1.
    pub fn tail(&self) -> impl Iterator<Item = (u64, f64)> {
        let all = self.samples().max(1) as f64;
        let mut left = self.samples();
        self.buckets.iter().map(move |bucket| {
            let part = left as f64 / all;
            left = left.saturating_sub(bucket.count);
            (bucket.low, part)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_become_buckets() {
        let histogram = Histogram::of("ns", [5, 3, 5, 9]);
        assert_eq!(histogram.buckets.len(), 3);
        assert_eq!((histogram.samples(), histogram.min(), histogram.max()), (4, Some(3), Some(9)));
        assert_eq!(histogram.mean(), 5.5);
        assert_eq!(
            (histogram.quantile(0.0), histogram.quantile(0.75), histogram.quantile(1.0)),
            (Some(3), Some(5), Some(9))
        );
        let tail: Vec<(u64, f64)> = histogram.tail().collect();
        assert_eq!(tail, [(3, 1.0), (5, 0.75), (9, 0.25)]);
    }

    #[test]
    fn counts_beyond_what_can_be_counted_stay_there() {
        let mut histogram = Histogram { unit: "ns".into(), buckets: vec![(1, 1, u64::MAX).into(), (2, 1, 1).into()] };
        histogram.add((1, 1, 1).into());
        assert_eq!((histogram.samples(), histogram.quantile(1.0)), (u64::MAX, Some(1)));
        assert_eq!(histogram.tail().last(), Some((2, 0.0)));
    }

    #[test]
    fn buckets_are_kept_in_order_and_add_up() {
        let mut histogram = Histogram::default();
        for bucket in [(40, 10, 1), (8, 1, 2), (40, 10, 3), (20, 1, 0)] {
            histogram.add(bucket.into());
        }
        assert_eq!(histogram.buckets, [Bucket::from((8, 1, 2)), Bucket::from((40, 10, 4))]);
        assert_eq!(histogram.max(), Some(49));
        assert_eq!(Histogram::default().quantile(0.5), None);
    }
}
