//! `pillion-measure`, the program that measures from within Linux, as a load of a run.

use super::tool::Tool;
use anyhow::Result;
use pillion_host::file::write_program;
use pillion_host::progress::step;
use std::cell::OnceCell;

/// Its name, and its package's.
pub const NAME: &str = "pillion-measure";
/// The load that all others run beside: linux/initramfs/lib/loads.sh ends them with it.
pub const LOAD: &str = "measure";
/// Folder of the program and of the scripts that start it, relative to the repository.
const FOLDER: &str = "build/measure/in-linux";

/// The program, built when a run first needs it.
pub struct LinuxProgram<'a> {
    tool: &'a dyn Tool,
    path: OnceCell<String>,
}

impl<'a> LinuxProgram<'a> {
    /// The program, not built yet.
    pub fn new(tool: &'a dyn Tool) -> LinuxProgram<'a> {
        LinuxProgram { tool, path: OnceCell::new() }
    }

    /// Writes the script that is the load and executes a command; returns its path. `name` must be
    /// unique to the script.
    pub fn script(&self, name: &str, command: &str) -> Result<String> {
        let script = format!("{FOLDER}/{name}/{LOAD}");
        write_program(&self.tool.repository().path(&script), script_of(command).as_bytes())?;
        Ok(script)
    }

    /// The program's path, relative to the repository.
    pub fn path(&self) -> Result<&str> {
        if let Some(path) = self.path.get() {
            return Ok(path);
        }
        let built = step("building pillion-measure", || self.tool.program_for_linux(NAME))?;
        let path = format!("{FOLDER}/{NAME}");
        write_program(&self.tool.repository().path(&path), &std::fs::read(built)?)?;
        Ok(self.path.get_or_init(|| path))
    }
}

/// The command for `pillion-measure run WHAT`. The instrument is always `counted`, because the
/// emulator counts; with the model, the model reports the results.
pub fn command(what: &str) -> String {
    format!("{NAME} run --instrument counted {what}")
}

/// Gives other loads time to start.
fn script_of(command: &str) -> String {
    let begin = ". /lib/pillion/begin.sh\nusleep 200000\nawait_loads";
    format!("#!/bin/sh\n{begin}\nexec {command}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_measured_before_the_loads_have_begun() {
        let script = script_of(&command("delay"));
        let (wait, run) = (script.find("await_loads").unwrap(), script.find("run --instrument counted delay").unwrap());
        assert!(wait < run);
    }
}
