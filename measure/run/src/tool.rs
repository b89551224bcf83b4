//! What measuring needs of the tool that builds and boots.

use super::boot::Boot;
use anyhow::Result;
use pillion_host::repository::Repository;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Builds and boots.
pub trait Tool: Sync {
    /// The sources, and the folder of what is built.
    fn repository(&self) -> &Repository;

    /// Builds the kernel, or that of the patched sources; returns its file.
    fn kernel(&self, patch: Option<&Path>) -> Result<PathBuf>;

    /// Builds a package as a static program for any Linux; returns its file.
    fn program_for_linux(&self, package: &str) -> Result<PathBuf>;

    /// Boots a machine, and waits for its end. A run that is not good is an error with its last
    /// lines.
    fn boot(&self, boot: &Boot) -> Result<RunOutput>;
}

/// What a run left behind.
#[derive(Debug, Default)]
pub struct RunOutput {
    /// Pillion's log.
    pub log: String,
    /// Linux's console.
    pub console: String,
    /// What the plug-in wrote.
    pub plugin: String,
    /// The run's result.
    pub result: Value,
}
