//! An emulator whose processors take turns.

use super::Archive;
use crate::problem::problem;
use crate::qemu;
use anyhow::Result;
use std::path::{Path, PathBuf};

/// The first version that, counting instructions, divides the time among processors. Earlier ones
/// give all of it to the first that does not sleep.
pub const SHARES: (u32, u32) = (8, 1);

/// The packages that are needed to run it: the program, its images, its firmware.
const PACKAGES: [&str; 3] = ["qemu-system-x86", "qemu-system-data", "seabios"];

/// Where the packages have images and firmware.
const DATA: [&str; 2] = ["usr/share/qemu", "usr/share/seabios"];

/// An emulator.
pub struct Emulator {
    /// The program.
    pub program: PathBuf,
    /// Arguments that tell it where its images are, if it is not installed.
    pub arguments: Vec<String>,
}

/// The emulator that was asked for, if its processors take turns; instead of a default that is too
/// old, the one of Debian's backports, which is kept in `cache` and not installed.
pub fn that_shares(asked: &Path, cache: impl FnOnce() -> PathBuf) -> Result<Emulator> {
    let version = qemu::version(asked)?;
    if version.number >= SHARES {
        return Ok(Emulator { program: asked.into(), arguments: Vec::new() });
    }
    if asked.as_os_str() != qemu::DEFAULT {
        return Err(problem(
            format!("the emulator {} cannot divide the time among processors", asked.display()),
            format!(
                "it is version {}; those before {}.{} give one processor all of it",
                version.text, SHARES.0, SHARES.1
            ),
            "leave out --qemu, name a later one, or use --wall-clock",
        ));
    }
    let packages = Archive::of_backports(cache())?.packages(&PACKAGES.map(str::to_owned))?;
    let roots: Vec<&Path> = packages.iter().map(|package| package.root.as_path()).collect();
    let existing = |names: &[&str]| -> Vec<PathBuf> {
        roots.iter().flat_map(|root| names.iter().map(|name| root.join(name))).filter(|path| path.exists()).collect()
    };
    let program = existing(&[&format!("usr/bin/{}", qemu::DEFAULT)]).pop().ok_or_else(|| {
        let why =
            format!("version {} is installed, and {} of Debian's backports has no emulator", version.text, PACKAGES[0]);
        problem("no emulator divides the time among processors", why, "name one of 8.1 or later with --qemu")
    })?;
    let arguments = existing(&DATA).iter().flat_map(|folder| ["-L".into(), folder.display().to_string()]).collect();
    Ok(Emulator { program, arguments })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    /// A program that says that it is QEMU of this version.
    fn fake(folder: &Path, version: &str) -> PathBuf {
        let path = folder.join(format!("qemu-{version}"));
        fs::write(&path, format!("#!/bin/sh\necho QEMU emulator version {version}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    #[test]
    fn one_that_was_named_is_used_or_refused() {
        let folder = tempfile::tempdir().unwrap();
        let unused = || unreachable!("nothing is downloaded");
        let newer = fake(folder.path(), "8.1.0");
        assert_eq!(that_shares(&newer, unused).unwrap().program, newer);
        let Err(error) = that_shares(&fake(folder.path(), "8.0.4"), unused) else { panic!("it is too old") };
        assert!(error.to_string().contains("--wall-clock"), "{error}");
    }
}
