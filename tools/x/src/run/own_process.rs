//! `x run` in a process of its own, for tests and measurements: a run resolves names relative to
//! its current folder, prints progress that is shown only if it fails, and must not take other runs
//! down if it is aborted.

use crate::repository::Repository;
use crate::{file, tool};
use anyhow::Result;
use serde_json::Value;
use std::ffi::OsStr;
use std::path::Path;

/// The results of a run.
#[derive(Debug, Default)]
pub struct Streams {
    /// Exit status.
    pub status: Option<i32>,
    /// The messages of `x run`.
    pub message: String,
    /// What it printed otherwise.
    pub printed: String,
    /// Pillion's log.
    pub log: String,
    /// Linux's console.
    pub console: String,
    /// The machine-readable result, if there is one.
    pub result: Option<Value>,
    /// How many pixels were not black in a picture of the screen, if one was taken.
    pub lit: usize,
}

/// Runs `x run --headless` with further arguments in a folder, to its end.
pub fn run(
    repository: &Repository,
    folder: &Path,
    arguments: impl IntoIterator<Item = impl AsRef<OsStr>>,
) -> Result<Streams> {
    let work = file::temporary()?;
    let [log, console, result] = ["log", "console", "json"].map(|name| work.path().join(name));
    let mut command = tool::myself();
    command.env("PILLION_ROOT", repository.root()).current_dir(folder).args(["run", "--headless"]);
    command.arg("--log").arg(&log).arg("--console").arg(&console).arg("--json").arg(&result);
    let output = tool::output(command.args(arguments))?;
    Ok(Streams {
        status: output.status.code(),
        message: String::from_utf8_lossy(&output.stderr).into_owned(),
        printed: String::from_utf8_lossy(&output.stdout).into_owned(),
        log: file::text(&log),
        console: file::text(&console),
        result: serde_json::from_str(&file::text(&result)).ok(),
        lit: 0,
    })
}

/// The last lines of a text.
pub fn tail(text: &str, lines: usize) -> String {
    let all: Vec<&str> = text.lines().collect();
    all[all.len().saturating_sub(lines)..].join("\n")
}
