//! Describes the machine of a measurement.

use super::job::Finished;
use pillion_host::repository::Repository;
use pillion_host::tool;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// Emulator, processor, kernels, compiler and commit, as far as the runs report them.
pub fn describe(repository: &Repository, finished: &[Finished]) -> BTreeMap<String, String> {
    let results: Vec<&Value> = finished.iter().filter_map(|one| Some(&one.output.as_ref().ok()?.result)).collect();
    let mut machine = BTreeMap::new();
    let version = each(&results, "/machine/version");
    let mut tell = |key: &str, text: String| drop((!text.is_empty()).then(|| machine.insert(key.to_owned(), text)));
    tell("emulator", if version.is_empty() { version } else { format!("QEMU {version}") });
    tell("processor", each(&results, "/machine/cpu"));
    tell(
        "memory",
        each(&results, "/machine/memory_mib")
            .split(", ")
            .map(|mib| format!("{mib} MiB"))
            .collect::<Vec<_>>()
            .join(", "),
    );
    tell("linux", each(&results, "/linux/release"));
    tell("compiler", printed(Command::new("rustc").arg("--version")));
    let git = |words: &[&str]| printed(Command::new("git").arg("-C").arg(repository.path("")).args(words));
    let changed = if git(&["status", "--porcelain", "--untracked-files=no"]).is_empty() { "" } else { ", changed" };
    let commit = git(&["rev-parse", "--short=12", "HEAD"]);
    tell("commit", if commit.is_empty() { commit } else { commit + changed });
    machine
}

/// The distinct values at a pointer in all results.
fn each(results: &[&Value], pointer: &str) -> String {
    let values = results.iter().filter_map(|result| result.pointer(pointer)).filter(|value| !value.is_null());
    let texts: BTreeSet<String> =
        values.map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned)).collect();
    texts.into_iter().collect::<Vec<_>>().join(", ")
}

/// The output of a program; empty if it is not installed.
fn printed(command: &mut Command) -> String {
    tool::capture(command).map(|text| text.trim().to_owned()).unwrap_or_default()
}
