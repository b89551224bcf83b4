//! The runtime that every RTLinux program is linked with: the package pillion-rt, as an archive.

use super::toolchain;
use crate::build::cargo;
use crate::file::changed;
use crate::repository::{BARE_TARGET, Repository};
use crate::tool;
use anyhow::{Context as _, Result, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The runtime's sources in C, in the repository.
const C_SOURCES: &str = "rt/c";

/// C library functions that the runtime's functions of the same names call, as `c_library_NAME`.
/// Each is alone in a member of that name.
const BENEATH: [&str; 5] = ["acosh", "acoshl", "expl", "powl", "tgammal"];

/// Frame pointers, as in the programs themselves: reports of faults follow them.
const FLAG: &str = "-Cforce-frame-pointers=yes";

/// Builds the archive, in a target folder of its own because its flags differ from those of
/// everything else.
pub fn build(repository: &Repository) -> Result<PathBuf> {
    cargo::ensure(BARE_TARGET)?;
    let target = repository.target().join("rt");
    let mut command = repository.cargo();
    command.arg("--config").arg(cargo::flags(BARE_TARGET, &[FLAG.to_owned(), cargo::without_home()?]));
    command.args(["build", "--release", "--lib", "-p", "pillion-rt", "--target", BARE_TARGET]);
    tool::quietly(command.arg("--target-dir").arg(&target))
        .context("the real-time programs' runtime cannot be built")?;
    yielding(repository, &target.join(BARE_TARGET).join("release/libpillion_rt.a"))
}

/// The archive that tasks are linked with, rebuilt when the runtime has changed.
///
/// Its Rust code is one object. In it, the hidden names of Rust's support library become local: C
/// has functions of the same names (`sin`, `memcpy`, `__floattidf`) that take floating-point
/// numbers in other registers. All other names give way to a program's own: old modules have
/// functions called `schedule`, `sleep` or `time`.
fn yielding(repository: &Repository, archive: &Path) -> Result<PathBuf> {
    let made = archive.with_file_name("libpillion_rt_task.a");
    let [c_library, _] = toolchain::archives()?;
    let inputs = [archive, &c_library, Path::new(tool::MYSELF)];
    if changed(&made) >= inputs.into_iter().map(changed).max().flatten() {
        return Ok(made);
    }
    let work = tempfile::tempdir_in(archive.parent().unwrap_or(archive))?;
    let run = |program: &str, arguments: &[&str], files: &[&str]| {
        tool::quietly(Command::new(program).env("LC_ALL", "C").current_dir(work.path()).args(arguments).args(files))
    };
    let members = tool::capture(Command::new("ar").arg("t").arg(archive))?;
    let (in_c, in_rust) = parted(&members, &in_c(repository)?)?;
    run("ar", &["x", &archive.to_string_lossy()], &[])?;
    run("ld", &["-r", "-o", "all.o"], &in_rust)?;
    // The compiler's intermediate code is no longer needed, and tools that know another version of
    // it fail on it.
    run("objcopy", &["--localize-hidden", "-R", ".llvmbc", "-R", ".llvmcmd", "all.o", "rust.o"], &[])?;
    run("ar", &["rcs", "strong.a", "rust.o"], &in_c)?;
    for name in BENEATH {
        let (member, renamed) = (format!("{name}.lo"), format!("{name}=c_library_{name}"));
        run("ar", &["x", &c_library.to_string_lossy(), &member], &[])?;
        run("objcopy", &["--redefine-sym", &renamed, &member], &[])?;
        run("ar", &["rs", "strong.a", &member], &[])?;
    }
    let nm = ["--defined-only", "--extern-only", "--format=posix"];
    let names = tool::capture(Command::new("nm").env("LC_ALL", "C").args(nm).arg(work.path().join("strong.a")))?;
    std::fs::write(work.path().join("names"), defined(&names))?;
    run("objcopy", &["--weaken-symbols", "names", "strong.a", "weak.a"], &[])?;
    std::fs::rename(work.path().join("weak.a"), &made)?;
    Ok(made)
}

/// Suffixes of the member names that are the runtime's C code.
fn in_c(repository: &Repository) -> Result<Vec<String>> {
    let entries = std::fs::read_dir(repository.path(C_SOURCES))?.filter_map(|entry| Some(entry.ok()?.path()));
    let sources = entries.filter(|path| path.extension().is_some_and(|end| end == "c"));
    Ok(sources.filter_map(|path| Some(format!("-{}.o", path.file_stem()?.to_str()?))).collect())
}

/// Splits the archive's members into those with these suffixes, of which each must occur exactly
/// once, and the others.
fn parted<'a>(members: &'a str, endings: &[String]) -> Result<(Vec<&'a str>, Vec<&'a str>)> {
    let has = |member: &str| endings.iter().any(|ending| member.ends_with(&**ending));
    let (in_c, in_rust): (Vec<_>, Vec<_>) = members.lines().partition(|member| has(member));
    for ending in endings {
        let found = in_c.iter().filter(|member| member.ends_with(&**ending)).count();
        ensure!(found == 1, "the runtime's archive has {found} members *{ending}, not one");
    }
    Ok((in_c, in_rust))
}

/// The names that an archive defines, one a line. Names that it only needs are not included: made
/// weak, they would stay unresolved.
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

    #[test]
    fn members_in_c_are_told_from_those_in_rust() {
        let endings = ["-print.o", "-libc.o"].map(str::to_owned);
        let members = "pillion_rt-1.cgu.0.o\n72-print.o\n45-absvdi2.o\n72-libc.o\n";
        let (in_c, in_rust) = parted(members, &endings).unwrap();
        assert_eq!((in_c, in_rust), (vec!["72-print.o", "72-libc.o"], vec!["pillion_rt-1.cgu.0.o", "45-absvdi2.o"]));
        assert!(parted("72-print.o\n", &endings).is_err());
        assert!(parted("72-print.o\n72-libc.o\n45-libc.o\n", &endings).is_err());
    }
}
