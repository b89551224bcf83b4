//! Builds what runs on the bare machine.

use crate::problem::problem;
use crate::repository::{BARE_TARGET, Repository};
use crate::tool;
use anyhow::Result;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// Packages that are built only for the bare machine.
pub const BARE_PACKAGES: &str = "pillion-kernel pillion-resmgr pillion-vmm pillion-broker pillion-psc pillion-dual pillion-demo \
    pillion-rt pillion-test-kernel pillion-test-life pillion-test-skin pillion-campaign-guest pillion-campaign-task \
    pillion-measure-kernel pillion-measure-monitor";

/// The target of static programs for any Linux.
const STATIC_TARGET: &str = "x86_64-unknown-linux-musl";

/// Builds the kernel and the named tasks; returns the folder of their ELF files.
pub fn build(repository: &Repository, tasks: &[String]) -> Result<PathBuf> {
    build_by(repository, "release", tasks)
}

/// The same with what a debug build checks: assertions, overflow, and what unsafe functions of the
/// standard library demand of their callers.
pub fn build_checked(repository: &Repository, tasks: &[String]) -> Result<PathBuf> {
    build_by(repository, "checked", tasks)
}

fn build_by(repository: &Repository, profile: &str, tasks: &[String]) -> Result<PathBuf> {
    ensure(BARE_TARGET)?;
    let mut cargo = repository.cargo();
    cargo.arg("--config").arg(flags(BARE_TARGET, &[without_home()?]));
    cargo.args(["build", "--profile", profile, "--target", BARE_TARGET]);
    cargo.args(["-p", "pillion-kernel"]);
    for task in tasks {
        cargo.args(["-p", &format!("pillion-{task}")]);
    }
    tool::quietly(&mut cargo)?;
    Ok(repository.bare_output(profile))
}

/// Compiler flags for a target, in addition to those of .cargo/config.toml.
pub fn flags(target: &str, flags: &[String]) -> String {
    format!("target.{target}.rustflags={flags:?}")
}

/// The flag that keeps the path of cargo's own folder, and with it the user's name, out of what is
/// built: a longer path would move what follows it.
pub fn without_home() -> Result<String> {
    let home = std::env::var("CARGO_HOME").or_else(|_| std::env::var("HOME").map(|home| home + "/.cargo"))?;
    Ok(format!("--remap-path-prefix={home}=cargo"))
}

/// Builds a static program for any Linux; returns its file. Its bytes do not depend on where the
/// repository and cargo's own folder lie, so that counted runs of Linux with it are the same, too.
pub fn build_static(repository: &Repository, package: &str) -> Result<PathBuf> {
    ensure(STATIC_TARGET)?;
    let paths = [format!("--remap-path-prefix={}=.", repository.root().display()), without_home()?];
    let mut cargo = repository.cargo();
    cargo.arg("--config").arg(flags(STATIC_TARGET, &paths));
    tool::quietly(cargo.args(["build", "--release", "--target", STATIC_TARGET, "-p", package]))?;
    Ok(repository.target().join(STATIC_TARGET).join("release").join(package))
}

/// Adds a target to the toolchain, and reports that it does. Looks once for each target.
pub fn ensure(target: &'static str) -> Result<()> {
    static PRESENT: Mutex<Vec<&str>> = Mutex::new(Vec::new());
    let mut present = PRESENT.lock().unwrap_or_else(PoisonError::into_inner);
    if !present.contains(&target) {
        if !has(target) {
            add(target)?;
        }
        present.push(target);
    }
    Ok(())
}

fn add(target: &str) -> Result<()> {
    eprintln!("x: adding Rust's target {target}");
    tool::quietly(Command::new("rustup").args(["target", "add", target])).map_err(|error| {
        let remedy = format!("install Rust by rustup, then run `rustup target add {target}`");
        problem(format!("Rust's target {target} is missing"), format!("{error:#}"), remedy)
    })
}

/// Whether the toolchain can build for a target.
pub fn has(target: &str) -> bool {
    let libraries = Command::new("rustc").args(["--print", "target-libdir", "--target", target]).output();
    libraries.is_ok_and(|output| {
        let folder = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
        folder.read_dir().is_ok_and(|mut entries| entries.next().is_some())
    })
}
