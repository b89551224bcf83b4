//! Programs for Linux, static, out of this repository's C.

use super::initramfs;
use crate::problem::problem;
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

/// A program of the user's, with the library and the user's flags. What it does not use of the library is left out.
pub fn with_library(repository: &Repository, source: &Path, flags: &[String]) -> Result<Vec<u8>> {
    let folder = tempfile::tempdir()?;
    let by_lines = folder.path().join("by_lines.c");
    fs::write(&by_lines, BY_LINES)?;
    let mut files = initramfs::files(&repository.path(LIBRARY_SOURCES))?;
    files.splice(0..0, [source.to_owned(), by_lines]);
    // As programs of their time are written: the last two are what compilers took of themselves before their versions 14 and 10.
    let ours = ["-std=gnu11", "-w", "-ffunction-sections", "-Wl,--gc-sections", "-fpermissive", "-fcommon"];
    let flags: Vec<&str> = flags.iter().map(String::as_str).chain(ours).collect();
    compile(repository, &files, &flags)
}

/// A static program out of the C among the files, the first of which it is called by; the same bytes wherever the repository lies.
fn compile(repository: &Repository, files: &[PathBuf], flags: &[&str]) -> Result<Vec<u8>> {
    let work = tempfile::tempdir()?;
    let output = work.path().join("program");
    let mut compiler = Command::new("cc");
    compiler.env("LC_ALL", "C").args(flags).args(["-O2", "-static", "-s", "-pthread"]);
    compiler.arg(format!("-ffile-prefix-map={}=.", repository.root().display()));
    compiler.args(folders(repository));
    compiler.args(files.iter().filter(|file| file.extension().is_some_and(|end| end == "c")));
    let done = tool::output(compiler.arg("-o").arg(&output).arg("-lm"))?;
    if !done.status.success() {
        return Err(refused(&files[0], String::from_utf8_lossy(&done.stderr).trim_end()));
    }
    fs::read(&output).with_context(|| format!("cannot read {}", output.display()))
}

/// Where the compiler finds the headers.
fn folders(repository: &Repository) -> impl Iterator<Item = String> {
    [LIBRARY].into_iter().chain(HEADERS).map(|folder| format!("-I{}", repository.path(folder).display()))
}

/// What the compiler refused, with a remedy where a header is what is missing.
fn refused(source: &Path, said: &str) -> anyhow::Error {
    let what = format!("{} cannot be compiled for Linux", source.display());
    let header = said.lines().find_map(|line| {
        let (place, rest) = line.split_once(": fatal error: ")?;
        Some((place, rest.strip_suffix(": No such file or directory")?))
    });
    match header {
        Some((place, name)) => problem(
            what,
            format!("there is no header {name} ({place})"),
            "name its folder with -I, or install its package; of RTLinux's, linux/lib/include has those for Linux programs",
        ),
        None => anyhow::anyhow!("{what}:\n{said}"),
    }
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

    fn compiled(text: &str, flags: &[&str]) -> Result<Vec<u8>> {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("partner.c");
        fs::write(&source, text).unwrap();
        fs::create_dir(folder.path().join("include")).unwrap();
        fs::write(folder.path().join("include/shared.h"), "#define SPEED 3\n").unwrap();
        let here = folder.path().join("include").display().to_string();
        let flags: Vec<String> = flags.iter().map(|flag| flag.replace("HERE", &here)).collect();
        with_library(&Repository::find().unwrap(), &source, &flags)
    }

    #[test]
    fn a_program_gets_folders_and_macros() {
        let text = "#include <shared.h>\nint main(void) { return SPEED + FAST; }\n";
        assert!(compiled(text, &["-IHERE", "-DFAST=1"]).is_ok());
        let refused = compiled(text, &["-DFAST=1"]).unwrap_err().to_string();
        assert!(
            refused.contains("there is no header shared.h") && refused.contains("do:  name its folder with -I"),
            "{refused}"
        );
        let refused = compiled(text, &["-IHERE"]).unwrap_err().to_string();
        assert!(refused.contains("FAST") && !refused.contains("apt-get"), "{refused}");
    }

    /// In any order, each by itself, twice.
    #[test]
    fn headers_of_rtlinux_are_there_for_linux() {
        let headers = [
            "rtl_fifo.h",
            "rtl_time.h",
            "rtl_conf.h",
            "rtl_barrier.h",
            "asm/rt_time.h",
            "linux/rt_time.h",
            "mbuff.h",
            "rtlinux_signal.h",
            "time.h",
        ];
        let all = |order: &mut dyn Iterator<Item = &&str>| {
            order.map(|name| format!("#include <{name}>\n")).collect::<String>()
        };
        let body = "
            hrtime_t never = HRTIME_INFINITY;
            RTIME ticks = RT_TICKS_PER_SEC;
            pthread_barrier_t barrier;
            int main(void)
            {
                struct timespec a = timespec_from_ns(3 * (hrtime_t)NSECS_PER_SEC / 2), b = { 0, 600000000 };
                timespec_add(&a, &b);
                timespec_sub(&a, &b);
                timespec_add_ns(&a, 1);
                return timespec_to_ns(&a) != 1500000001 || timespec_lt(&a, &b) || !timespec_nz(&a) || gethrtime() > never;
            }";
        compiled(&format!("{}{}{body}", all(&mut headers.iter()), all(&mut headers.iter().rev())), &[]).unwrap();
        for header in headers {
            let mut compiler = Command::new("cc");
            compiler.args(["-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-include", header, "-x", "c", "/dev/null"]);
            tool::quietly(compiler.args(folders(&Repository::find().unwrap()))).unwrap();
        }
    }
}
