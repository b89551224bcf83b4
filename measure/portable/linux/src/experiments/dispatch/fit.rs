//! The Erlang distribution fitted to a histogram: its figures, and its curve.

use crate::findings::Findings;
use pillion_measure_data::Histogram;
use pillion_measure_data::erlang::Erlang;

/// Number of steps in which the curve is drawn.
const STEPS: u32 = 120;

/// Reports the fit of samples, if there are enough distinct ones.
pub fn tell(findings: &mut Findings, name: &str, samples: &[u64]) {
    let histogram = Histogram::of("ns", samples.iter().copied());
    let Some(fit) = Erlang::by_likelihood(&histogram) else { return };
    findings.told(&format!("{name}_erlang_k"), fit.stages.into(), "1");
    findings.told(&format!("{name}_erlang_mean"), fit.mean, "ns");
    findings.told(&format!("{name}_erlang_offset"), fit.offset, "ns");
    findings.told(&format!("{name}_erlang_distance"), fit.distance(&histogram), "1");
    findings.points(&format!("{name}_erlang"), "ns", "1", fit.curve(&histogram, STEPS).points);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exponential_distribution_has_one_stage() {
        let samples: Vec<u64> =
            (1..2000).map(|rank| (-(f64::from(rank) / 2000.0).ln() * 1000.0) as u64 + 300).collect();
        let mut findings = Findings::default();
        tell(&mut findings, "irt", &samples);
        assert_eq!(findings.value("irt_erlang_k"), Some(1.0));
        assert!((findings.value("irt_erlang_mean").unwrap() - 1000.0).abs() < 20.0);
        tell(&mut findings, "same", &[7, 7, 7]);
        assert_eq!(findings.value("same_erlang_k"), None);
    }
}
