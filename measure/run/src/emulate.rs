//! Runs a job, and gathers what it wrote.

use super::job::Job;
use super::tool::{Streams, Tool};
use anyhow::Result;
use std::fs;
use std::path::Path;

/// Runs a job.
pub fn run(tool: &dyn Tool, job: &Job) -> Result<Streams> {
    let folder = tempfile::tempdir()?;
    let plugin = folder.path().join("plugin");
    let streams = tool.boot(&job.options(&plugin))?;
    let written = fs::read(&plugin).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    Ok(Streams { plugin: written.unwrap_or_default(), ..streams })
}

impl Job {
    /// Arguments of `x run`; a plug-in writes to that file.
    fn options(&self, output: &Path) -> Vec<String> {
        let mut options = self.arguments.clone();
        if let Some(plugin) = &self.plugin {
            let value = format!("{},out={},{}", plugin.file, output.display(), plugin.arguments);
            options.extend(["--qemu-arg=-plugin".to_owned(), format!("--qemu-arg={value}")]);
        }
        options
    }

    /// The command line that repeats it.
    pub fn command(&self) -> String {
        let quoted = |word: String| if word.contains([' ', '*', '&', ';']) { format!("'{word}'") } else { word };
        let words: Vec<String> = self.options(Path::new("counts")).into_iter().map(quoted).collect();
        format!("./x run --headless --counted {}", words.join(" "))
    }
}
