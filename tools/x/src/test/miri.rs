//! Runs tests of the host under Miri, which holds borrows, races between threads, and reads of what
//! was never written against Rust's own model.

use super::host;
use crate::parallel::{Work, each, processors};
use crate::progress::step;
use crate::repository::Repository;
use crate::tally::Tally;
use crate::tool;
use anyhow::Result;
use std::process::Command;

/// The test's name.
pub const NAME: &str = "miri";

/// What each run is called, the arguments of cargo, and those of the tests. Tests that are left out
/// take minutes there.
const RUNS: [(&str, &[&str], &[&str]); 5] = [
    (
        "core",
        &["-p", "pillion-core", "--test", "kernel"],
        &["calls::", "user_vcpus", "guests::a_vcpu", "messages::a_call"],
    ),
    ("channel", &["-p", "pillion-channel"], &["--skip=the_log_is_read"]),
    ("devices", &["-p", "pillion-vmm-devices", "--lib", "--test=acpi", "--test=apic", "--test=boot"], &[]),
    ("broker", &["-p", "pillion-broker", "--lib"], &["--skip=full", "--skip=as_the_model_says"]),
    ("abi", &["-p", "pillion-abi"], &[]),
];

/// Few cases of each random test; and files, which tests of the device models read.
const ENVIRONMENT: [(&str, &str); 2] =
    [("MIRIFLAGS", "-Zmiri-disable-isolation -Zmiri-tree-borrows -Zmiri-ignore-leaks"), ("PROPTEST_CASES", "2")];

/// Runs them; without Miri, says what is missing.
pub fn run(repository: &Repository) -> Result<Tally> {
    let mut tally = Tally::default();
    if let Err(why) = install() {
        eprintln!("x: {NAME} did not run: {why:#}\n   do:  rustup toolchain install nightly --component miri,rust-src");
        return Ok(tally);
    }
    let piece = |&(name, package, tests): &(&str, &'static [&str], &'static [&str])| {
        let mut cargo = repository.cargo();
        cargo.args(["+nightly", "miri", "test", "--no-fail-fast"]).args(package).arg("--").args(tests);
        cargo
            .envs(ENVIRONMENT)
            .env(host::SEED, host::seed(repository))
            .env("CARGO_TARGET_DIR", repository.build("miri"));
        Work { name: format!("{NAME} {name}"), work: Box::new(move || tool::capture(&mut cargo)) }
    };
    each(RUNS.iter().map(piece).collect(), processors(), |at, said| {
        let (name, ..) = RUNS[at];
        match said {
            Ok(said) => {
                said.lines().for_each(|line| host::take(&mut tally, line));
                println!("test {NAME} {name} ok");
            }
            Err(error) => tally.failed.push(format!("{NAME} {name}: {error:#}")),
        }
        Ok(())
    })?;
    Ok(tally)
}

/// Adds Miri to the nightly compiler if it is not there.
fn install() -> Result<()> {
    if tool::capture(Command::new("cargo").args(["+nightly", "miri", "--version"])).is_ok() {
        return Ok(());
    }
    let mut rustup = Command::new("rustup");
    rustup.args(["component", "add", "--toolchain", "nightly", "miri", "rust-src"]);
    step("installing Miri for the nightly compiler", || tool::quietly(&mut rustup))
}
