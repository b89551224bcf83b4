//! `x fuzz`: coverage-guided fuzzing of the code that takes input from Linux, firmware or files
//! (`tests/fuzz`).

use crate::cli::FuzzArguments;
use crate::parallel::{Work, each, processors};
use crate::problem::problem;
use crate::progress::step;
use crate::repository::Repository;
use crate::tally::Tally;
use crate::tool;
use anyhow::{Context as _, Result};
use std::path::PathBuf;
use std::process::Command;

/// The test's name.
pub const NAME: &str = "fuzz";

/// How long each target is fuzzed as a test.
const TEST_SECONDS: u64 = 3;

/// Flags of the stable compiler that count edges; and checks that find more: overflows and debug
/// assertions.
const FLAGS: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=3 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Ccodegen-units=1 -Cdebug-assertions=on -Coverflow-checks=on";

/// With an explicit target, code for the build itself is not instrumented.
const HOST: &str = "x86_64-unknown-linux-gnu";

/// `x fuzz`.
pub fn command(repository: &Repository, arguments: &FuzzArguments) -> Result<bool> {
    let fuzzer = Fuzzer::build(repository)?;
    let Some(name) = &arguments.name else {
        print!("{}", fuzzer.list()?);
        return Ok(true);
    };
    if let Some(input) = &arguments.input {
        return tool::visibly(fuzzer.command().args([name, "run", input]));
    }
    fuzzer.known(name)?;
    let mut command = fuzzer.command();
    command.args([name, &arguments.seconds.to_string()]);
    if arguments.keep {
        command.arg("keep");
    }
    tool::visibly(&mut command)
}

/// Fuzzes every target for a short time.
pub fn test(repository: &Repository) -> Result<Tally> {
    let fuzzer = Fuzzer::build(repository)?;
    let names = fuzzer.names()?;
    let mut tally = Tally::default();
    let seconds = TEST_SECONDS.to_string();
    let piece = |name: &String| {
        let (mut command, name) = (fuzzer.command(), name.clone());
        command.args([&name, &seconds]);
        Work { name: format!("{NAME} {name}"), work: Box::new(move || tool::capture(&mut command)) }
    };
    each(names.iter().map(piece).collect(), processors(), |at, said| {
        match said {
            Ok(said) => {
                tally.passed += 1;
                println!("test {NAME} {}", said.trim_end());
            }
            Err(error) => tally.failed.push(format!("{NAME}: {}: {error:#}", names[at])),
        }
        Ok(())
    })?;
    Ok(tally)
}

/// The program with all targets.
struct Fuzzer(PathBuf);

impl Fuzzer {
    fn build(repository: &Repository) -> Result<Fuzzer> {
        let folder = repository.build("fuzz");
        let mut cargo = repository.cargo();
        cargo.args(["build", "--release", "-p", "pillion-fuzz", "--target", HOST, "--target-dir"]).arg(&folder);
        cargo.env("RUSTFLAGS", FLAGS).env("CARGO_PROFILE_RELEASE_LTO", "off");
        step("building what is fuzzed, with counters", || tool::quietly(&mut cargo))?;
        Ok(Fuzzer(folder.join(HOST).join("release/pillion-fuzz")))
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.0);
        command.env("RUST_BACKTRACE", "0");
        command
    }

    /// The targets, one a line.
    fn list(&self) -> Result<String> {
        tool::capture(self.command().arg("list"))
    }

    fn names(&self) -> Result<Vec<String>> {
        let list = self.list()?;
        list.lines()
            .map(|line| line.split_whitespace().next().map(str::to_owned).context("a target without a name"))
            .collect()
    }

    fn known(&self, name: &str) -> Result<()> {
        let names = self.names()?;
        if names.iter().any(|known| known == name) {
            return Ok(());
        }
        let why = format!("the targets are: {}", names.join(", "));
        Err(problem(format!("there is no target {name}"), why, "`./x fuzz` describes each"))
    }
}
