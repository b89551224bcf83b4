//! Checks the promise to fresh machines on fresh machines: runs both commands of the README in
//! minimal roots of Debian 12 and 13.

use crate::debian::suite;
use crate::doctor::install;
use crate::problem::problem;
use crate::progress::step;
use crate::repository::Repository;
use crate::tally::Tally;
use crate::tool;
use anyhow::{Context as _, Result};
use pillion_measure_data::plain;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// What the names of these tests begin with.
pub const NAME: &str = "fresh";
/// The shorter test: what gets installed suffices to boot, and for a module, a task and a fault.
const START: &str = "fresh-start";
/// The least of it, a few minutes for CI: as a user with sudo, on the Debian release that this
/// machine does not run.
const OTHER: &str = "fresh-other";
/// Debian 12 and 13.
const SUITES: [&str; 2] = ["bookworm", "trixie"];
const PEOPLE: [&str; 2] = ["root", "user"];

/// The first command, on a terminal. `poweroff` is typed repeatedly, in case it was typed too
/// early; a machine that does not end is killed.
const RUN: &str = "while sleep 5; do echo poweroff; done | \
    timeout 1800 script -qec 'stty rows 40 cols 120; ./x run' /dev/null";
/// The second command.
const TEST: &str = "timeout 14400 ./x test";
/// A small part of it.
const LITTLE: [&str; 3] = ["./x test linux-module", "./x test psc-restart", "./x test rt/hello"];
/// Exit status of tests/fresh/try where no fresh machine is possible: there are no name spaces, or
/// no packages of that Debian.
const NO_MACHINE: i32 = 3;
/// Lines of the log that are shown for a failure.
const SHOWN: usize = 30;

/// One root, and the commands tried in it.
struct Trial {
    name: String,
    suite: &'static str,
    who: &'static str,
    commands: Vec<&'static str>,
}

/// What a name begins with.
fn prefix(name: &str) -> &'static str {
    let first = name.split('/').next();
    [START, OTHER].into_iter().find(|prefix| first == Some(prefix)).unwrap_or(NAME)
}

/// The trials that a name selects, on a machine with that Debian release: `fresh`, `fresh/trixie`,
/// `fresh-start/trixie/user`, `fresh-other`.
fn trials(name: &str, own: &str) -> Vec<Trial> {
    let prefix = prefix(name);
    let commands = match prefix {
        START => [&[RUN], &LITTLE[..]].concat(),
        OTHER => vec![RUN, LITTLE[0]],
        _ => vec![RUN, TEST],
    };
    let each = |suite, who| Trial { name: format!("{prefix}/{suite}/{who}"), suite, who, commands: commands.clone() };
    let mut all: Vec<Trial> = SUITES.into_iter().flat_map(|suite| PEOPLE.map(|who| each(suite, who))).collect();
    all.retain(|trial| trial.name == name || trial.name.starts_with(&format!("{name}/")));
    all.retain(|trial| prefix != OTHER || trial.suite != own && trial.who == "user");
    all
}

/// Runs the trials. `x test` without a name leaves them out: they take long, and need root.
pub fn run(repository: &Repository, name: &str) -> Result<Tally> {
    install::programs(&[("mmdebstrap", "mmdebstrap")], None)?;
    let mut tally = Tally::default();
    for trial in trials(name, &suite()?) {
        let log = repository.build(format!("{}.log", trial.name.replace('/', "-")));
        let output = step(&format!("test {}", trial.name), || tool::output(&mut command(repository, &trial)?))?;
        let said = [output.stdout, output.stderr].concat();
        fs::write(&log, &said)?;
        if output.status.success() {
            tally.take(&trial.name, None);
        } else if prefix(name) == OTHER && output.status.code() == Some(NO_MACHINE) {
            // CI may run where no fresh machine is possible. A user who asks for another of these
            // tests wants to know.
            println!("test {} not tried: a fresh machine cannot be had here\n{}", trial.name, end(&said));
        } else {
            println!("test {} FAILED\n{}", trial.name, end(&said));
            tally.take(&trial.name, Some(format!("{}; {} says why", output.status, log.display())));
        }
    }
    Ok(tally)
}

fn command(repository: &Repository, trial: &Trial) -> Result<Command> {
    let root = repository.build(trial.name.replace('/', "-"));
    if root.exists() {
        let why = format!("{} is what an earlier one left", root.display());
        return Err(problem(format!("{} cannot begin", trial.name), why, "look at it, then remove it as root"));
    }
    let (cargo, rustup) = rust()?;
    let mut command = Command::new(if install::is_root() { "env" } else { "sudo" });
    command.arg(repository.path("tests/fresh/try")).arg(repository.root()).args([trial.suite, trial.who]);
    command.arg(root).args([cargo, rustup]).args(&trial.commands);
    Ok(command)
}

/// The last lines. On a terminal, a carriage return starts a line, too.
fn end(said: &[u8]) -> String {
    let text = String::from_utf8_lossy(said);
    let lines: Vec<&str> = text.split(['\n', '\r']).filter(|line| !line.is_empty()).collect();
    plain(&lines[lines.len().saturating_sub(SHOWN)..].join("\n"))
}

/// The folder with rustup's programs, and the one with its toolchains.
fn rust() -> Result<(PathBuf, PathBuf)> {
    let rustup = tool::find("rustup").context("Rust is not here by rustup, which a fresh machine gets it from")?;
    let home = tool::capture(Command::new(&rustup).args(["show", "home"]))?;
    let programs = rustup.parent().context("a program lies in a folder")?;
    Ok((programs.to_owned(), PathBuf::from(home.trim())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_choose_roots_and_commands() {
        let names = |name| trials(name, "bookworm").into_iter().map(|trial| trial.name).collect::<Vec<_>>();
        assert_eq!(names("fresh").len(), 4);
        assert_eq!(names("fresh-start/trixie"), ["fresh-start/trixie/root", "fresh-start/trixie/user"]);
        assert_eq!(names("fresh/bookworm/user"), ["fresh/bookworm/user"]);
        assert!(names("fresh/t").is_empty());
        assert_eq!(names("fresh-other"), ["fresh-other/trixie/user"]);
        assert_eq!(trials("fresh-other", "trixie")[0].suite, "bookworm");
        let all = |name| trials(name, "bookworm")[0].commands.contains(&TEST);
        assert!(all("fresh") && !all("fresh-start") && !all("fresh-other"));
    }

    #[test]
    fn the_end_of_a_log_is_shown() {
        let said: String = (0..SHOWN + 5).map(|line| format!("line {line}\r\n")).collect();
        assert!(end(said.as_bytes()).starts_with("line 5\nline 6\n"));
        assert_eq!(end(b"\x1b[2Jdone\x07"), "[2Jdone");
    }
}
