//! A run of an experiment: one boot of the emulator.

use super::boot_options::Boot;
use super::plugin::Plugin;
use super::tool::{RunOutput, Tool};
use anyhow::Result;
use pillion_host::file;
use std::path::Path;

/// A boot of the emulator to run.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// Name of the system; with the model, NAME@MACHINE.
    pub system: String,
    /// Index of the run in the plan.
    pub run: usize,
    /// What to boot.
    pub boot: Boot,
    /// A plug-in of the emulator.
    pub plugin: Option<Plugin>,
}

impl Job {
    /// The boot, with a plug-in that writes to that file.
    fn boot_with(&self, output: &Path) -> Boot {
        let mut boot = self.boot.clone();
        if let Some(Plugin { file, arguments }) = &self.plugin {
            let value = format!("{file},out={},{arguments}", output.display());
            boot.qemu_arg.extend(["-plugin".into(), value]);
        }
        boot
    }

    /// The command line that repeats it.
    pub fn command(&self) -> String {
        self.boot_with(Path::new("counts")).command()
    }

    /// Runs it.
    pub fn run(&self, tool: &dyn Tool) -> Result<RunOutput> {
        let folder = file::temporary()?;
        let output = folder.path().join("plugin");
        let left = tool.boot(&self.boot_with(&output))?;
        Ok(RunOutput { plugin: file::text(&output), ..left })
    }
}

/// A job that has ended, and its output.
pub struct Finished {
    /// The job.
    pub job: Job,
    /// Its output, unless it failed.
    pub output: Result<RunOutput>,
}
