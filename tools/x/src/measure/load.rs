//! `x measure load`: the real-time task while Linux does its worst.

use super::{Figure, conclude, read};
use crate::cli::MeasureArguments;
use crate::progress::step;
use crate::repository::Repository;
use crate::tool;
use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// The file measure/load.toml.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Plan {
    run: Run,
    figure: Vec<Figure>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Run {
    /// How long each load runs, in seconds of Linux's time.
    seconds: u32,
    /// The same for `--quick`.
    quick_seconds: u32,
    /// Periods that the maximum must be of.
    samples: u64,
}

/// Measures, prints, and fails beyond a bar.
pub fn command(repository: &Repository, arguments: &MeasureArguments) -> Result<bool> {
    let plan: Plan = read(repository, &arguments.name)?;
    let seconds = if arguments.quick { plan.run.quick_seconds } else { plan.run.seconds };
    let run = |trace: bool| run(repository, &arguments.linux, seconds, trace);
    let (result, _) = step("Linux loaded, killed and restarted", || run(false))?;
    let (_, log) = step("the same, traced", || run(true))?;
    let task = result.pointer("/tasks/0").context("no task was measured")?;
    let number = |name: &str| task[name].as_u64().with_context(|| format!("the task says no {name}"));
    let samples = number("samples")?;
    ensure!(samples >= plan.run.samples, "{samples} periods are too few, {} are needed", plan.run.samples);
    ensure!(result.pointer("/linux/boots").and_then(Value::as_u64) >= Some(2), "Linux was not restarted");
    println!(
        "{samples} periods: min {} ns, avg {} ns, max {} ns\n",
        number("min_ns")?,
        number("avg_ns")?,
        number("max_ns")?
    );
    let mut values = BTreeMap::new();
    values.insert("latency-max".to_owned(), number("max_ns")? as f64);
    values.insert("overruns".to_owned(), number("overruns")? as f64);
    values.extend(longest(&log).map(|ns| ("interrupts-off".to_owned(), ns as f64)));
    conclude(arguments, &plan.figure, &values, &BTreeMap::new(), serde_json::json!({ "run": result }))
}

/// Runs every load with a restart in the middle; returns the result and the log.
fn run(repository: &Repository, linux: &str, seconds: u32, trace: bool) -> Result<(Value, String)> {
    let folder = tempfile::tempdir()?;
    let (json, log) = (folder.path().join("json"), folder.path().join("log"));
    let mut command = Command::new(std::env::current_exe()?);
    command.env("PILLION_ROOT", repository.path("")).current_dir(repository.path(""));
    command.args(["run", "--headless", "--counted", "--timeout", "900", "--linux", linux, "--fault", "reboot"]);
    command.args(["--seconds", &seconds.to_string(), "--load", "hackbench,disk,cache,net"]);
    command.arg("--json").arg(&json).arg("--log").arg(&log);
    if trace {
        command.args(["--kernel-append", "trace=1"]);
    }
    let output = tool::output(&mut command)?;
    let message = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{}", message.trim_start_matches("x: ").trim_end());
    let bytes = |path: &Path| std::fs::read(path);
    Ok((serde_json::from_slice(&bytes(&json)?)?, String::from_utf8_lossy(&bytes(&log)?).into_owned()))
}

/// The longest stretch with interrupts off that the log speaks of.
fn longest(log: &str) -> Option<u64> {
    let objects = log.lines().filter_map(|line| serde_json::from_str::<Value>(line.trim()).ok());
    objects.filter(|line| line["pillion"] == "stretch").filter_map(|line| line["longest_ns"].as_u64()).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_longest_stretch() {
        let log = "text\n{\"pillion\":\"stretch\",\"longest_ns\":7}\r\n{\"pillion\":\"stretch\",\"longest_ns\":9,\"event\":1}\n";
        assert_eq!(longest(log), Some(9));
        assert_eq!(longest("{\"pillion\":\"boot\"}"), None);
    }
}
