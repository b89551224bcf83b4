//! Which QEMU to use.

use crate::problem::problem;
use crate::tool;
use anyhow::Result;
use std::path::Path;
use std::process::Command;

/// The default emulator.
pub const DEFAULT: &str = "qemu-system-x86_64";
const OLDEST: (u32, u32) = (7, 2);

/// A version of QEMU.
#[derive(Debug, PartialEq, Eq)]
pub struct Version {
    /// As QEMU reports it.
    pub text: String,
    /// Major and minor number.
    pub number: (u32, u32),
}

/// The version of an emulator; refuses one that is too old.
pub fn version(qemu: &Path) -> Result<Version> {
    let remedy = "install Debian's qemu-system-x86 (apt-get install qemu-system-x86), or name another with --qemu";
    let name = qemu.display();
    let text = tool::capture(Command::new(qemu).arg("--version"))
        .map_err(|error| problem(format!("the emulator {name} cannot be run"), first_line(&error), remedy))?;
    let version = parse_version(&text)
        .ok_or_else(|| problem(format!("{name} is not QEMU"), "it does not report a version", remedy))?;
    if version.number < OLDEST {
        let why = format!("it is version {}, {}.{} is needed", version.text, OLDEST.0, OLDEST.1);
        return Err(problem(format!("the emulator {name} is too old"), why, remedy));
    }
    Ok(version)
}

fn first_line(error: &anyhow::Error) -> String {
    let text = error.to_string();
    text.lines().find_map(|line| line.trim().strip_prefix("why: ")).unwrap_or(&text).to_owned()
}

fn parse_version(text: &str) -> Option<Version> {
    let rest = text.lines().next()?.strip_prefix("QEMU emulator version ")?;
    let text = rest.split(' ').next()?.to_owned();
    let mut parts = text.split('.').map(str::parse);
    let number = (parts.next()?.ok()?, parts.next()?.ok()?);
    Some(Version { text, number })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_versions() {
        let version = parse_version("QEMU emulator version 7.2.22 (Debian 1:7.2)\nCopyright").unwrap();
        assert_eq!((version.text.as_str(), version.number), ("7.2.22", (7, 2)));
        assert_eq!(parse_version("QEMU emulator version 10.0.2\n").unwrap().number, (10, 0));
        assert_eq!(parse_version("bash"), None);
    }
}
