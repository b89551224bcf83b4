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

/// Whether a QEMU tells a plug-in the processor.
fn tells_processors(version: &Version) -> Result<()> {
    match version.number {
        (..=8, _) => Ok(()),
        _ => Err(problem(
            format!("QEMU {} cannot count the instructions of several processors apart", version.text),
            "while its processors take turns, a plug-in is told the wrong one",
            "use QEMU 7.2 to 8.2 for what is counted by processor; other measurements run with any",
        )),
    }
}

/// Builds the plug-in that counts by processor.
pub fn build_by_processor(repository: &Repository, source: &str, plugin: &str) -> Result<()> {
    tells_processors(&qemu::version(Path::new(qemu::DEFAULT))?)?;
    build(repository, &[source.into()], plugin)
}

/// Builds a plug-in from C for the emulator that runs one processor.
pub fn build(repository: &Repository, sources: &[PathBuf], plugin: &str) -> Result<()> {
    build_for(repository, Path::new(qemu::DEFAULT), &[], sources, plugin)
}

/// Builds a plug-in from C for an emulator of several processors, of which it counts the total.
pub fn build_total(repository: &Repository, emulator: &Path, source: &str, plugin: &str) -> Result<()> {
    build_for(repository, emulator, &["-DTOTAL_ONLY"], &[source.into()], plugin)
}

fn build_for(
    repository: &Repository,
    emulator: &Path,
    options: &[&str],
    sources: &[PathBuf],
    plugin: &str,
) -> Result<()> {
    let interface = interface(&qemu::version(emulator)?)?;
    fs::create_dir_all(repository.build(""))?;
    let mut cc = Command::new("cc");
    cc.args(["-std=c11", "-O3", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", "-fvisibility=hidden"]);
    cc.arg(format!("-DINTERFACE_VERSION={interface}")).args(options);
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

    #[test]
    fn an_emulator_that_confuses_processors_is_refused() {
        let told = |text: &str, number| tells_processors(&Version { text: text.into(), number });
        assert!(told("7.2.22", (7, 2)).is_ok() && told("8.2.10", (8, 2)).is_ok());
        for (text, number) in [("9.1.0", (9, 1)), ("10.0.2", (10, 0))] {
            let message = told(text, number).unwrap_err().to_string();
            assert!(message.contains(text) && message.contains("use QEMU 7.2 to 8.2"), "{message}");
        }
    }

    /// `measure/plugin/check/several.S`, where these are defined.
    const PROCESSORS: usize = 3;
    const PIECES: usize = 3;
    const ROUNDS: u64 = 1000;

    #[test]
    fn several_processors_instructions_are_told_apart() {
        let repository = Repository::find().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let (guest, counts) = (folder.path().join("guest"), folder.path().join("counts"));
        build_by_processor(&repository, "measure/plugin/several.c", "build/several.so").unwrap();
        let mut cc = Command::new("cc");
        cc.args(["-m32", "-nostdlib", "-static", "-no-pie", "-Wl,-Ttext=0x100000,--build-id=none", "-o"]).arg(&guest);
        tool::quietly(cc.arg(repository.path("measure/plugin/check/several.S"))).unwrap();
        let mut emulator = Command::new("timeout");
        emulator.args(["120", qemu::DEFAULT, "-accel", "tcg", "-icount", "shift=0,sleep=off", "-nodefaults"]);
        emulator.args(["-display", "none", "-device", "isa-debug-exit"]).args(["-smp", &PROCESSORS.to_string()]);
        emulator.arg("-kernel").arg(&guest).arg("-plugin");
        // The guest is taken for a kernel.
        let plugin = repository.build("several.so");
        emulator.arg(format!("{},out={},kernel=100000-1fffff", plugin.display(), counts.display()));
        // Its status is what the guest wrote to the device, times two, plus one.
        assert_eq!(emulator.status().unwrap().code(), Some(1));

        let text = fs::read_to_string(&counts).unwrap();
        let events: Vec<(&str, usize, u64)> = text
            .lines()
            .map(|line| {
                let words: Vec<&str> = line.split(' ').collect();
                (words[0], words[1].parse().unwrap(), words[2].parse().unwrap())
            })
            .collect();
        let markers = events.iter().filter(|event| !["end", "off"].contains(&event.0));
        let turns = markers.map(|event| event.1).collect::<Vec<_>>();
        assert!(turns.windows(2).any(|two| two[0] > two[1]), "they take turns: {turns:?}");
        for processor in 0..PROCESSORS {
            let of = |name: &str| -> Vec<u64> {
                events.iter().filter(|event| event.0 == name && event.1 == processor).map(|event| event.2).collect()
            };
            let pieces: Vec<u64> = of("From").iter().zip(of("Upto")).map(|(from, upto)| upto - from).collect();
            let length = 3 * (processor as u64 + 1) * ROUNDS + 2;
            assert_eq!(pieces, [length; PIECES], "processor {processor}");
            assert!(of("end")[0] > length * PIECES as u64);
            // With the marker at its end.
            assert_eq!(of("off"), [length + 1], "processor {processor}");
        }
    }
}
