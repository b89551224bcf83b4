//! The model of caches and TLBs, a plug-in of the emulator.

use super::job::Job;
use super::plugin::{self, Plugin};
use super::system_name;
use super::tool::Tool;
use anyhow::{Context as _, Result};
use object::{Object as _, ObjectSymbol as _};
use pillion_host::file::{all, read};
use pillion_host::problem::problem;
use pillion_host::repository::Repository;
use pillion_machines::Machine;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const SOURCES: &str = "measure/plugin/model";
const PLUGIN: &str = "build/model.so";
const MACHINES: &str = "measure/machines";
/// The addresses of the kernel's image, which is mapped with small pages although they may look
/// like large ones to the emulator.
const SMALL_PAGES: &str = "ffffffff80200000-ffffffff80ffffff";
/// The kernel's interrupt entry points: symbol, and distance between vectors.
const ENTRIES: &str = "trap_stubs";
const ENTRY_SIZE: u64 = 16;
/// Vectors of interrupts that tasks respond to: devices, and the timer.
const VECTORS: [u64; 13] = [0xf0, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8, 0xf9, 0xfa, 0xfb, 0xfe];

/// Builds the model; returns its path.
pub fn build_model(repository: &Repository) -> Result<String> {
    let mut sources = all(&repository.path(SOURCES))?;
    sources.retain(|file| file.extension().is_some_and(|end| end == "c"));
    plugin::build(repository, &sources, PLUGIN)?;
    Ok(PLUGIN.into())
}

/// The model, ready for runs on some machines.
pub struct Model {
    machines: BTreeMap<String, Machine>,
    /// The kernel's `entry=` argument.
    entries: String,
}

impl Model {
    /// Builds the plug-in and the kernel, for one machine of measure/machines or for all.
    pub fn prepare(tool: &dyn Tool, machine: Option<&str>) -> Result<Model> {
        build_model(tool.repository())?;
        Ok(Model { machines: machines(tool.repository(), machine)?, entries: entries(&tool.kernel(None)?)? })
    }

    /// The machines' titles.
    pub fn titles(&self) -> BTreeMap<String, String> {
        self.machines.iter().map(|(name, machine)| (name.clone(), machine.title.clone())).collect()
    }

    /// A job for each machine.
    pub fn jobs(&self, tool: &dyn Tool, job: &Job) -> Result<Vec<Job>> {
        let patch = job.boot.patch.as_ref().map(Path::new);
        let patched = patch.map(|patch| entries(&tool.kernel(Some(patch))?)).transpose()?;
        let entries = patched.as_ref().unwrap_or(&self.entries);
        let on = |(name, machine): (&String, &Machine)| Job {
            system: system_name::on(&job.system, name),
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

fn machines(repository: &Repository, wanted: Option<&str>) -> Result<BTreeMap<String, Machine>> {
    let files = all(&repository.path(MACHINES))?;
    // The folder has Cargo's own file as well.
    let is_machine =
        |file: &&PathBuf| file.extension().is_some_and(|end| end == "toml") && !file.ends_with("Cargo.toml");
    let name = |file: &PathBuf| file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut known: BTreeMap<String, &PathBuf> =
        files.iter().filter(is_machine).map(|file| (name(file), file)).collect();
    if let Some(wanted) = wanted {
        if !known.contains_key(wanted) {
            let names: Vec<&str> = known.keys().map(String::as_str).collect();
            return Err(problem(
                format!("there is no machine {wanted}"),
                format!("{MACHINES} holds no {wanted}.toml"),
                format!("choose among {}", names.join(", ")),
            ));
        }
        known.retain(|name, _| name == wanted);
    }
    known.into_iter().map(|(name, file)| Ok((name, Machine::read(file)?))).collect()
}

/// The kernel's entry points for interrupts that tasks respond to.
fn entries(kernel: &Path) -> Result<String> {
    let start = entry(kernel, 0)?;
    let entries = VECTORS.map(|vector| format!("entry={:x}", start + vector * ENTRY_SIZE));
    Ok(entries.join(","))
}

/// The kernel's entry point for a vector.
pub fn entry(kernel: &Path, vector: u64) -> Result<u64> {
    let data = read(kernel)?;
    let file = object::File::parse(&*data)?;
    let stubs = file.symbols().find(|symbol| symbol.name() == Ok(ENTRIES));
    let start = stubs.with_context(|| format!("the kernel has no symbol {ENTRIES}"))?.address();
    Ok(start + vector * ENTRY_SIZE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_are_chosen_by_name() {
        let repository = Repository::find().unwrap();
        let all = machines(&repository, None).unwrap();
        assert!(all.len() > 1);
        let one = machines(&repository, Some("zen-3")).unwrap();
        assert!(one.keys().eq(["zen-3"]));
        let said = machines(&repository, Some("zen-9")).err().unwrap().to_string();
        assert!(all.keys().all(|name| said.contains(name)), "{said}");
    }
}
