//! The compilers, the C library, and their headers and archives.

use crate::build::forwards;
use crate::doctor::LIBC;
use crate::problem::problem;
use crate::repository::Repository;
use crate::tool;
use anyhow::{Context as _, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Headers for tasks only, and those that programs in Linux have as well.
pub const HEADERS: [&str; 2] = ["rt/include", "rt/shared"];
/// Headers of the C library.
pub const LIBC_HEADERS: &str = "/usr/include/x86_64-linux-musl";

/// The compiler for a language.
pub fn compiler(cpp: bool) -> &'static str {
    if cpp { "g++" } else { "gcc" }
}

/// The major number of its version.
pub fn version(cpp: bool) -> Result<u32> {
    let text = tool::capture(Command::new(compiler(cpp)).arg("-dumpversion"))?;
    let number = text.trim().split('.').next().and_then(|number| number.parse().ok());
    number.with_context(|| format!("{} does not report a version", compiler(cpp)))
}

/// The folders of headers, in the order in which they are searched.
pub fn headers(repository: &Repository, cpp: bool) -> Result<Vec<PathBuf>> {
    check()?;
    let own = tool::capture(Command::new("gcc").arg("-print-file-name=include"))?;
    let mut folders = if cpp { cpp_headers()? } else { Vec::new() };
    for folder in HEADERS {
        folders.extend(forwards::with_made(repository, folder)?);
    }
    folders.extend([LIBC_HEADERS, own.trim()].map(PathBuf::from));
    Ok(folders)
}

/// Archives that a program is linked with, after the runtime.
pub fn archives() -> Result<[PathBuf; 2]> {
    check()?;
    let own = tool::capture(Command::new("gcc").arg("-print-libgcc-file-name"))?;
    Ok([PathBuf::from(LIBC), PathBuf::from(own.trim())])
}

fn check() -> Result<()> {
    if Path::new(LIBC).is_file() {
        return Ok(());
    }
    Err(problem(
        "there is no C library for real-time programs",
        format!("{LIBC} is missing"),
        "apt-get install musl-dev",
    ))
}

fn cpp_headers() -> Result<Vec<PathBuf>> {
    let output = tool::output(Command::new("g++").env("LC_ALL", "C").args(["-x", "c++", "-E", "-v", "/dev/null"]))?;
    Ok(cpp_folders(&String::from_utf8_lossy(&output.stderr)))
}

/// The folders of C++'s own headers, out of those that the compiler reports that it searches.
fn cpp_folders(said: &str) -> Vec<PathBuf> {
    let list = said.lines().skip_while(|line| !line.starts_with("#include <")).skip(1);
    let folders = list.take_while(|line| line.starts_with(' ')).map(str::trim);
    folders.filter(|folder| folder.contains("/c++/")).map(PathBuf::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_folders_of_cpp() {
        let said = "ignoring nonexistent directory \"/x/c++/1\"\n#include \"...\" search starts here:\n#include <...> search starts here:\n \
            /usr/include/c++/12\n /usr/lib/gcc/include\n /usr/include/c++/12/backward\nEnd of search list.\n";
        assert_eq!(cpp_folders(said), [Path::new("/usr/include/c++/12"), Path::new("/usr/include/c++/12/backward")]);
    }
}
