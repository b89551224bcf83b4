//! Plug-ins of the emulator, and the model of caches and TLBs, which is one.

use super::job::Job;
use super::tool::Tool;
use anyhow::{Context as _, Result};
use object::{Object as _, ObjectSymbol as _};
use pillion_host::problem::problem;
use pillion_host::qemu::{self, Version};
use pillion_host::repository::Repository;
use pillion_host::tool;
use pillion_machines::Machine;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const SOURCES: &str = "measure/plugin/model";
const PLUGIN: &str = "build/model.so";
const MACHINES: &str = "measure/machines";
/// The kernel's image, which is mapped by small pages although the emulator may see large ones.
const SMALL_PAGES: &str = "ffffffff80200000-ffffffff80ffffff";
/// The kernel's entries for interrupts: symbol, and distance of vectors.
const ENTRIES: &str = "trap_stubs";
const ENTRY_SIZE: u64 = 16;
/// Vectors of interrupts that tasks respond to: those of devices, and the timer's.
const VECTORS: [u64; 13] = [0xf0, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8, 0xf9, 0xfa, 0xfb, 0xfe];

/// A plug-in of the emulator.
#[derive(Clone, Debug, PartialEq)]
pub struct Plugin {
    /// Its file, from the repository.
    pub file: String,
    /// Its arguments, but for where it writes to.
    pub arguments: String,
}

/// The version of the plug-in interface that a QEMU loads, of those that measure/plugin/plugin.h knows.
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

/// Builds a plug-in out of C.
pub fn build(repository: &Repository, sources: &[PathBuf], plugin: &str) -> Result<()> {
    let interface = interface(&qemu::version(Path::new(qemu::DEFAULT))?)?;
    fs::create_dir_all(repository.build(""))?;
    let mut cc = Command::new("cc");
    cc.args(["-std=c11", "-O3", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", "-fvisibility=hidden"]);
    cc.arg(format!("-DINTERFACE_VERSION={interface}"));
    // Another run may have it loaded: it is replaced, not written into.
    let folder = tempfile::tempdir_in(repository.build(""))?;
    let fresh = folder.path().join("plugin.so");
    cc.arg("-o").arg(&fresh).args(sources.iter().map(|source| repository.path(source))).arg("-lm");
    tool::quietly(&mut cc)?;
    fs::rename(fresh, repository.path(plugin)).with_context(|| format!("cannot write {plugin}"))
}

/// Builds the model; returns its file.
pub fn build_model(repository: &Repository) -> Result<String> {
    let mut sources = files(&repository.path(SOURCES), "c")?;
    sources.sort();
    build(repository, &sources, PLUGIN)?;
    Ok(PLUGIN.into())
}

/// The model, ready for runs on some machines.
pub struct Model {
    machines: BTreeMap<String, Machine>,
    /// `entry=` of the kernel.
    entries: String,
}

impl Model {
    /// Builds the plug-in and the kernel; for one machine of measure/machines, or all.
    pub fn prepare(tool: &dyn Tool, machine: Option<&str>) -> Result<Model> {
        build_model(tool.repository())?;
        Ok(Model { machines: machines(tool.repository(), machine)?, entries: entries(&tool.kernel(None)?)? })
    }

    /// The machines' titles.
    pub fn titles(&self) -> BTreeMap<String, String> {
        self.machines.iter().map(|(name, machine)| (name.clone(), machine.title.clone())).collect()
    }

    /// A job on each machine.
    pub fn jobs(&self, tool: &dyn Tool, job: &Job) -> Result<Vec<Job>> {
        let patch = job.boot.patch.as_ref().map(Path::new);
        let patched = patch.map(|patch| entries(&tool.kernel(Some(patch))?)).transpose()?;
        let entries = patched.as_ref().unwrap_or(&self.entries);
        let on = |(name, machine): (&String, &Machine)| Job {
            system: format!("{}@{name}", job.system),
            run: job.run,
            boot: job.boot.clone(),
            plugin: Some(Plugin {
                file: PLUGIN.into(),
                arguments: format!("{entries},small={SMALL_PAGES},{}", machine.arguments()),
            }),
        };
        Ok(self.machines.iter().map(on).collect())
    }
}

fn files(folder: &Path, ending: &str) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    Ok(paths.filter(|path| path.extension().is_some_and(|extension| extension == ending)).collect())
}

fn machines(repository: &Repository, wanted: Option<&str>) -> Result<BTreeMap<String, Machine>> {
    let mut machines = BTreeMap::new();
    for file in files(&repository.path(MACHINES), "toml")? {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        // Cargo's own file stands there too.
        if name != "Cargo" && wanted.is_none_or(|wanted| wanted == name) {
            machines.insert(name, Machine::read(&file)?);
        }
    }
    match wanted {
        Some(wanted) if machines.is_empty() => Err(problem(
            format!("there is no machine {wanted}"),
            format!("{MACHINES} holds no {wanted}.toml"),
            format!("`ls {MACHINES}` names them"),
        )),
        _ => Ok(machines),
    }
}

/// Where a kernel is entered by interrupts that tasks respond to.
fn entries(kernel: &Path) -> Result<String> {
    let data = fs::read(kernel).with_context(|| format!("cannot read {}", kernel.display()))?;
    let file = object::File::parse(&*data)?;
    let stubs = file.symbols().find(|symbol| symbol.name() == Ok(ENTRIES));
    let start = stubs.with_context(|| format!("the kernel has no symbol {ENTRIES}"))?.address();
    let entries = VECTORS.map(|vector| format!("entry={:x}", start + vector * ENTRY_SIZE));
    Ok(entries.join(","))
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
