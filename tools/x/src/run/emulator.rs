//! The emulator: what it can do, and its process.

use crate::problem::problem;
use anyhow::{Context as _, Result};
use serde_json::Value;
use std::io::{Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// The CPU model with every feature that the emulator has.
const MOST: &str = "max";

/// Refuses a CPU model with a feature that the emulator lacks and would leave out; if Linux
/// `rides`, also one without virtualisation.
pub fn check_cpu(qemu: &Path, model: &str, rides: bool) -> Result<()> {
    let remedy = "use the default, EPYC,+svm,+npt; `qemu-system-x86_64 -cpu help` lists models";
    let [cpu, most] = cpu_features(qemu, model)?;
    if let Some(error) = cpu.pointer("/error/desc").and_then(Value::as_str) {
        return Err(problem(format!("the emulator has no CPU {model}"), error, remedy));
    }
    if let Some(feature) = added(model).find(|feature| !has(&most, feature)) {
        let why = format!("the emulator has no {feature}, and would leave it out");
        return Err(problem(
            format!("the CPU {model} is not available"),
            why,
            format!("leave out +{feature}, or {remedy}"),
        ));
    }
    if let Some(feature) = ["svm", "npt"].iter().find(|feature| rides && !has(&cpu, feature)) {
        let why = format!("it lacks {feature}, and Linux rides in guest mode");
        return Err(problem(format!("the CPU {model} is not suitable"), why, remedy));
    }
    Ok(())
}

/// Whether an answer reports a feature as present.
fn has(answer: &Value, feature: &str) -> bool {
    answer.pointer(&format!("/return/model/props/{feature}")) == Some(&true.into())
}

/// The features that are added to a model, as the emulator spells them.
fn added(model: &str) -> impl Iterator<Item = String> {
    model.split(',').filter_map(|part| Some(part.strip_prefix('+')?.replace('_', "-")))
}

/// The features of a CPU model, and the most that the emulator offers.
fn cpu_features(qemu: &Path, model: &str) -> Result<[Value; 2]> {
    let mut child = Command::new(qemu)
        .args(["-M", "none", "-accel", "tcg", "-nodefaults", "-display", "none", "-qmp", "stdio", "-S"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut stdin = child.stdin.take().context("no pipe")?;
    stdin.write_all(questions(model).as_bytes())?;
    drop(stdin);
    let output = child.wait_with_output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let answers: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let answer = |id: &str| answers.iter().find(|answer| answer.get("id") == Some(&id.into())).cloned();
    answer(model).zip(answer(MOST)).map(<[Value; 2]>::from).context("the emulator did not report what its CPU can do")
}

/// The queries for the features of a CPU model, and for the most that the emulator offers.
fn questions(model: &str) -> String {
    format!(
        "{{\"execute\":\"qmp_capabilities\"}}\n{}\n{}\n{{\"execute\":\"quit\"}}\n",
        expansion(model),
        expansion(MOST)
    )
}

/// The query for the features of a CPU model; the answer carries the model's name.
fn expansion(model: &str) -> Value {
    let mut parts = model.split(',');
    let name = parts.next().unwrap_or_default();
    let properties: serde_json::Map<String, Value> = parts.filter_map(property).collect();
    serde_json::json!({
        "execute": "query-cpu-model-expansion", "id": model,
        "arguments": { "type": "full", "model": { "name": name, "props": properties } }
    })
}

fn property(text: &str) -> Option<(String, Value)> {
    if let Some(name) = text.strip_prefix('+') {
        return Some((name.into(), true.into()));
    }
    if let Some(name) = text.strip_prefix('-') {
        return Some((name.into(), false.into()));
    }
    let (name, value) = text.split_once('=')?;
    let value = match value {
        "on" => true.into(),
        "off" => false.into(),
        other => other.into(),
    };
    Some((name.into(), value))
}

/// A running emulator. It ends when this value is dropped, and when this process ends.
pub struct Emulator {
    child: Child,
}

impl Emulator {
    /// Starts it in a process group of its own, so that Ctrl-C reaches only this tool.
    pub fn start(qemu: &Path, arguments: &[String]) -> Result<Emulator> {
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL", "--"]).arg(qemu).args(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).process_group(0);
        let child = command.spawn().context("the emulator cannot be started")?;
        Ok(Emulator { child })
    }

    /// Its messages, once.
    pub fn messages(&mut self) -> Option<std::process::ChildStderr> {
        self.child.stderr.take()
    }

    /// Everything that it wrote; a process that still runs is not waited for.
    pub fn said(&mut self, ended: bool) -> Result<String> {
        let mut text = Vec::new();
        if let Some(mut messages) = self.messages().filter(|_| ended) {
            messages.read_to_end(&mut text)?;
        }
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// Whether it exited successfully.
    pub fn succeeded(&mut self) -> Result<bool> {
        Ok(self.child.wait()?.success())
    }

    /// Whether it has exited.
    pub fn ended(&mut self) -> Result<bool> {
        Ok(self.child.try_wait()?.is_some())
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asks_for_the_properties_of_a_model() {
        let text = questions("EPYC,+svm,-rdrand,x=on");
        assert!(text.contains(r#""props":{"rdrand":false,"svm":true,"x":true}"#), "{text}");
        assert!(text.contains(r#""name":"max""#), "{text}");
    }

    #[test]
    fn knows_which_features_are_asked_for() {
        let names: Vec<String> = added("EPYC,+svm,-npt,+tsc_deadline,x=on").collect();
        assert_eq!(names, ["svm", "tsc-deadline"]);
        let answer = serde_json::json!({ "return": { "model": { "props": { "svm": true, "npt": false } } } });
        assert_eq!(["svm", "npt", "x"].map(|name| has(&answer, name)), [true, false, false]);
    }
}
