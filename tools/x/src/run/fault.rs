//! Faults to inject into Linux.

use crate::cli::RunArguments;
use crate::repository::Repository;
use anyhow::{Context as _, Result};
use std::path::PathBuf;

/// The folder of the scripts that cause them.
pub fn folder(repository: &Repository) -> PathBuf {
    repository.path("linux/initramfs/lib/fault")
}

/// Whether only the kernel module can cause the fault of this run.
pub fn needs_module(repository: &Repository, run: &RunArguments) -> Result<bool> {
    let Some(fault) = &run.fault else { return Ok(false) };
    let script = folder(repository).join(fault);
    let text = std::fs::read_to_string(&script).with_context(|| format!("cannot read {}", script.display()))?;
    Ok(text.contains("modprobe fault"))
}
