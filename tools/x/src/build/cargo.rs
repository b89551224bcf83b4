//! Builds what runs on the bare machine.

use crate::problem::problem;
use crate::repository::{BARE_TARGET, Repository};
use crate::tool;
use anyhow::Result;
use std::path::PathBuf;
use std::process::Command;

/// The packages that are built for the bare machine only.
pub const BARE_PACKAGES: [&str; 10] = [
    "pillion-kernel",
    "pillion-resmgr",
    "pillion-vmm",
    "pillion-broker",
    "pillion-psc",
    "pillion-demo",
    "pillion-rt",
    "pillion-test-kernel",
    "pillion-test-skin",
    "pillion-measure-kernel",
];

/// Builds the kernel and the named tasks; returns the folder of their ELF files.
pub fn build(repository: &Repository, tasks: &[String]) -> Result<PathBuf> {
    ensure_target()?;
    let mut cargo = repository.cargo();
    cargo.args(["build", "--release", "--target", BARE_TARGET, "-p", "pillion-kernel"]);
    for task in tasks {
        cargo.args(["-p", &format!("pillion-{task}")]);
    }
    tool::quietly(&mut cargo)?;
    Ok(repository.bare_output())
}

/// Adds the bare-machine target to the toolchain, and says so.
pub fn ensure_target() -> Result<()> {
    if has_target() {
        return Ok(());
    }
    eprintln!("x: adding Rust's target {BARE_TARGET}");
    tool::quietly(Command::new("rustup").args(["target", "add", BARE_TARGET])).map_err(|error| {
        let remedy = format!("install Rust by rustup, then run `rustup target add {BARE_TARGET}`");
        problem(format!("Rust's target {BARE_TARGET} is missing"), format!("{error:#}"), remedy)
    })
}

/// Whether the toolchain can build for the bare machine.
pub fn has_target() -> bool {
    let libraries = Command::new("rustc").args(["--print", "target-libdir", "--target", BARE_TARGET]).output();
    libraries.is_ok_and(|output| {
        let folder = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
        folder.read_dir().is_ok_and(|mut entries| entries.next().is_some())
    })
}
