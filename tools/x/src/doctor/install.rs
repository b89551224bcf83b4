//! Installs packages, and reports that it does.

use crate::problem::problem;
use crate::progress::step;
use crate::tool;
use anyhow::Result;
use std::process::Command;

/// Keeps the package manager from asking questions.
const FRONTEND: (&str, &str) = ("DEBIAN_FRONTEND", "noninteractive");

/// Installs the packages of those programs that are missing: pairs of program and package; and
/// further packages.
pub fn programs<'a>(needed: &[(&str, &'a str)], further: Option<&'a str>) -> Result<()> {
    let missing = needed.iter().filter(|(program, _)| tool::find(program).is_none()).map(|(_, package)| *package);
    packages(&missing.chain(further).collect::<Vec<_>>())
}

/// Whether this user is root.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Installs Debian packages; an empty list is fine.
pub fn packages(names: &[&str]) -> Result<()> {
    if names.is_empty() {
        return Ok(());
    }
    let list = names.join(" ");
    eprintln!("x: installing {list}");
    step(&format!("installing {list}"), || {
        let mut command = privileged(&format!("{list} must be installed"), &format!("apt-get install {list}"))?;
        command.args(["install", "-y", "-q", "--no-install-recommends"]).args(names);
        if tool::quietly(&mut command).is_ok() {
            return Ok(());
        }
        update_lists()?;
        tool::quietly(&mut command).map_err(|error| {
            problem(format!("{list} could not be installed"), format!("{error:#}"), format!("apt-get install {list}"))
        })
    })
}

/// Fetches the lists of available packages.
pub fn update_lists() -> Result<()> {
    eprintln!("x: fetching Debian's lists of packages (apt-get update)");
    let mut command = privileged("the lists of packages must be fetched", "apt-get update")?;
    tool::quietly(command.args(["update", "-q"])).map_err(|error| {
        problem("the lists of packages could not be fetched", format!("{error:#}"), "run `apt-get update` as root")
    })
}

/// `apt-get` as root. Without root and without `sudo` an error says what is wanted, and the command
/// that root can give.
fn privileged(wanted: &str, remedy: &str) -> Result<Command> {
    const PROGRAM: &str = "apt-get";
    if is_root() {
        let mut command = Command::new(PROGRAM);
        command.env(FRONTEND.0, FRONTEND.1);
        return Ok(command);
    }
    if tool::find("sudo").is_none() {
        let why = "only root can do that, and sudo is missing";
        return Err(problem(wanted, why, format!("as root: {remedy}")));
    }
    let mut command = Command::new("sudo");
    // sudo does not pass on this process's environment.
    command.arg("env").arg(format!("{}={}", FRONTEND.0, FRONTEND.1)).arg(PROGRAM);
    Ok(command)
}
