//! `x measure linux`: how many more instructions Linux takes when it rides.

use super::count::{Boot, Counter};
use super::{Figure, conclude, read};
use crate::cli::MeasureArguments;
use crate::progress::step;
use crate::repository::Repository;
use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The file measure/linux.toml.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Plan {
    work: Work,
    figure: Vec<Figure>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Work {
    /// How often each machine boots.
    boots: usize,
    /// What Linux does after each boot.
    rounds: String,
    /// The same for `--quick`, which boots once.
    quick: String,
}

/// A piece of work on both machines, in instructions.
#[derive(Serialize)]
struct Comparison {
    name: String,
    rounds: usize,
    /// Mean, Linux alone.
    direct: f64,
    /// Mean, riding.
    riding: f64,
    /// How much more, in percent.
    more: f64,
    /// Standard error of `more`.
    chance: f64,
    /// Instructions of Pillion's kernel in a round, in percent of `direct`.
    kernel: f64,
}

/// Measures, prints, and fails beyond a bar.
pub fn command(repository: &Repository, arguments: &MeasureArguments) -> Result<bool> {
    let plan: Plan = read(repository, &arguments.name)?;
    let (boots, work) = if arguments.quick { (1, &plan.work.quick) } else { (plan.work.boots, &plan.work.rounds) };
    let counter = Counter::build(repository, &arguments.linux, work)?;
    let run = |direct: bool| -> Result<Vec<Boot>> {
        let who = if direct { "alone" } else { "riding" };
        (1..=boots).map(|n| step(&format!("counting Linux {who}, {n} of {boots}"), || counter.run(direct))).collect()
    };
    let (direct, riding) = (run(true)?, run(false)?);
    let mut compared = vec![compare("boot", &boot(&direct), &boot(&riding))?];
    for name in work.split(',').filter_map(|item| item.split_once(':')).map(|(name, _)| name) {
        compared.push(compare(name, &rounds(&direct, name), &rounds(&riding, name))?);
    }
    print(&compared);
    let values: BTreeMap<String, f64> = compared.iter().map(|c| (c.name.clone(), rounded(c.more))).collect();
    let chance: BTreeMap<String, f64> = compared.iter().map(|c| (c.name.clone(), 2.0 * c.chance)).collect();
    conclude(arguments, &plan.figure, &values, &chance, serde_json::json!({ "work": compared }))
}

fn boot(boots: &[Boot]) -> Vec<[f64; 2]> {
    boots.iter().map(|boot| boot.init).collect()
}

fn rounds(boots: &[Boot], name: &str) -> Vec<[f64; 2]> {
    boots.iter().filter_map(|boot| boot.work.get(name)).flatten().copied().collect()
}

/// Of each round the instructions in all and those of Pillion's kernel.
fn compare(name: &str, direct: &[[f64; 2]], riding: &[[f64; 2]]) -> Result<Comparison> {
    let totals = |rounds: &[[f64; 2]]| -> Vec<f64> { rounds.iter().map(|round| round[0]).collect() };
    let (alone, alone_error) = mean(&totals(direct)).with_context(|| format!("{name} did not run alone"))?;
    let (with, with_error) = mean(&totals(riding)).with_context(|| format!("{name} did not run riding"))?;
    let kernel: Vec<f64> = riding.iter().map(|round| round[1]).collect();
    let percent = |part: f64| 100.0 * part / alone;
    Ok(Comparison {
        name: name.to_owned(),
        rounds: direct.len(),
        direct: alone,
        riding: with,
        more: percent(with - alone),
        chance: percent(alone_error.hypot(with_error)),
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

fn rounded(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

fn print(compared: &[Comparison]) {
    println!(
        "{:<12} {:>6} {:>14} {:>14} {:>9} {:>8} {:>9}",
        "work", "rounds", "alone", "riding", "more", "chance", "kernel"
    );
    for c in compared {
        println!(
            "{:<12} {:>6} {:>14.0} {:>14.0} {:>+8.2}% {:>7.2}% {:>8.2}%",
            c.name, c.rounds, c.direct, c.riding, c.more, c.chance, c.kernel
        );
    }
    println!();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compares_means_and_knows_chance() {
        let alone = [[100.0, 0.0], [102.0, 0.0], [98.0, 0.0]];
        let riding = [[103.0, 1.0], [103.0, 1.0]];
        let compared = compare("work", &alone, &riding).unwrap();
        assert!((compared.more - 3.0).abs() < 1e-9 && (compared.kernel - 1.0).abs() < 1e-9);
        assert!((compared.chance - 2.0 / 3f64.sqrt()).abs() < 1e-9, "{}", compared.chance);
        assert!(compare("work", &alone, &[]).is_err());
    }
}
