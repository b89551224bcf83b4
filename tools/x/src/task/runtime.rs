//! The runtime that every RTLinux program is linked with: the package pillion-rt, as an archive.

use crate::build::ensure_target;
use crate::repository::{BARE_TARGET, Repository};
use crate::tool;
use anyhow::{Context as _, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Frame pointers, as in the programs themselves: a report of a fault follows them.
const FLAGS: &str = r#"target.x86_64-unknown-none.rustflags=["-C","force-frame-pointers=yes"]"#;

/// Builds the archive. Its flags differ from those of all else, so that it has a target folder of its own.
pub fn build(repository: &Repository) -> Result<PathBuf> {
    ensure_target()?;
    let target = repository.target().join("rt");
    let mut cargo = repository.cargo();
    cargo.args(["build", "--release", "--lib", "-p", "pillion-rt", "--target", BARE_TARGET, "--config", FLAGS]);
    tool::quietly(cargo.arg("--target-dir").arg(&target)).context("the real-time programs' runtime cannot be built")?;
    weakened(&target.join(BARE_TARGET).join("release/libpillion_rt.a"))
}

/// A copy whose names give way to a program's own: old modules have functions of theirs called `schedule`, `sleep` or `time`.
fn weakened(archive: &Path) -> Result<PathBuf> {
    let weak = archive.with_file_name("libpillion_rt_yielding.a");
    let changed = |path: &Path| std::fs::metadata(path).and_then(|data| data.modified()).ok();
    if changed(&weak) < changed(archive) {
        let work = tempfile::tempdir_in(archive.parent().unwrap_or(archive))?;
        let (names, copy) = (work.path().join("names"), work.path().join("weak.a"));
        let text =
            tool::capture(Command::new("nm").args(["--defined-only", "--extern-only", "--format=posix"]).arg(archive))?;
        std::fs::write(&names, defined(&text))?;
        tool::quietly(Command::new("objcopy").arg("--weaken-symbols").arg(&names).arg(archive).arg(&copy))?;
        std::fs::rename(&copy, &weak)?;
    }
    Ok(weak)
}

/// The names that an archive defines, a line each. What it only needs is not among them: a weak need would go unmet.
fn defined(text: &str) -> String {
    let symbols = text.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    symbols.filter(|words| words.len() >= 3).map(|words| format!("{}\n", words[0])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_is_defined() {
        let said = "lib.a[rt.o]:\nsleep T 0000000000000010 0000000000000020\nerrors D 10 8\nlib.a[libc.o]:\n__lockfile T 0 8\n";
        assert_eq!(defined(said), "sleep\nerrors\n__lockfile\n");
    }
}
