//! Plug-ins of the emulator.

use anyhow::{Context as _, Result};
use pillion_host::problem::problem;
use pillion_host::qemu::{self, Version};
use pillion_host::repository::Repository;
use pillion_host::tool;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A plug-in of the emulator.
#[derive(Clone, Debug, PartialEq)]
pub struct Plugin {
    /// Its file, relative to the repository.
    pub file: String,
    /// Its arguments, except its output file.
    pub arguments: String,
}

/// The version of the plug-in interface that a QEMU supports, if measure/plugin/plugin.h knows it.
fn interface(version: &Version) -> Result<u32> {
    match version.number {
        (..=8, _) => Ok(1),
        (9, 0) => Err(problem(
            format!("QEMU {} does not load the plug-ins that count and model", version.text),
            "it has version 2 of the plug-in interface, which no version before or after has",
            "use QEMU 7.2 to 8.2, or 9.1 and later; counted measurements without a plug-in run with any",
        )),
        _ => Ok(3),
    }
}

/// Builds a plug-in from C.
pub fn build(repository: &Repository, sources: &[PathBuf], plugin: &str) -> Result<()> {
    let interface = interface(&qemu::version(Path::new(qemu::DEFAULT))?)?;
    fs::create_dir_all(repository.build(""))?;
    let mut cc = Command::new("cc");
    cc.args(["-std=c11", "-O3", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", "-fvisibility=hidden"]);
    cc.arg(format!("-DINTERFACE_VERSION={interface}"));
    // Another run may have loaded it, so the file is replaced, not overwritten.
    let folder = tempfile::tempdir_in(repository.build(""))?;
    let fresh = folder.path().join("plugin.so");
    cc.arg("-o").arg(&fresh).args(sources.iter().map(|source| repository.path(source))).arg("-lm");
    tool::quietly(&mut cc)?;
    fs::rename(fresh, repository.path(plugin)).with_context(|| format!("cannot write {plugin}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_emulator_gets_the_interface_that_it_loads() {
        let interface = |text: &str, number| interface(&Version { text: text.into(), number });
        for (text, number, expected) in
            [("7.2.22", (7, 2), 1), ("8.2.10", (8, 2), 1), ("9.1.0", (9, 1), 3), ("10.0.2", (10, 0), 3)]
        {
            assert_eq!(interface(text, number).unwrap(), expected, "{text}");
        }
        let message = interface("9.0.4", (9, 0)).unwrap_err().to_string();
        assert!(message.contains("9.0.4") && message.contains("version 2"), "{message}");
    }
}
