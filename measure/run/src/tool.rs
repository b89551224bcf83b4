//! The interface to the tool that builds and boots for measurements.

use super::boot_options::Boot;
use anyhow::Result;
use pillion_host::repository::Repository;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Builds and boots.
pub trait Tool: Sync {
    /// The sources, and the build folder.
    fn repository(&self) -> &Repository;

    /// Builds the kernel, from patched sources if there is a patch; returns its file.
    fn kernel(&self, patch: Option<&Path>) -> Result<PathBuf>;

    /// Builds a package as a static program for any Linux; returns its file.
    fn program_for_linux(&self, package: &str) -> Result<PathBuf>;

    /// The emulator where Linux has several processors.
    fn emulator_of_several(&self) -> Result<PathBuf>;

    /// Boots a machine, and waits for its end. A run that fails is an error with its last lines.
    fn boot(&self, boot: &Boot) -> Result<RunOutput>;
}

/// The output of a run.
#[derive(Debug, Default)]
pub struct RunOutput {
    /// Pillion's log.
    pub log: String,
    /// Linux's console.
    pub console: String,
    /// The plug-in's output.
    pub plugin: String,
    /// The run's result.
    pub result: Value,
}
