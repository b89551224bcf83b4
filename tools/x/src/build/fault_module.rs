//! The kernel module that lets Linux come to grief from within, built against the headers of the kernel that rides.

use crate::debian::{Archive, Package};
use crate::progress::step;
use crate::repository::Repository;
use crate::tool;
use anyhow::{Context as _, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where the module's sources are, in the repository.
pub const SOURCES: &str = "linux/fault";

/// Builds the module for a kernel release.
pub fn make(repository: &Repository, archive: &Archive, release: &str) -> Result<Vec<u8>> {
    let folder = repository.build(format!("fault-{release}"));
    let packages = packages(archive, release)?;
    step("building the module for faults", || {
        let tree = headers(&folder, &packages, release)?;
        compile(repository, archive, &folder, &tree, &packages)
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
    let root = std::path::absolute(folder)?.join("headers");
    let tree = root.join("usr/src").join(format!("linux-headers-{release}"));
    if root.exists() {
        fs::remove_dir_all(&root)?;
    }
    fs::create_dir_all(&root)?;
    for package in packages {
        tool::quietly(Command::new("cp").args(["-a", "-T"]).arg(&package.root).arg(&root))?;
    }
    let makefile = tree.join("Makefile");
    let text = fs::read_to_string(&makefile).with_context(|| format!("cannot read {}", makefile.display()))?;
    fs::write(&makefile, text.replace("/usr/src/", "../"))?;
    Ok(tree)
}

fn compile(
    repository: &Repository,
    archive: &Archive,
    folder: &Path,
    tree: &Path,
    packages: &[Package],
) -> Result<Vec<u8>> {
    let work = tempfile::tempdir_in(folder)?;
    let sources = repository.path(SOURCES);
    for entry in fs::read_dir(&sources).with_context(|| format!("cannot read {}", sources.display()))? {
        let entry = entry?;
        fs::copy(entry.path(), work.path().join(entry.file_name()))?;
    }
    let mut make = Command::new("make");
    make.arg("-C").arg(tree).arg(format!("M={}", std::path::absolute(work.path())?.display()));
    make.args(["CC=gcc", "modules"]).env("LD_LIBRARY_PATH", libraries(archive, packages)?);
    tool::quietly(&mut make).context("the module for faults needs gcc and make (apt-get install gcc make)")?;
    let module = work.path().join("fault.ko");
    tool::quietly(Command::new("strip").arg("--strip-debug").arg(&module))?;
    fs::read(&module).with_context(|| format!("cannot read {}", module.display()))
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
