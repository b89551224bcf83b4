//! Compares a piece of work on two machines.

use anyhow::{Context as _, Result};

/// A piece of work on both machines, in instructions.
#[derive(Debug)]
pub struct Comparison {
    /// Mean, Linux alone.
    pub alone: f64,
    /// Mean, riding.
    pub riding: f64,
    /// How much more, in per cent.
    pub more: f64,
    /// Standard error of `more`.
    pub error: f64,
    /// Instructions of Pillion's kernel in a round, in per cent of `alone`.
    pub kernel: f64,
}

/// Compares rounds: of each the instructions in all and those of Pillion's kernel.
pub fn compare(alone: &[[f64; 2]], riding: &[[f64; 2]]) -> Result<Comparison> {
    let totals = |rounds: &[[f64; 2]]| -> Vec<f64> { rounds.iter().map(|round| round[0]).collect() };
    let (without, without_error) = mean(&totals(alone)).context("it did not run alone")?;
    let (with, with_error) = mean(&totals(riding)).context("it did not run riding")?;
    let kernel: Vec<f64> = riding.iter().map(|round| round[1]).collect();
    let percent = |part: f64| 100.0 * part / without;
    Ok(Comparison {
        alone: without,
        riding: with,
        more: percent(with - without),
        error: percent(without_error.hypot(with_error)),
        kernel: percent(mean(&kernel).map_or(0.0, |(mean, _)| mean)),
    })
}

/// Mean and its standard error.
fn mean(values: &[f64]) -> Option<(f64, f64)> {
    let count = values.len() as f64;
    if values.is_empty() {
        return None;
    }
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let error = if values.len() > 1 { (squares / (count - 1.0) / count).sqrt() } else { 0.0 };
    Some((mean, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compares_means_and_knows_chance() {
        let alone = [[100.0, 0.0], [102.0, 0.0], [98.0, 0.0]];
        let riding = [[103.0, 1.0], [103.0, 1.0]];
        let compared = compare(&alone, &riding).unwrap();
        assert!((compared.more - 3.0).abs() < 1e-9 && (compared.kernel - 1.0).abs() < 1e-9);
        assert!((compared.error - 2.0 / 3f64.sqrt()).abs() < 1e-9, "{}", compared.error);
        assert!(compare(&alone, &[]).is_err());
    }
}
