//! Keeps the output of the serial lines: its end in memory, all of it in files if asked to.

use crate::cli::RunArguments;
use anyhow::{Context as _, Result};
use pillion_measure_data::plain;
use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;

/// A warning that the emulator prints for every CPU model; it is of no interest.
const NOISE: &str = "TCG doesn't support requested feature";
/// Bytes kept of each line.
const KEPT: usize = 8 << 10;

/// What was written.
#[derive(Default)]
pub struct Transcript {
    console: Vec<u8>,
    log: Vec<u8>,
    messages: Vec<u8>,
    answers: Vec<u8>,
    console_file: Option<File>,
    log_file: Option<File>,
}

impl Transcript {
    /// A transcript that writes to the files that the arguments name.
    pub fn create(run: &RunArguments) -> Result<Transcript> {
        Ok(Transcript { console_file: create(&run.console)?, log_file: create(&run.log)?, ..Transcript::default() })
    }

    /// Linux's console.
    pub fn console(&mut self, bytes: &[u8]) {
        keep(&mut self.console, self.console_file.as_mut(), bytes);
    }

    /// The log.
    pub fn log(&mut self, bytes: &[u8]) {
        keep(&mut self.log, self.log_file.as_mut(), bytes);
    }

    /// The emulator's messages.
    pub fn message(&mut self, bytes: &[u8]) {
        keep(&mut self.messages, None, bytes);
    }

    /// What the emulator's monitor answers.
    pub fn answer(&mut self, bytes: &[u8]) {
        keep(&mut self.answers, None, bytes);
    }

    /// All of that, for people.
    pub fn answers(&self) -> String {
        part("the emulator's monitor", &self.answers, usize::MAX)
    }

    /// The end of Linux's console output.
    pub fn console_tail(&self) -> String {
        String::from_utf8_lossy(&self.console).into_owned()
    }

    /// Its last lines, for people.
    pub fn console_end(&self) -> String {
        tail("Linux's console", &self.console)
    }

    /// The ends of all outputs, for a run that went wrong.
    pub fn tails(&self) -> String {
        let parts =
            [("the emulator", &self.messages), ("Pillion's log", &self.log), ("Linux's console", &self.console)];
        parts.iter().filter(|(_, bytes)| !bytes.is_empty()).map(|(name, bytes)| tail(name, bytes)).collect()
    }
}

fn create(path: &Option<PathBuf>) -> Result<Option<File>> {
    let open = |path: &PathBuf| File::create(path).with_context(|| format!("{} cannot be written", path.display()));
    path.as_ref().map(open).transpose()
}

fn keep(tail: &mut Vec<u8>, file: Option<&mut File>, bytes: &[u8]) {
    if let Some(file) = file {
        let _ = file.write_all(bytes);
    }
    tail.extend_from_slice(bytes);
    if tail.len() > 2 * KEPT {
        tail.drain(..tail.len() - KEPT);
    }
}

/// The last lines, without control characters.
fn tail(name: &str, bytes: &[u8]) -> String {
    part(name, bytes, 25)
}

fn part(name: &str, bytes: &[u8], most: usize) -> String {
    let text = plain(&String::from_utf8_lossy(bytes));
    let lines: Vec<&str> = text.lines().filter(|line| !line.contains(NOISE)).collect();
    let last = &lines[lines.len().saturating_sub(most)..];
    if last.is_empty() {
        return String::new();
    }
    format!("--- {name}, at its end:\n{}\n", last.join("\n"))
}
