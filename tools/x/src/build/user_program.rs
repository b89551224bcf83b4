//! Static programs for Linux, built from this repository's C.

use super::forwards;
use crate::file;
use crate::problem::problem;
use crate::repository::Repository;
use crate::task::{is_cpp, is_source, missing_header, old_gnu};
use crate::tool;
use anyhow::Result;
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
pub const CHANNELS: [Program; 5] = [
    Program { name: "pillion", folders: &["linux/tools", "linux/lib"] },
    Program { name: "measure-fifo", folders: &["measure/experiments/rt-interface/in-linux"] },
    Program { name: "channel-test", folders: &["linux/tests", "linux/lib"] },
    Program { name: "psc-test", folders: &["linux/psc-test", "linux/lib"] },
    Program { name: "dual-test", folders: &["linux/dual-test"] },
];

/// Folders with headers that a program may include. They are inputs of every program.
const HEADERS: [&str; 3] = ["linux/uapi", "abi/c", SHARED];
/// Headers that real-time tasks have as well.
const SHARED: &str = "rt/shared";
/// Headers of the library; its own folder is searched as well.
const LIBRARY: &str = "linux/lib/include";
const LIBRARY_SOURCES: &str = "linux/lib";

impl Program {
    /// All files that it is built from.
    pub fn files(&self, repository: &Repository) -> Result<Vec<PathBuf>> {
        let mut files = Vec::new();
        for folder in self.folders.iter().chain(&HEADERS).map(|folder| repository.path(folder)) {
            files.extend(file::all(&folder)?);
        }
        Ok(files)
    }

    /// Builds it.
    pub fn make(&self, repository: &Repository) -> Result<Vec<u8>> {
        compile(repository, &self.files(repository)?, &["-std=gnu11", "-Wall", "-Wextra", "-Werror"])
    }
}

/// Makes a program's output visible even if the program is killed: the C library would buffer what
/// does not go to a terminal.
const BY_LINES: &str = "#include <stdio.h>
__attribute__((constructor)) static void by_lines(void) { setvbuf(stdout, NULL, _IOLBF, 0); }
";

/// Flags for programs as they were written in RTLinux's time: GNU C with `gets`, inline functions
/// as they were, and what compilers accepted by default before their versions 14 and 10; C++ from
/// before `register` was removed. Each language's compiler ignores the flags of the other. Aliasing
/// is not restricted by type: Linux's kernel is compiled so, and they share its headers.
const OF_THE_TIME: &str = "-w -std=gnu99 -fgnu89-inline -fcommon -std=gnu++14 -fpermissive -fno-strict-aliasing \
    -ffunction-sections -Wl,--gc-sections";

/// Builds one of the user's programs, in C or C++, with the library and the user's flags. Unused
/// parts of the library are left out.
pub fn with_library(repository: &Repository, sources: &[PathBuf], flags: &[String]) -> Result<Vec<u8>> {
    let folder = file::temporary()?;
    let by_lines = folder.path().join("by_lines.c");
    fs::write(&by_lines, BY_LINES)?;
    let library = file::all(&repository.path(LIBRARY_SOURCES))?;
    let flags: Vec<&str> = flags.iter().map(String::as_str).chain(OF_THE_TIME.split(' ')).collect();
    let link = |sources: &[PathBuf]| {
        let files = [sources, std::slice::from_ref(&by_lines), &library].concat();
        compile(repository, &files, &flags)
    };
    match link(sources) {
        Err(error) if old_gnu::texts_may_be_cause(&error.to_string()) => {
            let joined = sources.iter().enumerate().map(|(number, source)| {
                with_texts_joined(repository, source, &flags, &folder.path().join(number.to_string()))
            });
            link(&joined.collect::<Result<Vec<_>>>()?)
        }
        done => done,
    }
}

/// A source; or, if it has string literals over several lines, the object of a copy without them,
/// compiled in the new folder, with the same line numbers.
fn with_texts_joined(repository: &Repository, source: &Path, flags: &[&str], folder: &Path) -> Result<PathBuf> {
    let Some(text) = old_gnu::copy_with_texts_joined(source)? else { return Ok(source.to_owned()) };
    fs::create_dir(folder)?;
    let joined = folder.join(source.file_name().unwrap_or_default());
    fs::write(&joined, text)?;
    // An object of a C++ source makes the linker need C++'s library; its name tells.
    let object = folder.join(if is_cpp(source) { CPP_OBJECT } else { "joined.o" });
    let mut compiler = compiler(repository, flags)?;
    compiler.arg("-iquote").arg(source.parent().unwrap_or(source)).arg("-c").arg(&joined).arg("-o").arg(&object);
    run(&mut compiler, source)?;
    Ok(object)
}

/// The name of an object of a C++ source.
const CPP_OBJECT: &str = "joined-cpp.o";

/// The compiler with the flags that all programs share.
fn compiler(repository: &Repository, flags: &[&str]) -> Result<Command> {
    let mut compiler = Command::new("cc");
    compiler.env("LC_ALL", "C").args(flags).args(["-O2", "-static", "-s", "-pthread"]);
    compiler.arg(format!("-ffile-prefix-map={}=.", repository.root().display()));
    compiler.args(folders(repository)?);
    Ok(compiler)
}

fn run(compiler: &mut Command, source: &Path) -> Result<()> {
    let (done, said) = tool::judged(compiler)?;
    if done { Ok(()) } else { Err(refused(source, said.trim_end())) }
}

/// Builds a static program from the C, C++, assembly and object files among `files`; errors name
/// the first file. The program's bytes do not depend on where the repository lies.
fn compile(repository: &Repository, files: &[PathBuf], flags: &[&str]) -> Result<Vec<u8>> {
    let work = file::temporary()?;
    let output = work.path().join("program");
    let mut compiler = compiler(repository, flags)?;
    let is_other = |file: &Path| file.extension().is_some_and(|ending| ending == "o" || ending == "S");
    compiler.args(files.iter().filter(|file| is_source(file) || is_other(file))).arg("-o").arg(&output);
    if files.iter().any(|file| is_cpp(file) || file.ends_with(CPP_OBJECT)) {
        compiler.arg("-lstdc++");
    }
    run(compiler.arg("-lm"), &files[0])?;
    file::read(&output)
}

/// The folders in which the compiler finds headers.
fn folders(repository: &Repository) -> Result<Vec<String>> {
    let [library, shared] = [LIBRARY, SHARED].map(|folder| forwards::with_made(repository, folder));
    let all = [&library?[..], &shared?, &HEADERS.map(|folder| repository.path(folder))].concat();
    Ok(all.iter().map(|folder| format!("-I{}", folder.display())).collect())
}

/// The error for a source that the compiler rejects, with a remedy if a header is missing.
fn refused(source: &Path, said: &str) -> anyhow::Error {
    let what = format!("{} cannot be compiled for Linux", source.display());
    match missing_header(said) {
        Some((place, name)) => problem(
            what,
            format!("there is no header {name} ({place})"),
            "name its folder with -I, or install its package; those of RTLinux for programs in Linux are in \
             linux/lib/include and rt/shared, and in the forwards.txt there",
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
            for part in ["linux", "rt"] {
                std::os::unix::fs::symlink(Repository::find().unwrap().path(part), root.join(part)).unwrap();
            }
            let source = root.join("a.c");
            fs::write(&source, "#include <stdio.h>\nint main(void) { return puts(__FILE__); }\n").unwrap();
            compile(&Repository::at(&root), &[source], &[]).unwrap()
        });
        assert!(one == other);
    }

    fn compiled(text: &str, flags: &[&str]) -> Result<Vec<u8>> {
        compiled_as("partner.c", text, flags)
    }

    fn compiled_as(name: &str, text: &str, flags: &[&str]) -> Result<Vec<u8>> {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join(name);
        fs::write(&source, text).unwrap();
        fs::create_dir(folder.path().join("include")).unwrap();
        fs::write(folder.path().join("include/shared.h"), "#define SPEED 3\n").unwrap();
        let here = folder.path().join("include").display().to_string();
        let flags: Vec<String> = flags.iter().map(|flag| flag.replace("HERE", &here)).collect();
        with_library(&Repository::find().unwrap(), &[source], &flags)
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

    /// All headers in a folder of the repository whose names pass, relative to that folder.
    fn headers(folder: &str, is_one: impl Fn(&str) -> bool) -> Vec<String> {
        let [own, made] = forwards::with_made(&Repository::find().unwrap(), folder).unwrap();
        let made = file::below(&made).unwrap();
        let twice: Vec<&PathBuf> = made.iter().filter(|name| own.join(name).exists()).collect();
        assert_eq!(twice, [""; 0].map(Path::new), "files, and in the table of {folder}");
        let names = file::below(&own).unwrap().into_iter().chain(made);
        let names = names.map(|file| file.to_string_lossy().into_owned());
        names.filter(|name| name.ends_with(".h") && is_one(name)).collect()
    }

    /// The headers of the C library and ours, in either order, in C and in C++; each of ours alone,
    /// and twice.
    #[test]
    fn headers_of_rtlinux_are_there_for_linux() {
        // C has no <iostream.h> and the like.
        let for_both = |name: &str| !name.starts_with("io") && name != "fstream.h";
        let ours = [LIBRARY, SHARED].map(|folder| headers(folder, for_both)).concat();
        assert!(ours.len() > 80, "{ours:?}");
        let libc = [
            "time.h",
            "sys/time.h",
            "signal.h",
            "fcntl.h",
            "termios.h",
            "sys/ioctl.h",
            "sys/stat.h",
            "sys/io.h",
            "linux/rtc.h",
        ];
        let all = |order: &mut dyn Iterator<Item = &str>| {
            order.map(|name| format!("#include <{name}>\n")).collect::<String>()
        };
        let body = "
            hrtime_t never = HRTIME_INFINITY;
            RTIME ticks = RT_TICKS_PER_SEC;
            pthread_barrier_t barrier;
            atomic_t counter = ATOMIC_INIT(RTF_NO);
            int main(void)
            {
                struct timespec a = timespec_from_ns(3 * (hrtime_t)NSECS_PER_SEC / 2), b = { 0, 600000000 };
                unsigned long cycles;
                timespec_add(&a, &b);
                timespec_sub(&a, &b);
                timespec_add_ns(&a, 1);
                rdtscl(cycles);
                set_bit(1, &counter);
                mb();
                if (cycles == 1)
                    outb(inb(0x61), 0x61);
                return timespec_to_ns(&a) != 1500000001 || timespec_lt(&a, &b) || !timespec_nz(&a) || gethrtime() > never;
            }";
        let (ours_first, libc_first) =
            (ours.iter().map(String::as_str).chain(libc), libc.into_iter().chain(ours.iter().map(String::as_str)));
        for mut order in [Box::new(ours_first) as Box<dyn Iterator<Item = &str>>, Box::new(libc_first)] {
            let text = all(&mut order) + body;
            compiled(&text, &[]).unwrap();
            compiled_as("partner.cc", &text, &[]).unwrap();
        }
        for header in ours {
            let mut compiler = Command::new("cc");
            compiler.args(["-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-include", &header, "-include", &header]);
            tool::quietly(compiler.args(["-x", "c", "/dev/null"]).args(folders(&Repository::find().unwrap()).unwrap()))
                .unwrap();
        }
    }

    #[test]
    fn what_a_module_includes_of_rtlinux_its_partner_may() {
        let of_rtlinux = |name: &str| {
            name.starts_with("rtl") || name.starts_with("posix/") || name.contains("/rt_") || name.ends_with("/rtf.h")
        };
        let theirs = headers(LIBRARY, of_rtlinux);
        let missing: Vec<String> = headers("rt/include", |name| of_rtlinux(name) && !name.starts_with("compat/"))
            .into_iter()
            .filter(|name| !theirs.contains(name))
            .collect();
        assert_eq!(missing, [""; 0]);
    }

    /// A header without comments and include guards.
    fn code(folder: &str, name: &str) -> String {
        let folders = forwards::with_made(&Repository::find().unwrap(), folder).unwrap();
        let text = folders.iter().find_map(|folder| fs::read_to_string(folder.join(name)).ok()).unwrap();
        let keeps = |line: &&str| {
            let guard = line.starts_with('#') && (line.ends_with("_H") || *line == "#endif");
            !(line.is_empty() || guard || line.starts_with("/*") || line.starts_with(" *"))
        };
        text.lines().filter(keeps).map(|line| format!("{line}\n")).collect()
    }

    #[test]
    fn no_header_of_both_sides_stands_twice() {
        let [tasks, processes, both] = ["rt/include", LIBRARY, SHARED].map(|folder| headers(folder, |_| true));
        let twice = |name: &&String| code("rt/include", name) == code(LIBRARY, name);
        let same: Vec<&String> = tasks.iter().filter(|name| processes.contains(name)).filter(twice).collect();
        assert_eq!(same, [""; 0], "move them to {SHARED} or its table");
        let hidden: Vec<String> =
            both.into_iter().filter(|name| tasks.contains(name) || processes.contains(name)).collect();
        assert_eq!(hidden, [""; 0], "in {SHARED}, and hidden by a header of one side");
    }

    /// Programs as they were written then: what the C library still has for them, inline functions
    /// that are not static, C++ from before its standard.
    #[test]
    fn programs_in_the_style_of_the_time_compile() {
        let old = "
            inline int twice(int x) { return x > 9 ? x : twice(x + x); }
            main(argc, argv) char **argv; { char line[80], *p = gets(line); exit(p && twice(argc)); }";
        compiled(old, &[]).unwrap();
        compiled("#include \"include/shared.h\"\nint main(void) { return puts(\"a\nb\") + SPEED; }", &[]).unwrap();
        let cpp = "
            #include <iostream.h>
            #include <fstream.h>
            #include <rtl_fifo.h>
            #include <libpillion.h>
            int main(int argc, char **argv) { register int i = 0; ifstream f(\"/dev/rtf0\"); cout << f.good() << i << endl; return 0; }";
        for name in ["partner.cc", "partner.cpp", "partner.C"] {
            compiled_as(name, cpp, &[]).unwrap();
        }
    }

    /// The output of a program compiled from these files, of which the first ones are its sources.
    fn said(files: &[(&str, &[u8])], sources: usize) -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let file = folder.path().join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        let sources: Vec<PathBuf> = files[..sources].iter().map(|(name, _)| folder.path().join(name)).collect();
        let program = folder.path().join("program");
        let linked = with_library(&Repository::find().unwrap(), &sources, &[]).unwrap();
        crate::file::write_program(&program, &linked).unwrap();
        tool::output(&mut Command::new(program)).unwrap().stdout
    }

    #[test]
    fn sources_of_one_name_stay_apart() {
        let files: [(&str, &[u8]); 6] = [
            ("main.c", b"int main(void) { x(); y(); z(); return 0; }"),
            ("x/util.c", b"#include <stdio.h>\n#include \"own.h\"\nvoid x(void) { puts(\"x\n\" OWN); }"),
            ("y/util.c", b"#include <stdio.h>\n#include \"own.h\"\nvoid y(void) { puts(\"y\n\" OWN); }"),
            ("z/by_lines.c", b"#include <stdio.h>\nvoid z(void) { puts(\"gr\xfc\xdf\n.\"); }"),
            ("x/own.h", b"#define OWN \"of x\"\n"),
            ("y/own.h", b"#define OWN \"of y\"\n"),
        ];
        assert_eq!(said(&files, 4), b"x\nof x\ny\nof y\ngr\xfc\xdf\n.\n");
    }

    #[test]
    fn memory_may_be_read_as_another_type() {
        let text = b"#include <stdio.h>\n#include <asm/bitops.h>\n
            __attribute__((noinline)) int f(long *a) { *a = 1; set_bit(1, a); return *a; }
            __attribute__((noinline)) int g(int *a, float *b) { *a = 1; *b = 0; return *a; }
            int main(void) { long a; int b; printf(\"%d %d\", f(&a), g(&b, (float *)&b)); return 0; }";
        assert_eq!(said(&[("a.c", text)], 1), b"3 0");
    }
}
