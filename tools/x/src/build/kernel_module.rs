//! Kernel modules of this repository, built against the headers of the kernel that rides.

use super::initramfs;
use crate::debian::{Archive, Package};
use crate::progress::step;
use crate::repository::Repository;
use crate::tool;
use anyhow::{Context as _, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A module.
pub struct Module {
    /// Name.
    pub name: &'static str,
    /// Files, and folders with files, that it is built from; in the repository.
    pub sources: &'static [&'static str],
}

/// Lets Linux come to grief from within.
pub const FAULTS: Module = Module { name: "fault", sources: &["linux/fault", "abi/c/pillion_channel.h"] };

/// Raises interrupts and notes when they are handled.
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
                files.extend(initramfs::files(&source)?);
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
        let folder = tempfile::tempdir_in(repository.build(""))?;
        let folder = folder.path();
        let tree = headers(folder, &packages, release)?;
        let libraries = libraries(archive, &packages)?;
        modules.iter().map(|module| compile(repository, module, folder, &tree, &libraries)).collect()
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

/// One tree out of the packages, as they would be installed, but with no absolute path in it. Returns the folder to build in.
fn headers(folder: &Path, packages: &[Package], release: &str) -> Result<PathBuf> {
    let root = std::path::absolute(folder)?;
    let tree = root.join("usr/src").join(format!("linux-headers-{release}"));
    for package in packages {
        tool::quietly(Command::new("cp").args(["-a", "-T"]).arg(&package.root).arg(&root))?;
    }
    let makefile = tree.join("Makefile");
    let text = fs::read_to_string(&makefile).with_context(|| format!("cannot read {}", makefile.display()))?;
    fs::write(&makefile, text.replace("/usr/src/", "../"))?;
    Ok(tree)
}

/// Builds one module in a folder where all its files lie side by side. The result has the same bytes wherever that folder lies: a path in it,
/// or an identifier made of paths, would move what Linux has in memory.
fn compile(repository: &Repository, module: &Module, folder: &Path, tree: &Path, libraries: &str) -> Result<Vec<u8>> {
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
    make.args(["CC=gcc", "modules"]).env("LD_LIBRARY_PATH", libraries);
    tool::quietly(&mut make).context("kernel modules need gcc and make (apt-get install gcc make)")?;
    let built = work.join(module.name).with_extension("ko");
    tool::quietly(Command::new("strip").arg("--strip-debug").arg(&built))?;
    fs::read(&built).with_context(|| format!("cannot read {}", built.display()))
}

/// Folders of the libraries that the headers' own tools need and this machine may lack.
fn libraries(archive: &Archive, packages: &[Package]) -> Result<String> {
    let needed = packages.iter().flat_map(|package| &package.depends).filter(|name| name.starts_with("libelf"));
    let names: Vec<String> = needed.cloned().collect();
    let roots = archive.packages(&names)?.into_iter().map(|package| package.root);
    let folders = roots.map(|root| root.join("usr/lib/x86_64-linux-gnu"));
    let absolute = folders.filter_map(|folder| folder.canonicalize().ok());
    Ok(absolute.map(|folder| folder.to_string_lossy().into_owned()).collect::<Vec<_>>().join(":"))
}
