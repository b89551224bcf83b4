//! This repository's kernel modules, built against the headers of the kernel that rides.

use crate::debian::{Archive, Package, libraries};
use crate::file;
use crate::progress::step;
use crate::repository::Repository;
use crate::tool;
use anyhow::{Context as _, Result};
use std::collections::BTreeSet;
use std::env::{join_paths, split_paths};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A module.
pub struct Module {
    /// Name.
    pub name: &'static str,
    /// Files, and folders with files, that it is built from; relative to the repository.
    pub sources: &'static [&'static str],
}

/// Makes Linux fail from within.
pub const FAULTS: Module = Module { name: "fault", sources: &["linux/fault", "abi/c/pillion_channel.h"] };

/// Raises interrupts and records when they are handled.
pub const MEASURE: Module = Module { name: "measure", sources: &["linux/measure"] };

/// Linux's side of the channels.
pub const CHANNELS: Module =
    Module { name: "pillion", sources: &["linux/module", "linux/uapi", "abi/c/pillion_channel.h"] };

impl Module {
    /// All files that it is built from.
    pub fn files(&self, repository: &Repository) -> Result<Vec<PathBuf>> {
        let mut files = Vec::new();
        for source in self.sources.iter().map(|source| repository.path(source)) {
            if source.is_dir() {
                files.extend(file::all(&source)?);
            } else {
                files.push(source);
            }
        }
        Ok(files)
    }
}

/// Builds modules for a kernel release; the results are `.ko` files without debugging information.
pub fn make(repository: &Repository, archive: &Archive, release: &str, modules: &[&Module]) -> Result<Vec<Vec<u8>>> {
    if modules.is_empty() {
        return Ok(Vec::new());
    }
    let names: Vec<&str> = modules.iter().map(|module| module.name).collect();
    let packages = packages(archive, release)?;
    step(&format!("building kernel modules ({})", names.join(", ")), || {
        // Outside the repository: Linux's makefiles do not support paths with a space.
        let folder = file::temporary()?;
        let folder = folder.path();
        let tree = headers(folder, &packages, release)?;
        let tools = Tools::gather(archive, &packages)?;
        modules.iter().map(|module| compile(repository, module, folder, &tree, &tools)).collect()
    })
}

/// The headers of the kernel, with what they depend on.
fn packages(archive: &Archive, release: &str) -> Result<Vec<Package>> {
    let headers = archive.package(&format!("linux-headers-{release}"))?;
    let wanted = |name: &&String| name.starts_with("linux-headers-") || name.starts_with("linux-kbuild-");
    let names: Vec<String> = headers.depends.iter().filter(wanted).cloned().collect();
    let mut packages = archive.packages(&names)?;
    packages.insert(0, headers);
    Ok(packages)
}

/// Assembles one tree from the packages, as they would be installed, but without absolute paths.
/// Returns the folder to build in.
fn headers(folder: &Path, packages: &[Package], release: &str) -> Result<PathBuf> {
    let root = std::path::absolute(folder)?;
    let tree = root.join("usr/src").join(format!("linux-headers-{release}"));
    for package in packages {
        tool::quietly(Command::new("cp").args(["-a", "-T"]).arg(&package.root).arg(&root))?;
    }
    let makefile = tree.join("Makefile");
    fs::write(&makefile, file::read_text(&makefile)?.replace("/usr/src/", "../"))?;
    Ok(tree)
}

/// Builds one module in a folder with all its files side by side. The bytes of the result do not
/// depend on where that folder lies: a path in it, or an identifier derived from paths, would
/// change where Linux has things in memory.
fn compile(repository: &Repository, module: &Module, folder: &Path, tree: &Path, tools: &Tools) -> Result<Vec<u8>> {
    let folder = std::path::absolute(folder)?;
    let work = folder.join(module.name);
    fs::create_dir(&work)?;
    for file in module.files(repository)? {
        let name = file.file_name().context("a file has a name")?;
        fs::copy(&file, work.join(name)).with_context(|| format!("cannot read {}", file.display()))?;
    }
    let mut make = Command::new("make");
    make.arg("-C").arg(tree).arg(format!("M={}", work.display()));
    make.arg(format!("KCFLAGS=-ffile-prefix-map={}=.", folder.display())).arg("LDFLAGS_MODULE=--build-id=none");
    make.args(["CC=gcc", "modules"]).env("PATH", &tools.path).env("LD_LIBRARY_PATH", &tools.libraries);
    tool::quietly(&mut make).with_context(|| format!("the kernel module {} could not be built", module.name))?;
    let built = work.join(module.name).with_extension("ko");
    tool::quietly(Command::new("strip").arg("--strip-debug").arg(&built))?;
    file::read(&built)
}

/// Programs and libraries that the headers' own programs need and this machine may lack: Debian
/// 13's call `pahole` for every module.
struct Tools {
    /// Search path for programs, this machine's folders first.
    path: OsString,
    /// Search path for libraries.
    libraries: OsString,
}

impl Tools {
    /// Gathers them from the direct and indirect dependencies of the package with those programs.
    fn gather(archive: &Archive, packages: &[Package]) -> Result<Tools> {
        let kbuild = packages.iter().filter(|package| package.name.starts_with("linux-kbuild-"));
        let mut found: Vec<Package> = Vec::new();
        let mut wanted = further(kbuild, &found);
        while !wanted.is_empty() {
            let newly = archive.packages(&wanted)?;
            wanted = further(&newly, &found);
            wanted.retain(|name| newly.iter().all(|package| package.name != *name));
            found.extend(newly);
        }
        Tools::of(&found, &std::env::var_os("PATH").unwrap_or_default())
    }

    fn of(packages: &[Package], path: &OsStr) -> Result<Tools> {
        let there = |inside: &str| {
            let folders = packages.iter().filter_map(|package| package.root.join(inside).canonicalize().ok());
            folders.collect::<Vec<_>>()
        };
        let path = join_paths(split_paths(path).chain(there("usr/bin")))?;
        let libraries = join_paths(libraries::FOLDERS.map(there).concat())?;
        Ok(Tools { path, libraries })
    }
}

/// Dependencies of these packages that are not there yet. The C library is left out: every machine
/// has one, and its own fits best.
fn further<'a>(packages: impl IntoIterator<Item = &'a Package>, found: &[Package]) -> Vec<String> {
    let names: BTreeSet<&String> = packages.into_iter().flat_map(|package| &package.depends).collect();
    let new = |name: &&String| *name != "libc6" && found.iter().all(|package| package.name != **name);
    names.into_iter().filter(new).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(root: &Path, name: &str, depends: &[&str]) -> Package {
        let depends = depends.iter().map(|name| (*name).to_owned()).collect();
        Package { name: name.into(), depends, root: root.join(name) }
    }

    #[test]
    fn what_the_headers_programs_call_is_found_as_what_they_load() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let kbuild = package(&root, "linux-kbuild-6.12", &["libc6", "libelf1t64", "pahole"]);
        let (elf, pahole) =
            (package(&root, "libelf1t64", &["libc6"]), package(&root, "pahole", &["libc6", "libelf1t64"]));
        assert_eq!(further([&kbuild], &[]), ["libelf1t64", "pahole"]);
        assert_eq!(further([&elf, &pahole], std::slice::from_ref(&elf)), [""; 0]);

        fs::create_dir_all(pahole.root.join("usr/bin")).unwrap();
        fs::create_dir_all(elf.root.join("usr/lib/x86_64-linux-gnu")).unwrap();
        let tools = Tools::of(&[elf, pahole], OsStr::new("/usr/bin")).unwrap();
        assert_eq!(tools.path, *format!("/usr/bin:{}/pahole/usr/bin", root.display()));
        assert_eq!(tools.libraries, *format!("{}/libelf1t64/usr/lib/x86_64-linux-gnu", root.display()));
    }
}
