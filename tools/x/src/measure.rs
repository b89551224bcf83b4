//! `x measure`: figures, beside their bars and goals.

mod count;
mod linux;
mod load;

use crate::build::bundle::write_whole;
use crate::cli::MeasureArguments;
use crate::problem::problem;
use crate::progress::step;
use crate::repository::Repository;
use crate::tool;
use anyhow::{Context as _, Result};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A file of measure/.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Suite {
    /// The runs that say figures.
    run: Vec<Run>,
    /// The figures.
    figure: Vec<Figure>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Run {
    /// System file; none when the arguments say what boots.
    system: Option<PathBuf>,
    #[serde(default)]
    arguments: Vec<String>,
}

/// A figure: smaller is better.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Figure {
    /// Name in the line `figure NAME VALUE UNIT`.
    name: String,
    /// What it is.
    about: String,
    unit: String,
    /// Beyond it, the measurement fails.
    bar: f64,
    goal: f64,
    /// What others reach.
    #[serde(default)]
    field: String,
}

/// A figure and what was measured.
#[derive(Serialize)]
struct Measured<'a> {
    #[serde(flatten)]
    figure: &'a Figure,
    value: Option<f64>,
    verdict: &'static str,
}

/// Measures, prints, and fails beyond a bar.
pub fn command(repository: &Repository, arguments: &MeasureArguments) -> Result<bool> {
    match arguments.name.as_str() {
        "linux" => linux::command(repository, arguments),
        "load" => load::command(repository, arguments),
        _ => said(repository, arguments),
    }
}

/// Figures that measuring systems say themselves.
fn said(repository: &Repository, arguments: &MeasureArguments) -> Result<bool> {
    let suite: Suite = read(repository, &arguments.name)?;
    let mut values = BTreeMap::new();
    for run in &suite.run {
        let system = run.system.iter().map(|file| file.display().to_string());
        let what: Vec<String> = system.chain(run.arguments.iter().cloned()).collect();
        values.extend(step(&format!("measuring {}", what.join(" ")), || measure(repository, run))?);
    }
    conclude(arguments, &suite.figure, &values, &BTreeMap::new(), serde_json::json!({}))
}

/// Prints the figures and writes them with the `rest`; returns whether all are good. `chance` is how far each may be off.
fn conclude(
    arguments: &MeasureArguments,
    figures: &[Figure],
    values: &BTreeMap<String, f64>,
    chance: &BTreeMap<String, f64>,
    mut rest: serde_json::Value,
) -> Result<bool> {
    let measured: Vec<Measured> = figures.iter().map(|figure| judge(figure, values, chance)).collect();
    print(&measured);
    if let Some(file) = &arguments.json {
        rest["figures"] = serde_json::to_value(&measured)?;
        rest["time"] = "counted".into();
        write_whole(&std::path::absolute(file)?, (serde_json::to_string_pretty(&rest)? + "\n").as_bytes())?;
    }
    Ok(measured.iter().all(|figure| matches!(figure.verdict, "goal" | "good")))
}

fn read<T: DeserializeOwned>(repository: &Repository, name: &str) -> Result<T> {
    let file = repository.path("measure").join(name).with_extension("toml");
    let text = std::fs::read_to_string(&file).map_err(|error| {
        let remedy = "name a file of measure/, without its ending";
        problem(format!("there is nothing to measure called {name}"), error.to_string(), remedy)
    })?;
    toml::from_str(&text).with_context(|| format!("{} is no list of figures", file.display()))
}

/// Runs a measuring system, counted, and reads its figures.
fn measure(repository: &Repository, run: &Run) -> Result<BTreeMap<String, f64>> {
    let folder = tempfile::tempdir()?;
    let (log, console) = (folder.path().join("log"), folder.path().join("console"));
    let mut command = Command::new(std::env::current_exe()?);
    command.env("PILLION_ROOT", repository.path("")).current_dir(repository.path(""));
    command.args(["run", "--headless", "--counted", "--log"]).arg(&log).arg("--console").arg(&console);
    if let Some(system) = &run.system {
        command.arg("--system").arg(repository.path(system));
    }
    let output = tool::output(command.args(&run.arguments))?;
    let message = String::from_utf8_lossy(&output.stderr);
    anyhow::ensure!(output.status.success(), "{}", message.trim_start_matches("x: ").trim_end());
    let mut figures = figures(&text(&log)?);
    // Those of programs in Linux.
    figures.extend(self::figures(&text(&console)?));
    Ok(figures)
}

fn text(file: &Path) -> Result<String> {
    Ok(String::from_utf8_lossy(&std::fs::read(file)?).into_owned())
}

/// The figures in a log: lines `figure NAME VALUE UNIT`, those of RTLinux programs with `[TASK]` before.
fn figures(log: &str) -> BTreeMap<String, f64> {
    fn said(line: &str) -> &str {
        line.strip_prefix('[').and_then(|rest| rest.split_once("] ")).map_or(line, |(_, said)| said)
    }
    let lines = log.lines().filter_map(|line| said(line.trim()).strip_prefix("figure "));
    lines
        .filter_map(|line| line.split_once(' '))
        .filter_map(|(name, rest)| Some((name.into(), number(rest)?)))
        .collect()
}

fn number(text: &str) -> Option<f64> {
    text.split_whitespace().next()?.parse().ok()
}

fn judge<'a>(figure: &'a Figure, values: &BTreeMap<String, f64>, chance: &BTreeMap<String, f64>) -> Measured<'a> {
    let value = values.get(&figure.name).copied();
    let chance = chance.get(&figure.name).copied().unwrap_or(0.0);
    let verdict = match value {
        None => "missing",
        Some(value) if value <= figure.goal => "goal",
        Some(value) if value - chance <= figure.bar => "good",
        Some(_) => "BEYOND",
    };
    Measured { figure, value, verdict }
}

fn print(measured: &[Measured]) {
    println!("{:<58} {:>9} {:>7} {:>7} {:<6} {:<8} the field", "figure", "value", "bar", "goal", "unit", "");
    for Measured { figure, value, verdict } in measured {
        let value = value.map_or("-".into(), |value| value.to_string());
        let Figure { about, bar, goal, unit, field, .. } = figure;
        println!("{about:<58} {value:>9} {bar:>7} {goal:>7} {unit:<6} {verdict:<8} {field}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_and_judged() {
        let values = figures("x\n[rt-sync] figure irq 300 ns\r\nfigure call 601.5 ns\nfigure bad\n");
        assert_eq!(values.len(), 2);
        let figure = |name: &str| Figure {
            name: name.into(),
            about: String::new(),
            unit: "ns".into(),
            bar: 600.0,
            goal: 300.0,
            field: String::new(),
        };
        let mut chance = BTreeMap::new();
        assert_eq!(judge(&figure("irq"), &values, &chance).verdict, "goal");
        assert_eq!(judge(&figure("call"), &values, &chance).verdict, "BEYOND");
        assert_eq!(judge(&figure("none"), &values, &chance).verdict, "missing");
        chance.insert("call".into(), 2.0);
        assert_eq!(judge(&figure("call"), &values, &chance).verdict, "good");
    }
}
