//! The check of a system file before anything boots.

use crate::problem::problem;
use anyhow::Result;
use pillion_check::refused;
use pillion_system::{Processors, System, Target};
use std::path::Path;

/// A system file that was read.
pub struct SystemFile {
    /// Its text, for the bundle.
    pub text: String,
    /// Its contents.
    pub system: System,
}

/// Reads a system file; refuses a wrong one with line and reason.
pub fn read(path: &Path) -> Result<SystemFile> {
    parse(path, text(path)?)
}

/// The text of a system file.
pub fn text(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).map_err(|error| {
        problem(
            format!("{} cannot be read", path.display()),
            error,
            "name a system file with --system; systems/ has several",
        )
    })
}

/// Parses the text of a system file.
pub fn parse(path: &Path, text: String) -> Result<SystemFile> {
    let system = pillion_system::parse(&text).map_err(|problems| refused(path, &problems))?;
    Ok(SystemFile { text, system })
}

/// The emulated machine's I/O APICs: first line and number of lines.
const EMULATED_LINES: &[(u32, u32)] = &[(0, 24)];

/// The emulated machine that a system is to run on.
#[derive(Clone, Copy)]
pub struct Emulated {
    /// MiB of memory.
    pub memory_mib: u32,
    /// Processors, of which the kernel starts as many as it has room for.
    pub processors: u8,
}

impl Emulated {
    /// Processors that the kernel starts.
    pub fn running(self) -> u32 {
        u32::from(self.processors).min(Processors::ALL.count())
    }
}

/// Checks a system against the entries of its bundle and the additions to Linux's command line, and
/// against the emulated machine that it is to run on, if that is known.
pub fn check(path: &Path, system: &System, on: Option<Emulated>, images: &[&str], append: &str) -> Result<()> {
    let machine = Target {
        memory_bytes: on.map(|on| u64::from(on.memory_mib) << 20),
        processors: on.map(Emulated::running),
        images: Some(images),
        lines: on.map(|_| EMULATED_LINES),
        appended: append.trim().len(),
        ..Target::default()
    };
    pillion_system::check(system, &machine).map_err(|problems| refused(path, &problems))
}
