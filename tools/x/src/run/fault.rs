//! Faults that Linux is to suffer.

use crate::cli::RunArguments;
use crate::repository::Repository;
use anyhow::{Context as _, Result};
use std::path::PathBuf;

/// The folder of the scripts that commit them.
pub fn folder(repository: &Repository) -> PathBuf {
    repository.path("linux/initramfs/lib/fault")
}

/// Whether the fault of a run is one that only the kernel can commit.
pub fn needs_module(repository: &Repository, run: &RunArguments) -> Result<bool> {
    let Some(fault) = &run.fault else { return Ok(false) };
    let script = folder(repository).join(fault);
    let text = std::fs::read_to_string(&script).with_context(|| format!("cannot read {}", script.display()))?;
    Ok(text.contains("modprobe fault"))
}
