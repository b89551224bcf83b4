//! `x deb`: Debian packages, by which Pillion is installed on a machine of its own.

mod package;

use crate::build::bundle::Bundle;
use crate::build::{cargo, image_of};
use crate::cli::DebArguments;
use crate::doctor::install;
use crate::file;
use crate::hw;
use crate::progress::step;
use crate::repository::Repository;
use crate::tool;
use anyhow::{Context as _, Result};
use package::Contents;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Programs that make the packages, and the packages that contain them.
const PROGRAMS: [(&str, &str); 4] = [("dpkg-deb", "dpkg"), ("make", "make"), ("cc", "gcc"), ("gzip", "gzip")];

/// Tasks in the bundle of an installed system: the manager, what it starts, and an example.
const BUNDLED: [&str; 6] = [pillion_abi::bundle::ROOT_TASK, "vmm", "broker", "dual", "psc", "demo"];

/// The program that checks a system file.
const CHECK: &str = "pillion-check";

/// What is compiled where the packages are installed, or for Linux.
const SOURCES: [&str; 3] = ["linux", "abi/c", "rt/shared"];

/// `x deb`.
pub fn command(repository: &Repository, arguments: &DebArguments) -> Result<bool> {
    let folder = match &arguments.folder {
        Some(folder) => std::path::absolute(folder)?,
        None => repository.build("deb"),
    };
    for package in make(repository, &folder)? {
        println!("package {}", package.display());
    }
    Ok(true)
}

/// Makes all packages, in a folder.
pub fn make(repository: &Repository, folder: &Path) -> Result<Vec<PathBuf>> {
    install::programs(&PROGRAMS, None)?;
    fs::create_dir_all(folder)?;
    let work = file::temporary()?;
    let sources = work.path().join("sources");
    let rust = ready(repository)?;
    step("compiling for Linux", || compile(repository, &sources))?;
    let mut made = Vec::new();
    for package in package::ALL {
        let tree = work.path().join(package.name);
        match package.contents {
            Contents::System => system(repository, &rust, &sources, &tree)?,
            Contents::Module => tool::quietly(&mut install_from(&sources, "linux/dkms", &tree))?,
            Contents::Library => tool::quietly(&mut install_from(&sources, "linux/lib", &tree))?,
            Contents::Documents => documents(repository, &tree)?,
        }
        made.push(step(&format!("packing {}", package.name), || package.pack(repository, &tree, folder))?);
    }
    Ok(made)
}

/// What is built from Rust.
struct Ready {
    kernel: PathBuf,
    bundle: Bundle,
    /// Programs for Linux.
    programs: Vec<PathBuf>,
}

fn ready(repository: &Repository) -> Result<Ready> {
    let packages = BUNDLED.map(str::to_owned);
    let output = step("building the kernel and the tasks", || cargo::build(repository, &packages))?;
    let mut bundle = Bundle::default();
    for name in BUNDLED {
        bundle.add(name, image_of(&output.join(format!("pillion-{name}")))?)?;
    }
    let check = step(&format!("building {CHECK}"), || cargo::build_static(repository, CHECK))?;
    Ok(Ready { kernel: output.join("pillion-kernel"), bundle, programs: vec![check, hw::program(repository)?] })
}

/// Copies the sources, so that nothing is compiled in the repository, and compiles library and
/// command.
fn compile(repository: &Repository, sources: &Path) -> Result<()> {
    for folder in SOURCES {
        for path in file::below(&repository.path(folder))? {
            put(&repository.path(folder).join(&path), &sources.join(folder).join(&path), 0o644)?;
        }
    }
    tool::quietly(&mut install_from(sources, "linux/tools", &sources.join("unused")))
}

/// `make install` of a folder of the sources, into a tree.
fn install_from(sources: &Path, folder: &str, tree: &Path) -> Command {
    let mut make = Command::new("make");
    make.arg("-s").arg("-C").arg(sources.join(folder)).args(["install", "PREFIX=/usr"]);
    make.arg(format!("DESTDIR={}", tree.display()));
    // Paths of this machine are in no program.
    make.arg(format!("CFLAGS=-O2 -g0 -ffile-prefix-map={}=.", sources.display()));
    make
}

/// Kernel, bundle, settings, GRUB's script, and the commands.
fn system(repository: &Repository, rust: &Ready, sources: &Path, tree: &Path) -> Result<()> {
    let from = repository.path("packages/pillion");
    put(&rust.kernel, &tree.join("boot/pillion/kernel"), 0o644)?;
    let bundle = tree.join("boot/pillion/bundle");
    file::write_whole(&bundle, &rust.bundle.bytes())?;
    package::mode(&bundle, 0o644)?;
    put(&from.join("system.toml"), &tree.join("etc/pillion/system.toml"), 0o644)?;
    put(&from.join("09_pillion"), &tree.join("etc/grub.d/09_pillion"), 0o755)?;
    tool::quietly(&mut install_from(sources, "linux/tools", tree))?;
    for page in ["pillion-check.8", "pillion-hw.8"] {
        put(&from.join(page), &tree.join("usr/share/man/man8").join(page), 0o644)?;
    }
    for program in &rust.programs {
        let name = program.file_name().context("a program has a name")?;
        put(program, &tree.join("usr/bin").join(name), 0o755)?;
    }
    Ok(())
}

/// The documents, as they are in the repository.
fn documents(repository: &Repository, tree: &Path) -> Result<()> {
    let to = tree.join("usr/share/doc/pillion-doc");
    for name in ["README.md", "ARCHITECTURE.md", "CAVEATS.md", "CHANGES.md"] {
        put(&repository.path(name), &to.join(name), 0o644)?;
    }
    for path in file::below(&repository.path("docs"))? {
        put(&repository.path("docs").join(&path), &to.join("docs").join(&path), 0o644)?;
    }
    Ok(())
}

fn put(from: &Path, to: &Path, mode: u32) -> Result<()> {
    fs::create_dir_all(to.parent().context("a file lies in a folder")?)?;
    fs::copy(from, to).with_context(|| format!("{} cannot be read", from.display()))?;
    package::mode(to, mode)
}
