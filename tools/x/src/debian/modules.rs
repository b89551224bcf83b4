//! Kernel modules and the order in which they are loaded.

use crate::file;
use anyhow::{Context as _, Result};
use object::{Object as _, ObjectSection as _};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The modules of one kernel.
pub struct Modules {
    files: BTreeMap<String, PathBuf>,
    built_in: BTreeSet<String>,
}

/// A module to load.
pub struct Module {
    /// Name, with underscores.
    pub name: String,
    /// Its ELF file.
    pub data: Vec<u8>,
}

impl Modules {
    /// The modules under `root`, in the place where a Debian package or an installed system keeps
    /// them.
    pub fn below(root: &Path, release: &str) -> Result<Option<Modules>> {
        let candidates = ["lib/modules", "usr/lib/modules"].map(|folder| root.join(folder).join(release));
        let Some(folder) = candidates.into_iter().find(|folder| folder.join("kernel").is_dir()) else {
            return Ok(None);
        };
        let files = file::all(&folder.join("kernel"))?.into_iter();
        let files = files.filter_map(|file| Some((module_name(&file)?, file))).collect();
        let text = std::fs::read_to_string(folder.join("modules.builtin")).unwrap_or_default();
        let built_in = text.lines().filter_map(|line| module_name(Path::new(line))).collect();
        Ok(Some(Modules { files, built_in }))
    }

    /// The named modules and all that they need, each after its dependencies.
    pub fn in_order<'a>(&self, names: impl Iterator<Item = &'a str>) -> Result<Vec<Module>> {
        let mut order = Vec::new();
        let mut seen = BTreeSet::new();
        for name in names {
            self.visit(&name.replace('-', "_"), &mut seen, &mut order)?;
        }
        Ok(order)
    }

    fn visit(&self, name: &str, seen: &mut BTreeSet<String>, order: &mut Vec<Module>) -> Result<()> {
        if self.built_in.contains(name) || !seen.insert(name.to_owned()) {
            return Ok(());
        }
        let Some(file) = self.files.get(name) else { return Ok(()) };
        let data = read(file)?;
        for needed in needs(&data).with_context(|| format!("{} is not a kernel module", file.display()))? {
            self.visit(&needed, seen, order)?;
        }
        order.push(Module { name: name.to_owned(), data });
        Ok(())
    }
}

/// The name of the module in a file `NAME.ko`, `NAME.ko.xz`, ..
fn module_name(path: &Path) -> Option<String> {
    let (name, _) = path.file_name()?.to_str()?.split_once(".ko")?;
    Some(name.replace('-', "_"))
}

fn read(file: &Path) -> Result<Vec<u8>> {
    let unpacker = match file.extension().and_then(|extension| extension.to_str()) {
        Some("xz") => "xz",
        Some("zst") => "zstd",
        Some("gz") => "gzip",
        _ => return file::read(file),
    };
    let output = crate::tool::output(Command::new(unpacker).arg("-dc").arg(file))?;
    anyhow::ensure!(output.status.success(), "{unpacker} could not unpack {}", file.display());
    Ok(output.stdout)
}

/// Names of the modules that must be loaded first.
fn needs(data: &[u8]) -> Result<Vec<String>> {
    let file = object::File::parse(data)?;
    let section = file.section_by_name(".modinfo").context("no .modinfo")?;
    let text = String::from_utf8_lossy(section.data()?);
    let fields = text.split('\0').filter_map(|field| field.split_once('='));
    Ok(fields.flat_map(|(key, value)| needed_by(key, value)).collect())
}

fn needed_by(key: &str, value: &str) -> Vec<String> {
    let names: Vec<&str> = match key {
        "depends" => value.split(',').filter(|name| !name.is_empty()).collect(),
        "softdep" => soft(value),
        _ => Vec::new(),
    };
    names.into_iter().map(|name| name.replace('-', "_")).collect()
}

/// The names after `pre:`; an alias for several modules stands for the most generic of them.
fn soft(value: &str) -> Vec<&str> {
    let before = value.split("post:").next().and_then(|text| text.split_once("pre:")).map_or("", |(_, names)| names);
    before.split_whitespace().map(|name| if name == "crc32c" { "crc32c_generic" } else { name }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_needs() {
        assert_eq!(module_name(Path::new("kernel/a/virtio-rng.ko.xz")).as_deref(), Some("virtio_rng"));
        assert_eq!(module_name(Path::new("kernel/a/README")), None);
        assert_eq!(needed_by("depends", "a-b,c"), ["a_b", "c"]);
        assert_eq!(needed_by("depends", ""), Vec::<String>::new());
        assert_eq!(needed_by("softdep", "pre: crc32c x post: y"), ["crc32c_generic", "x"]);
    }
}
