//! Runs other programs.

use crate::problem::problem;
use crate::stop;
use anyhow::{Context as _, Result, bail};
use rustix::process::{Pid, Signal, kill_process};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

/// This program's own file: the one that is running, even if it was rebuilt meanwhile and its path
/// leads to another file or nowhere.
pub const MYSELF: &str = "/proc/self/exe";

/// A command that runs this program again.
pub fn myself() -> Command {
    let mut command = Command::new(MYSELF);
    command.arg0("x");
    command
}

/// Runs a program and returns its output; an error contains its messages.
pub fn capture(command: &mut Command) -> Result<String> {
    let output = output(command)?;
    if !output.status.success() {
        return Err(failure(command, &output));
    }
    String::from_utf8(output.stdout).with_context(|| format!("{} printed something that is not text", name(command)))
}

/// Runs a program quietly; an error contains its messages.
pub fn quietly(command: &mut Command) -> Result<()> {
    let output = output(command)?;
    if output.status.success() { Ok(()) } else { Err(failure(command, &output)) }
}

/// Runs a program on the user's terminal and returns whether it succeeded.
pub fn visibly(command: &mut Command) -> Result<bool> {
    let status = command.status().map_err(|error| missing(command, &error))?;
    Ok(status.success())
}

/// Runs a program, and returns whether it succeeded, and its messages.
pub fn judged(command: &mut Command) -> Result<(bool, String)> {
    let output = output(command)?;
    Ok((output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned()))
}

/// Runs a program to its end, whatever its exit status.
pub fn output(command: &mut Command) -> Result<Output> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().map_err(|error| missing(command, &error))?;
    let id = Pid::from_child(&child);
    let (sender, result) = channel();
    thread::spawn(move || sender.send(child.wait_with_output()));
    loop {
        match result.recv_timeout(Duration::from_millis(50)) {
            // The terminal sends its signal to both; a program that died of it said nothing.
            Ok(Ok(output)) if stop::wanted() && output.status.signal().is_some() => bail!("interrupted"),
            Ok(output) => return Ok(output?),
            Err(_) if stop::wanted() => {
                let _ = kill_process(id, Signal::TERM);
                let _ = result.recv_timeout(Duration::from_secs(5));
                bail!("interrupted");
            }
            Err(_) => {}
        }
    }
}

/// The path of a program with that name.
pub fn find(name: &str) -> Option<PathBuf> {
    let paths = std::env::var_os("PATH")?;
    let extra = ["/usr/sbin", "/sbin"].map(PathBuf::from);
    std::env::split_paths(&paths).chain(extra).map(|folder| folder.join(name)).find(|path| path.is_file())
}

fn name(command: &Command) -> String {
    command.get_program().to_string_lossy().into_owned()
}

fn missing(command: &Command, error: &std::io::Error) -> anyhow::Error {
    let name = name(command);
    problem(format!("{name} cannot be run"), error, "`./x doctor` says how to get what is missing")
}

fn failure(command: &Command, output: &Output) -> anyhow::Error {
    let text = String::from_utf8_lossy(&output.stderr);
    let start = text.char_indices().rev().nth(6000).map_or(0, |(at, _)| at);
    anyhow::anyhow!("{} failed ({}):\n{}", name(command), output.status, text[start..].trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tells the copy of these tests that it is one.
    const COPY: &str = "PILLION_TEST_COPY";

    #[test]
    #[expect(clippy::disallowed_methods, reason = "it takes the file away on purpose")]
    fn what_was_built_anew_meanwhile_runs_itself_on() {
        if std::env::var_os(COPY).is_some() {
            std::fs::remove_file(std::env::current_exe().unwrap()).unwrap();
            assert!(capture(myself().arg("--list")).unwrap().contains("runs_itself_on"));
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let copy = folder.path().join("x");
        std::fs::copy(std::env::current_exe().unwrap(), &copy).unwrap();
        quietly(Command::new(copy).arg("runs_itself_on").env(COPY, "1")).unwrap();
    }

    /// The terminal sends Ctrl-C to both.
    #[test]
    fn a_program_that_an_interrupt_ends_has_no_result() {
        if std::env::var_os(COPY).is_some() {
            stop::watch();
            let both = "kill -INT $PPID; kill -INT $$";
            assert_eq!(output(Command::new("sh").args(["-c", both])).unwrap_err().to_string(), "interrupted");
            return;
        }
        quietly(myself().arg("has_no_result").env(COPY, "1")).unwrap();
    }
}
