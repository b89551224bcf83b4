//! `x hw`: builds `pillion-hw`, which says whether Pillion runs on a machine.

use crate::build::cargo;
use crate::file;
use crate::progress::step;
use crate::repository::Repository;
use anyhow::Result;
use std::path::PathBuf;

/// Its name, and its package's.
pub const NAME: &str = "pillion-hw";

/// `x hw`.
pub fn command(repository: &Repository) -> Result<bool> {
    let path = program(repository)?;
    println!("program {}", path.display());
    println!("Copy it to the machine in question, and run it there, as root if possible: docs/hardware.md");
    Ok(true)
}

/// The program, built.
pub fn program(repository: &Repository) -> Result<PathBuf> {
    let built = step(&format!("building {NAME}"), || cargo::build_static(repository, NAME))?;
    let path = repository.build(NAME);
    file::write_program(&path, &file::read(&built)?)?;
    Ok(path)
}
