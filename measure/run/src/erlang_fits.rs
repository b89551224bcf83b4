//! Fits distributions to the histograms that programs reported: adds figures of the fit, and its
//! curve as points beside the histogram.

use pillion_measure_data::Data;
use pillion_measure_data::erlang::{Erlang, STEPS};
use pillion_measure_data::lines::Readings;

/// Adds the fits of a system's histograms, unless the system reported them itself, too few samples
/// are distinct, or the histogram's buckets hold several values each.
pub fn add(readings: &mut Readings, names: &[String]) {
    for name in names {
        let curve = format!("{name}_erlang");
        let Some(Data::Histogram(histogram)) = readings.series.get(name) else { continue };
        let Some(fit) = Erlang::by_likelihood(histogram).filter(|_| !readings.series.contains_key(&curve)) else {
            continue;
        };
        let rounded = |value: f64| (value * 1e3).round() / 1e3;
        for (what, value, unit) in fit.figures(histogram, &histogram.unit) {
            readings.figures.insert(format!("{curve}_{what}"), (rounded(value), unit.into()));
        }
        let points = fit.curve(histogram, STEPS);
        readings.series.insert(curve, Data::Points(points));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fitted(text: &str) -> Readings {
        let mut readings = Readings::default();
        readings.read(text, "");
        add(&mut readings, &["irt".into()]);
        readings
    }

    #[test]
    fn a_histogram_gets_a_curve_and_figures() {
        let readings = fitted(
            "histogram irt ns 10:512 11:256 12:128 13:64 14:32 15:16 16:8 17:4 18:2 19:1 20:1 21:1 22:1 23:1 24:1 25:1 26:1 27:1 28:1 29:1",
        );
        let Data::Histogram(histogram) = &readings.series["irt"] else { panic!("{readings:?}") };
        let fit = Erlang::by_likelihood(histogram).unwrap();
        assert_eq!(readings.figures["irt_erlang_k"], (f64::from(fit.stages), "1".into()));
        assert_eq!(readings.figures["irt_erlang_mean"].1, "ns");
        assert_eq!(readings.series["irt_erlang"], Data::Points(fit.curve(histogram, STEPS)));
    }

    #[test]
    fn what_cannot_be_fitted_or_was_is_left() {
        assert!(!fitted("histogram irt ns 10:5").series.contains_key("irt_erlang"));
        assert!(fitted("figure irt 1 ns").series.is_empty());
        let buckets = |width| (0..40).map(|at| format!(" {}+{width}:{}", 64 * at, 41 - at)).collect::<String>();
        assert!(fitted(&format!("histogram irt ns{}", buckets(1))).series.contains_key("irt_erlang"));
        assert!(!fitted(&format!("histogram irt ns{}", buckets(64))).series.contains_key("irt_erlang"));
        let readings = fitted("histogram irt ns 10:5 11:3\npoints irt_erlang ns 1 10:4");
        assert!(readings.figures.is_empty());
    }
}
