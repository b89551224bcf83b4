//! Compares a piece of work on two machines.
//!
//! Rounds of one boot are not independent samples: they share what the boot has by chance (where
//! its pages lie, when its disk answered). The uncertainty is therefore estimated between boots:
//! each boot is one sample, the mean of its rounds.

use anyhow::{Context as _, Result, ensure};

/// A piece of work on both machines, in instructions.
#[derive(Debug)]
pub struct Comparison {
    /// Mean of Linux alone.
    pub alone: f64,
    /// Mean of Linux riding.
    pub riding: f64,
    /// Difference, in per cent.
    pub more: f64,
    /// Half the width of the 95 % confidence interval of `more`, by Student's distribution.
    pub chance: f64,
    /// Instructions of Pillion's kernel in a round, in per cent of `alone`.
    pub kernel: f64,
}

/// The rounds of a boot: for each, all instructions and those of Pillion's kernel.
pub type Rounds = Vec<[f64; 2]>;

/// Compares boots.
pub fn compare(alone: &[Rounds], riding: &[Rounds]) -> Result<Comparison> {
    let (without, with) = (means(alone, 0).context("alone")?, means(riding, 0).context("riding")?);
    let base = mean(&without);
    let percent = |part: f64| 100.0 * part / base;
    let error = mean_error(&without).hypot(mean_error(&with));
    Ok(Comparison {
        alone: base,
        riding: mean(&with),
        more: percent(mean(&with) - base),
        chance: percent(student(without.len() + with.len() - 2) * error),
        kernel: percent(mean(&means(riding, 1)?)),
    })
}

/// The mean of the rounds of each boot.
fn means(boots: &[Rounds], which: usize) -> Result<Vec<f64>> {
    ensure!(boots.len() > 1, "{} boots do not show how far boots differ: at least two are needed", boots.len());
    let of_boot = |rounds: &Rounds| rounds.iter().map(|round| round[which]).collect::<Vec<f64>>();
    ensure!(boots.iter().all(|rounds| !rounds.is_empty()), "the work did not run in each boot");
    Ok(boots.iter().map(|rounds| mean(&of_boot(rounds))).collect())
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Standard error of the mean.
fn mean_error(values: &[f64]) -> f64 {
    let (count, mean) = (values.len() as f64, mean(values));
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / (count - 1.0) / count).sqrt()
}

/// Number of standard errors to either side for 95 % confidence, given the degrees of freedom.
fn student(freedom: usize) -> f64 {
    const TO_TEN: [f64; 10] = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228];
    TO_TEN.get(freedom.saturating_sub(1)).copied().unwrap_or(2.2)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A boot whose rounds have these instructions, one per cent of them Pillion's.
    fn boot(rounds: &[f64]) -> Rounds {
        rounds.iter().map(|&all| [all, all / 100.0]).collect()
    }

    #[test]
    fn boots_are_the_samples() {
        let alone = [boot(&[99.0, 101.0]), boot(&[101.0, 103.0]), boot(&[97.0, 99.0])];
        let riding = [boot(&[103.0; 2]), boot(&[103.0; 2])];
        let compared = compare(&alone, &riding).unwrap();
        assert!((compared.more - 3.0).abs() < 1e-9 && (compared.kernel - 1.03).abs() < 1e-9);
        // Boots of 100, 102 and 98: a standard error of 2/sqrt(3), and three degrees of freedom.
        assert!((compared.chance - 3.182 * 2.0 / 3f64.sqrt()).abs() < 1e-9, "{}", compared.chance);
    }

    #[test]
    fn more_rounds_of_a_boot_do_not_make_it_surer() {
        let few = [boot(&[100.0; 2]), boot(&[104.0; 2])];
        let many = [boot(&[100.0; 50]), boot(&[104.0; 50])];
        let chance = |boots: &[Rounds]| compare(boots, boots).unwrap().chance;
        assert!((chance(&few) - chance(&many)).abs() < 1e-9 && chance(&few) > 0.0);
    }

    #[test]
    fn one_boot_says_nothing_of_others() {
        let two = [boot(&[1.0]), boot(&[1.0])];
        assert!(compare(&two[..1], &two).is_err() && compare(&two, &[]).is_err());
        assert!(compare(&two, &[boot(&[1.0]), Vec::new()]).is_err());
    }
}
