//! Programs for Linux, static, out of this repository's C.

use super::initramfs;
use crate::repository::Repository;
use crate::tool;
use anyhow::{Context as _, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A program.
pub struct Program {
    /// Name.
    pub name: &'static str,
    /// Folders of its sources.
    pub folders: &'static [&'static str],
}

/// The command for tasks, and the programs that test and measure the channels from Linux.
pub const CHANNELS: [Program; 4] = [
    Program { name: "pillion", folders: &["linux/tools", "linux/lib"] },
    Program { name: "measure-fifo", folders: &["measure/experiments/rt-interface/in-linux"] },
    Program { name: "channel-test", folders: &["linux/tests", "linux/lib"] },
    Program { name: "psc-test", folders: &["linux/psc-test", "linux/lib"] },
];

/// Folders whose headers a program may include. They are inputs of every program.
const HEADERS: [&str; 2] = ["linux/uapi", "abi/c"];
/// Those of the library lie in its folder, which is searched as well.
const LIBRARY: &str = "linux/lib/include";
const LIBRARY_SOURCES: &str = "linux/lib";

impl Program {
    /// All files that it is built from.
    pub fn files(&self, repository: &Repository) -> Result<Vec<PathBuf>> {
        let mut files = Vec::new();
        for folder in self.folders.iter().chain(&HEADERS).map(|folder| repository.path(folder)) {
            files.extend(initramfs::files(&folder)?);
        }
        Ok(files)
    }

    /// Builds it.
    pub fn make(&self, repository: &Repository) -> Result<Vec<u8>> {
        compile(repository, &self.files(repository)?, &["-std=gnu11", "-Wall", "-Wextra", "-Werror"])
    }
}

/// What a program printed is seen also when it is ended from outside: not into a terminal, the C library would keep it back.
const BY_LINES: &str = "#include <stdio.h>
__attribute__((constructor)) static void by_lines(void) { setvbuf(stdout, NULL, _IOLBF, 0); }
";

/// A program of the user's, with the library. What it does not use of the library is left out.
pub fn with_library(repository: &Repository, source: &Path) -> Result<Vec<u8>> {
    let folder = tempfile::tempdir()?;
    let by_lines = folder.path().join("by_lines.c");
    fs::write(&by_lines, BY_LINES)?;
    let mut files = initramfs::files(&repository.path(LIBRARY_SOURCES))?;
    files.splice(0..0, [source.to_owned(), by_lines]);
    compile(repository, &files, &["-std=gnu11", "-w", "-ffunction-sections", "-Wl,--gc-sections"])
}

/// A static program out of the C among the files, the same bytes wherever the repository lies.
fn compile(repository: &Repository, files: &[PathBuf], flags: &[&str]) -> Result<Vec<u8>> {
    let work = tempfile::tempdir()?;
    let output = work.path().join("program");
    let mut compiler = Command::new("cc");
    compiler.args(flags).args(["-O2", "-static", "-s", "-pthread"]);
    compiler.arg(format!("-ffile-prefix-map={}=.", repository.root().display()));
    compiler.args([LIBRARY].iter().chain(&HEADERS).map(|folder| format!("-I{}", repository.path(folder).display())));
    compiler.args(files.iter().filter(|file| file.extension().is_some_and(|end| end == "c")));
    tool::quietly(compiler.arg("-o").arg(&output).arg("-lm"))
        .context("programs need a C compiler (apt-get install gcc libc6-dev)")?;
    fs::read(&output).with_context(|| format!("cannot read {}", output.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_has_the_same_bytes_wherever_the_repository_lies() {
        let folder = tempfile::tempdir().unwrap();
        let [one, other] = ["a", "another"].map(|name| {
            let root = folder.path().join(name);
            fs::create_dir(&root).unwrap();
            let source = root.join("a.c");
            fs::write(&source, "#include <stdio.h>\nint main(void) { return puts(__FILE__); }\n").unwrap();
            compile(&Repository::at(&root), &[source], &[]).unwrap()
        });
        assert!(one == other);
    }
}
