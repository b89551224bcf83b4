//! The histogram reports what was recorded.
use pillion_histogram::{END_NS, Histogram, LINEAR_END_NS};
use std::sync::atomic::{AtomicBool, Ordering};

#[test]
fn empty_has_no_values() {
    let h = Histogram::new();
    assert_eq!((h.samples(), h.overruns()), (0, 0));
    assert_eq!([h.min_ns(), h.max_ns(), h.avg_ns(), h.last_ns(), h.p99_ns()], [None; 5]);
    assert_eq!(h.counts().count(), 0);
}

#[test]
fn values_of_a_known_series() {
    let h = Histogram::new();
    (1..=10_000).rev().for_each(|ns| h.record(ns));
    h.overrun(3);
    assert_eq!((h.samples(), h.overruns()), (10_000, 3));
    assert_eq!((h.min_ns(), h.max_ns(), h.avg_ns(), h.last_ns()), (Some(1), Some(10_000), Some(5_000), Some(1)));
    assert_eq!((h.quantile_ns(500_000), h.p99_ns(), h.p9999_ns()), (Some(5_009), Some(9_909), Some(9_999)));
    assert_eq!((h.quantile_ns(0), h.quantile_ns(u32::MAX)), (Some(9), Some(10_000)));
    assert_eq!(h.counts().map(|(_, n)| n).sum::<u64>(), 10_000);
    assert_eq!(h.counts().next(), Some((0, 9)));
}

#[test]
fn extremes_are_counted() {
    let h = Histogram::new();
    for ns in [0, LINEAR_END_NS - 1, LINEAR_END_NS, END_NS - 1, END_NS, u64::MAX] {
        h.record(ns);
    }
    assert_eq!(h.counts().map(|(_, n)| n).sum::<u64>(), 6);
    assert_eq!((h.min_ns(), h.max_ns()), (Some(0), Some(u64::MAX)));
}

#[test]
fn quantiles_are_close_to_the_exact_ones() {
    let mut seed = 1u64;
    let mut values: Vec<u64> = (0..20_000)
        .map(|_| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % 10u64.pow(1 + (seed >> 60) as u32 % 9)
        })
        .collect();
    let h = Histogram::new();
    values.iter().for_each(|&ns| h.record(ns));
    values.sort_unstable();
    for ppm in [1, 10_000, 250_000, 500_000, 900_000, 990_000, 999_900, 1_000_000] {
        let exact = values[(values.len() * ppm as usize).div_ceil(1_000_000) - 1];
        let told = h.quantile_ns(ppm).unwrap();
        assert!(told >= exact && told - exact <= (exact / 16).max(9), "{ppm}: {told} for {exact}");
    }
}

#[test]
fn a_reader_sees_at_least_the_samples_it_counted() {
    let (h, done) = (Histogram::new(), AtomicBool::new(false));
    std::thread::scope(|s| {
        s.spawn(|| {
            (0..300_000u64).for_each(|i| h.record(100 + i % 1_000));
            done.store(true, Ordering::Release);
        });
        let mut before = 0;
        while !done.load(Ordering::Acquire) {
            let samples = h.samples();
            assert!(samples >= before);
            before = samples;
            assert!(h.counts().map(|(_, n)| n).sum::<u64>() >= samples);
            if samples > 0 {
                assert!((100..1_100).contains(&h.min_ns().unwrap()) && h.max_ns() >= h.min_ns());
                assert!((100..1_100).contains(&h.p99_ns().unwrap()));
            }
        }
    });
    assert_eq!((h.samples(), h.min_ns(), h.max_ns()), (300_000, Some(100), Some(1_099)));
}
