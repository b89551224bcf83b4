//! The shared libraries that programs need, taken from their packages' dependencies.

use super::{Archive, Package};
use crate::problem::problem;
use anyhow::Result;
use object::read::elf::{Dyn as _, FileHeader as _, ProgramHeader as _};
use object::{Endianness, elf};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Folders of a package that contain libraries.
pub const FOLDERS: [&str; 4] = ["lib/x86_64-linux-gnu", "usr/lib/x86_64-linux-gnu", "lib64", "usr/lib64"];

/// The libraries that programs from `packages` need, by file name.
pub fn gather(archive: &Archive, packages: &[Package], programs: &[PathBuf]) -> Result<BTreeMap<String, PathBuf>> {
    let mut search = Search { packages: packages.to_vec(), asked: BTreeSet::new() };
    let mut found = BTreeMap::new();
    let mut open: Vec<PathBuf> = programs.to_vec();
    while let Some(file) = open.pop() {
        for name in needed(&file)? {
            if let Entry::Vacant(vacant) = found.entry(name) {
                let library = search.find(archive, vacant.key(), &file)?;
                open.push(library.clone());
                vacant.insert(library);
            }
        }
    }
    Ok(found)
}

struct Search {
    packages: Vec<Package>,
    asked: BTreeSet<String>,
}

impl Search {
    fn find(&mut self, archive: &Archive, name: &str, user: &Path) -> Result<PathBuf> {
        if let Some(path) = self.look(name) {
            return Ok(path);
        }
        self.widen(archive, user)?;
        self.look(name).ok_or_else(|| {
            problem(
                format!("the library {name} was not found"),
                format!("{} needs it, and no package that it depends on holds it", user.display()),
                "run `apt-get update` as root, then try again",
            )
        })
    }

    fn look(&self, name: &str) -> Option<PathBuf> {
        let places =
            self.packages.iter().flat_map(|package| FOLDERS.map(|folder| package.root.join(folder).join(name)));
        places.filter_map(|path| path.canonicalize().ok()).find(|path| self.owns(path))
    }

    /// Whether a file is in one of the packages. A link that leads out of them does not count.
    fn owns(&self, path: &Path) -> bool {
        self.packages.iter().any(|package| path.starts_with(&package.root))
    }

    /// Adds the packages that the package of `user` depends on.
    fn widen(&mut self, archive: &Archive, user: &Path) -> Result<()> {
        let Some(owner) = self.packages.iter().find(|package| user.starts_with(&package.root)) else { return Ok(()) };
        let wanted: Vec<String> =
            owner.depends.iter().filter(|name| name.contains("lib") && !self.asked.contains(*name)).cloned().collect();
        self.asked.extend(wanted.iter().cloned());
        if !wanted.is_empty() {
            self.packages.extend(archive.packages(&wanted)?);
        }
        Ok(())
    }
}

/// The interpreter and the libraries that an ELF file names.
fn needed(file: &Path) -> Result<Vec<String>> {
    let data = std::fs::read(file)?;
    let header = elf::FileHeader64::<Endianness>::parse(&*data)?;
    let endian = header.endian()?;
    let mut names = Vec::new();
    for segment in header.program_headers(endian, &*data)? {
        if let Ok(Some(path)) = segment.interpreter(endian, &*data) {
            names.extend(
                Path::new(&*String::from_utf8_lossy(path)).file_name().map(|name| name.to_string_lossy().into()),
            );
        }
    }
    let sections = header.sections(endian, &*data)?;
    if let Some((entries, link)) = sections.dynamic(endian, &*data)? {
        let strings = sections.strings(endian, &*data, link)?;
        for entry in entries.iter().filter(|entry| entry.tag(endian) == elf::DT_NEEDED) {
            names.push(String::from_utf8_lossy(entry.string(endian, strings)?).into_owned());
        }
    }
    Ok(names)
}
