//! Runs a job, and gathers what it wrote.

use super::job::Job;
use crate::repository::Repository;
use crate::tool;
use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use std::path::Path;

/// Lines of a failed run's messages that are shown.
const SHOWN: usize = 60;

/// What a run left behind.
#[derive(Debug, Default)]
pub struct Streams {
    /// Pillion's log.
    pub log: String,
    /// Linux's console.
    pub console: String,
    /// What the plug-in wrote.
    pub plugin: String,
    /// The run's result.
    pub result: Value,
}

/// Runs a job; a run that is not good is an error with its last lines.
pub fn run(repository: &Repository, job: &Job) -> Result<Streams> {
    let folder = tempfile::tempdir()?;
    let [log, console, result, plugin] = ["log", "console", "json", "plugin"].map(|name| folder.path().join(name));
    let mut command = tool::myself();
    command.env("PILLION_ROOT", repository.path("")).current_dir(repository.path(""));
    command.args(["run", "--headless", "--counted"]).args(job.options(&plugin));
    command.arg("--log").arg(&log).arg("--console").arg(&console).arg("--json").arg(&result);
    let output = tool::output(&mut command)?;
    let message = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{}", end(message.trim_end(), SHOWN));
    let written = std::fs::read(&result).context("the run left no result")?;
    Ok(Streams {
        log: text(&log),
        console: text(&console),
        plugin: text(&plugin),
        result: serde_json::from_slice(&written)?,
    })
}

impl Job {
    /// Arguments of `x run`; a plug-in writes to that file.
    fn options(&self, output: &Path) -> Vec<String> {
        let mut options = self.arguments.clone();
        if let Some(plugin) = &self.plugin {
            let value = format!("{},out={},{}", plugin.file, output.display(), plugin.arguments);
            options.extend(["--qemu-arg=-plugin".to_owned(), format!("--qemu-arg={value}")]);
        }
        options
    }

    /// The command line that repeats it.
    pub fn command(&self) -> String {
        let quoted = |word: String| if word.contains([' ', '*', '&', ';']) { format!("'{word}'") } else { word };
        let words: Vec<String> = self.options(Path::new("counts")).into_iter().map(quoted).collect();
        format!("./x run --headless --counted {}", words.join(" "))
    }
}

fn text(file: &Path) -> String {
    std::fs::read(file).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}

/// The last lines of a text.
fn end(text: &str, lines: usize) -> String {
    let all: Vec<&str> = text.lines().collect();
    all[all.len().saturating_sub(lines)..].join("\n")
}
