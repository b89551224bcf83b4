//! The tests that run on the host.

use crate::repository::Repository;
use crate::stop;
use crate::tally::Tally;
use anyhow::{Context as _, Result, ensure};
use rustix::process::{Pid, Signal, kill_process_group};
use std::io::{BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Longest silence allowed: building takes minutes without output; no test takes long.
const SILENCE: Duration = Duration::from_secs(900);

/// The variable that seeds random tests: that of the crate that draws.
pub const SEED: &str = "PROPTEST_RNG_SEED";

/// The seed of random tests: derived from the commit unless the environment sets one, so that the
/// same commit passes, or fails, everywhere.
pub fn seed(repository: &Repository) -> String {
    std::env::var(SEED).unwrap_or_else(|_| repository.number().to_string())
}

/// Runs cargo's tests.
pub fn run(repository: &Repository) -> Result<Tally> {
    let seed = seed(repository);
    eprintln!("x: tests on the host, with {SEED}={seed}");
    let mut command = repository.cargo();
    command.args(["test", "--quiet", "--no-fail-fast"]).env(SEED, &seed);
    let mut tally = watch(command, SILENCE)?;
    // Packages for the bare machine only, but with a library that does not need it.
    let mut command = repository.cargo();
    command.args(["test", "--quiet", "--no-fail-fast", "--lib"]);
    command
        .args(["-p", "pillion-resmgr", "-p", "pillion-broker", "-p", "pillion-dual", "-p", "pillion-runtime"])
        .env(SEED, &seed);
    tally.add(watch(command, SILENCE)?);
    eprintln!("x: model check of the lock-free code");
    tally.add(watch(model_check(repository), SILENCE)?);
    Ok(tally)
}

/// Runs the tests of the rings and of the runtimes' locks in every possible order of their threads.
/// They are built separately, because everything is compiled differently for them.
fn model_check(repository: &Repository) -> Command {
    let mut command = repository.cargo();
    command.args(["test", "--quiet", "--release", "--lib"]);
    command.args(["-p", "pillion-ring", "-p", "pillion-post", "-p", "pillion-channel", "-p", "pillion-dual"]);
    command.args(["-p", "pillion-rt-core"]);
    command.arg("--target-dir").arg(repository.build("loom")).env("RUSTFLAGS", "--cfg loom");
    command
}

/// Passes the output on and counts. Tests that print nothing for that long are ended, together with
/// the processes that they started.
fn watch(mut command: Command, silence: Duration) -> Result<Tally> {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).process_group(0).spawn()?;
    let output = child.stdout.take().context("no pipe")?;
    let (sender, lines) = channel();
    thread::spawn(move || BufReader::new(output).lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
    let mut tally = Tally::default();
    if let Err(why) = listen(&lines, &mut tally, silence) {
        let _ = kill_process_group(Pid::from_child(&child), Signal::KILL);
        tally.failed.push(format!("the tests on the host were ended: {why}"));
    }
    let status = child.wait()?;
    ensure!(!stop::wanted(), "interrupted");
    if !status.success() && tally.failed.is_empty() {
        tally.failed.push("the tests on the host could not be built or run".into());
    }
    Ok(tally)
}

/// Passes lines on until the output ends; an error says why waiting was given up.
fn listen(lines: &Receiver<String>, tally: &mut Tally, silence: Duration) -> Result<()> {
    let mut heard = Instant::now();
    loop {
        match lines.recv_timeout(Duration::from_millis(100)) {
            Ok(line) => {
                heard = Instant::now();
                println!("{line}");
                take(tally, &line);
            }
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
            Err(RecvTimeoutError::Timeout) => {
                ensure!(!stop::wanted(), "interrupted");
                ensure!(heard.elapsed() <= silence, "silent for {} s", silence.as_secs());
            }
        }
    }
}

/// Counts the tests in a line `test result: ok. 3 passed; 0 failed; ..`.
pub fn take(tally: &mut Tally, line: &str) {
    let Some(rest) = line.strip_prefix("test result: ") else { return };
    let count = |what: &str| {
        let field = rest.split([';', '.']).find_map(|field| field.trim().strip_suffix(what));
        field.and_then(|number| number.trim().parse::<u64>().ok()).unwrap_or(0)
    };
    tally.passed += count("passed");
    tally.failed.extend((0..count("failed")).map(|_| "a test on the host; see above".to_owned()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_what_cargo_says() {
        let mut tally = Tally::default();
        take(&mut tally, "test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 1 filtered out");
        take(&mut tally, "running 3 tests");
        assert_eq!((tally.passed, tally.failed.len()), (3, 2));
    }

    fn shell(script: &str) -> Command {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn what_cannot_be_built_fails() {
        assert_eq!(watch(shell("exit 101"), SILENCE).unwrap().failed.len(), 1);
    }

    #[test]
    fn silence_ends_the_tests_and_what_they_started() {
        let tally = watch(shell("sleep 1000 & wait"), Duration::ZERO).unwrap();
        assert!(tally.failed[0].contains("silent"), "{tally:?}");
    }
}
