//! The skins of dual mode and their tools, installed as on a user's system, and programs built as
//! users build them.

use super::cpio::{Node, Tree};
use super::lock::lock;
use crate::file::{self, hex, write_whole};
use crate::progress::step;
use crate::repository::Repository;
use crate::task::is_cpp;
use crate::tool;
use anyhow::Result;
use sha2::{Digest as _, Sha256};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Folders of the skins: each has a Makefile.
const SKINS: [&str; 3] = ["linux/cobalt", "linux/alchemy", "linux/evl"];
/// The tools that are linked with them; it has a Makefile, too.
const TOOLS: &str = "linux/skin-tools";
/// What the names of installed tools begin with. In the initramfs, they also have those that users
/// know.
const PREFIX: &str = "pillion-";
/// Folders that they need as well.
const SHARED: [&str; 3] = ["linux/primary", "linux/uapi", "abi/c"];
/// Programs that test them: a folder for each skin.
const TESTS: &str = "linux/skin-test";
/// The library that unwinds stacks.
const UNWINDER: &str = "libgcc_s.so.1";

/// The skins, installed.
pub struct Skins {
    prefix: PathBuf,
}

/// An archive with the tools and the test programs, made once for each state of their sources.
pub fn archive(repository: &Repository) -> Result<Vec<u8>> {
    let mut hash = Sha256::new();
    for folder in SKINS.iter().chain(&SHARED).chain([&TOOLS, &TESTS]) {
        for file in file::all(&repository.path(folder))? {
            hash.update(file.to_string_lossy().as_bytes());
            hash.update(file::read(&file)?);
        }
    }
    let made = repository.build(format!("skins-{}.cpio", &hex(&hash.finalize())[..8]));
    if !made.is_file() {
        let _alone = lock(repository)?;
        let folder = file::temporary()?;
        let (tools, programs) = step("building the skins' tools, and the programs that test them", || {
            let skins = Skins::install(repository, &folder.path().join("usr"))?;
            Ok((skins.tools()?, programs(repository, &skins)?))
        })?;
        let mut tree = Tree::default();
        for (name, program) in programs {
            tree.add(&format!("bin/{name}"), Node::File(program, true));
        }
        for (name, tool) in tools {
            tree.add(&format!("bin/{}", name.trim_start_matches(PREFIX)), Node::Link(name.clone()));
            tree.add(&format!("bin/{name}"), Node::File(tool, true));
        }
        // Programs whose threads are cancelled need it; it is that of the compiler that made them.
        let library = tool::capture(Command::new("cc").arg(format!("-print-file-name={UNWINDER}")))?;
        let place = format!("lib/x86_64-linux-gnu/{UNWINDER}");
        tree.add(&place, Node::File(file::read(Path::new(library.trim()))?, true));
        write_whole(&made, &tree.archive())?;
    }
    file::read(&made)
}

/// The test programs: names and contents.
fn programs(repository: &Repository, skins: &Skins) -> Result<Vec<(String, Vec<u8>)>> {
    let folder = file::temporary()?;
    let tests = repository.path(TESTS);
    let sources =
        file::below(&tests)?.into_iter().filter(|source| source.extension().is_some_and(|ending| ending != "h"));
    let make = |source: PathBuf| {
        let (skin, name) = (source.parent().unwrap_or(Path::new("")), source.file_stem().unwrap_or_default());
        let output = folder.path().join(name);
        let flags = ["-Wall", "-Wextra", "-Werror", "-O2", "-s"];
        skins.build(&skin.to_string_lossy(), &flags, &tests.join(&source), &output)?;
        Ok((format!("{}-{}", skin.display(), name.display()), file::read(&output)?))
    };
    sources.map(make).collect()
}

impl Skins {
    /// Makes and installs all skins and their tools below a folder.
    pub fn install(repository: &Repository, prefix: &Path) -> Result<Skins> {
        let work = file::temporary()?;
        for folder in SKINS.iter().chain(&SHARED).chain([&TOOLS]) {
            let from = repository.path(folder);
            for name in file::below(&from)? {
                let to = work.path().join(folder).join(&name);
                fs::create_dir_all(to.parent().unwrap_or(Path::new("")))?;
                fs::copy(from.join(&name), to)?;
            }
        }
        for made in SKINS.iter().chain([&TOOLS]) {
            let mut make = Command::new("make");
            make.arg("-s").arg("-C").arg(work.path().join(made)).arg("install");
            tool::quietly(make.arg(format!("PREFIX={}", prefix.display())))?;
        }
        Ok(Skins { prefix: prefix.to_owned() })
    }

    /// The tools: names and contents.
    fn tools(&self) -> Result<Vec<(String, Vec<u8>)>> {
        let folder = self.prefix.join("bin");
        let names = file::below(&folder)?.into_iter().map(|name| name.to_string_lossy().into_owned());
        let read = |name: String| Ok((name.clone(), file::read(&folder.join(name))?));
        names.filter(|name| name.starts_with(PREFIX)).map(read).collect()
    }

    /// What `xeno-config` answers for a skin, to `--cflags` or `--ldflags`; for EVL, `pkg-config`.
    pub fn flags(&self, skin: &str, asked: &str) -> Result<Vec<String>> {
        if skin == "evl" {
            return self.package_flags(skin, if asked == "--cflags" { "Cflags:" } else { "Libs:" });
        }
        let mut config = Command::new(self.prefix.join("bin/xeno-config"));
        config.arg(format!("--skin={}", if skin == "cobalt" { "posix" } else { skin })).arg(asked);
        Ok(tool::capture(&mut config)?.split_whitespace().map(String::from).collect())
    }

    /// What `pkg-config` would answer, which need not be installed.
    fn package_flags(&self, package: &str, field: &str) -> Result<Vec<String>> {
        let text = fs::read_to_string(self.prefix.join(format!("lib/pkgconfig/{package}.pc")))?;
        let flags = text.lines().find_map(|line| line.strip_prefix(field)).unwrap_or_default();
        let flags = flags.replace("${prefix}", &self.prefix.to_string_lossy());
        Ok(flags.split_whitespace().map(String::from).collect())
    }

    /// Builds a program in C or C++, as its author would.
    pub fn build(&self, skin: &str, flags: &[&str], source: &Path, output: &Path) -> Result<()> {
        let mut compiler = Command::new(if is_cpp(source) { "c++" } else { "cc" });
        compiler.env("LC_ALL", "C").args(flags).args(self.flags(skin, "--cflags")?);
        compiler.arg(source).arg("-o").arg(output).args(self.flags(skin, "--ldflags")?);
        tool::quietly(&mut compiler)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::install::is_root;

    fn installed() -> (tempfile::TempDir, Skins) {
        let folder = tempfile::tempdir().unwrap();
        let skins = Skins::install(&Repository::find().unwrap(), &folder.path().join("usr")).unwrap();
        (folder, skins)
    }

    /// Programs for Xenomai, which run in Linux alone where there is no dual mode: static and
    /// dynamic, in C and in C++, whose library refers to functions of threads only weakly.
    #[test]
    fn programs_for_xenomai_compile_link_and_run() {
        let (folder, skins) = installed();
        let c = "
            #include <errno.h>
            #include <pthread.h>
            #include <semaphore.h>
            #include <signal.h>
            #include <stdio.h>
            #include <time.h>
            #include <sys/cobalt.h>
            #include <xenomai/init.h>
            static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
            static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
            static sem_t sem;
            static int ready;
            static void *run(void *nothing)
            {
                pthread_mutex_lock(&mutex);
                ready = 1;
                pthread_cond_signal(&cond);
                pthread_mutex_unlock(&mutex);
                sem_post(&sem);
                return nothing;
            }
            int main(int argc, char *const *argv)
            {
                pthread_t thread;
                xenomai_init(&argc, &argv);
                sem_init(&sem, 0, 0);
                pthread_create(&thread, NULL, run, NULL);
                pthread_mutex_lock(&mutex);
                while (!ready)
                    pthread_cond_wait(&cond, &mutex);
                pthread_mutex_unlock(&mutex);
                sem_wait(&sem);
                pthread_join(thread, NULL);
                printf(\"%d %d\", __STD(time(NULL)) - __RT(time(NULL)) < 2, cobalt_thread_mode() == XNRELAX);
                /* Names may be as long as the C library's. */
                if (sem_open(\"/a semaphore whose name is longer than those in primary mode\", 0) != SEM_FAILED)
                    return 1;
                return errno != ENOENT;
            }";
        let cpp = "
            #include <mutex>
            #include <thread>
            #include <cstdio>
            #include <pthread.h>
            #include <semaphore.h>
            #include <sys/cobalt.h>
            int main()
            {
                std::mutex mutex;
                std::thread thread([&] { std::lock_guard<std::mutex> lock(mutex); printf(\"1 1\"); });
                thread.join();
            }";
        for (name, text) in [("robot.c", c), ("robot.cc", cpp)] {
            let (source, program) = (folder.path().join(name), folder.path().join("robot"));
            fs::write(&source, text).unwrap();
            for how in ["-static", "-no-pie", "-pie"] {
                skins.build("cobalt", &["-Wall", how], &source, &program).unwrap();
                let said = tool::output(&mut Command::new(&program)).unwrap();
                assert_eq!(said.stdout, b"1 1", "{name} {how}");
                assert!(said.status.success(), "{name} {how}");
                let text = fs::read(&program).unwrap();
                assert!(!text.windows(9).any(|part| part == b"libstdc++"), "{name} {how}: its waits are not wrapped");
            }
        }
    }

    /// A program and a shared library of its own, both linked as `xeno-config` says, and a library
    /// alone.
    #[test]
    fn shared_libraries_are_for_xenomai_too() {
        let (folder, skins) = installed();
        let (source, library, program) =
            (folder.path().join("arm.c"), folder.path().join("libarm.so"), folder.path().join("robot"));
        let text = "
            #include <pthread.h>
            #include <stdio.h>
            static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
            int arm(void)
            {
                pthread_mutex_lock(&mutex);
                printf(\"arm\");
                return pthread_mutex_unlock(&mutex);
            }";
        fs::write(&source, text).unwrap();
        skins.build("cobalt", &["-shared", "-fPIC"], &source, &library).unwrap();
        fs::write(folder.path().join("robot.c"), "int arm(void); int main(void) { return arm(); }").unwrap();
        for flags in [skins.flags("cobalt", "--ldflags").unwrap(), Vec::new()] {
            let mut compiler = Command::new("cc");
            compiler.arg(folder.path().join("robot.c")).arg("-o").arg(&program).arg(&library);
            tool::quietly(compiler.arg(format!("-Wl,-rpath,{}", folder.path().display())).args(flags)).unwrap();
            let said = tool::output(&mut Command::new(&program)).unwrap();
            assert!(said.status.success() && said.stdout == b"arm", "{said:?}");
        }
    }

    /// Version 2's headers and options.
    #[test]
    fn version_2_is_known() {
        let (folder, skins) = installed();
        let (source, program) = (folder.path().join("arm.c"), folder.path().join("arm"));
        let text = "
            #include <native/task.h>
            #include <native/timer.h>
            #include <rtdk.h>
            #include <rtdm/rtcan.h>
            #include <rtdm/rtserial.h>
            int main(void)
            {
                return rt_timer_set_mode(TM_ONESHOT) || rt_dev_open(\"rtser0\", 0) != -ENOENT;
            }";
        fs::write(&source, text).unwrap();
        skins.build("native", &["-Wall", "-Werror"], &source, &program).unwrap();
        assert!(tool::output(&mut Command::new(program)).unwrap().status.success());
        for skin in ["posix", "native"] {
            for asked in ["cflags", "ldflags"] {
                let mut config = Command::new(folder.path().join("usr/bin/xeno-config"));
                let said = tool::capture(config.arg(format!("--{skin}-{asked}"))).unwrap();
                let flags = skins.flags(skin, &format!("--{asked}")).unwrap();
                assert_eq!(said.split_whitespace().collect::<Vec<_>>(), flags);
            }
        }
    }

    /// A skin that has no header is refused, instead of a program that includes it.
    #[test]
    fn skins_that_are_not_here_are_refused() {
        let (folder, _skins) = installed();
        for asked in
            ["--smokey --cflags", "--skin=posix,smokey --ldflags", "--smokey-cflags", "--skin=vxworks --cflags"]
        {
            let mut config = Command::new(folder.path().join("usr/bin/xeno-config"));
            let said = tool::output(config.args(asked.split(' '))).unwrap();
            let text = String::from_utf8_lossy(&said.stderr);
            let why = if asked.contains("smokey") { "it has no header" } else { "there is no such skin: vxworks" };
            assert!(!said.status.success() && said.stdout.is_empty() && text.contains(why), "{asked}: {text}");
        }
    }

    /// The same for EVL.
    #[test]
    fn programs_for_evl_compile_link_and_run() {
        let (folder, skins) = installed();
        let text = "
            #include <errno.h>
            #include <evl/evl.h>
            #include <stdio.h>
            #include <unistd.h>
            static struct evl_mutex mutex = EVL_MUTEX_INITIALIZER(\"mutex\", EVL_CLOCK_MONOTONIC, 0, EVL_MUTEX_NORMAL);
            static struct evl_sem sem;
            int main(void)
            {
                int efd = evl_attach_self(\"main:%d\", getpid()), set = evl_new_poll();
                struct evl_poll_event event;
                int sem_fd = evl_new_sem(&sem, NULL), count;
                evl_lock_mutex(&mutex);
                evl_put_sem(&sem);
                evl_unlock_mutex(&mutex);
                evl_add_pollfd(set, sem_fd, POLLIN, evl_intval(1));
                count = evl_poll(set, &event, 1);
                close(set);
                evl_printf(\"%d %d\", efd == evl_get_self(), count && event.pollval.val);
                return evl_add_pollfd(set, sem_fd, POLLIN, evl_nil) != -EBADF;
            }";
        for name in ["robot.c", "robot.cc"] {
            let (source, program) = (folder.path().join(name), folder.path().join("robot"));
            fs::write(&source, text).unwrap();
            for how in ["-static", "-no-pie", "-pie"] {
                skins.build("evl", &["-Wall", "-Wextra", "-Werror", how], &source, &program).unwrap();
                let said = tool::output(&mut Command::new(&program)).unwrap();
                assert_eq!(said.stdout, b"1 1", "{name} {how}");
                assert!(said.status.success(), "{name} {how}");
            }
        }
        // The library of C++ closes files; nothing else here does.
        let source = folder.path().join("arm.cc");
        fs::write(
            &source,
            "#include <evl/evl.h>\n#include <random>\nint main() { std::random_device(); return evl_init(); }",
        )
        .unwrap();
        skins.build("evl", &["-static"], &source, &folder.path().join("arm")).unwrap();
    }

    /// In Linux alone, `switchtest` has threads there, and finds a wrong register. The tools refuse
    /// what is not there.
    #[test]
    fn tools_refuse_what_they_cannot_do() {
        let (folder, skins) = installed();
        let said = |tool: &str, arguments: &str| {
            let mut command = Command::new(folder.path().join("usr/bin").join(format!("{PREFIX}{tool}")));
            let output = tool::output(command.args(arguments.split(' '))).unwrap();
            let streams = [output.stdout, output.stderr].map(|stream| String::from_utf8(stream).unwrap());
            (output.status.success(), streams.concat())
        };
        assert_eq!(skins.tools().unwrap().len(), 3);
        let (is_well, text) = said("switchtest", "-n 1000 -l 5 rtus rtus_ufps rtus_fp0");
        assert!(is_well && text.contains("RTD|           0|        1000|        1000\n"), "{text}");
        for (tool, arguments, expected) in [
            ("switchtest", "-q --provoke st3 rtus rtus_ufps", "the register st3 of rtus_ufps0-2 is 0x"),
            ("switchtest", "--provoke st8 rtus", "--provoke st8: there is no such register"),
            ("switchtest", "rtk0", "rtk0: there are no threads of Linux's kernel"),
            ("switchtest", "rtus_ufpp", "rtus_ufpp: rtus takes no such suffix"),
            ("switchtest", "rtux", "rtux: there is no such kind of thread"),
            ("switchtest", "rtus1000", "rtus1000 1000: "),
            ("latency", "-t 1", "-t 1: there are no threads of Linux's kernel"),
            ("latency", "-t 2", "-t 2: no handler of a timer's interrupt"),
            ("latency", "-p 0", "-p 0: it is not a number from 1 to 1000000"),
            ("latency", "-P 100", "-P 100: it is not a number from 1 to 99"),
            ("latmus", "-T 5x", "-T 5x: it is not a number"),
            ("latmus", "-i", "-i: no handler of an interrupt"),
            ("latmus", "--tune", "-t: there is nothing to tune"),
            ("latmus", "-g /", "-g /: Is a directory"),
        ] {
            let (is_well, text) = said(tool, arguments);
            assert!(!is_well && text.contains(&format!("{PREFIX}{tool}: ")), "{tool} {arguments}: {text}");
            assert!(text.contains(expected), "{tool} {arguments}: {text}");
        }
    }

    /// In C and in C++, and twice.
    #[test]
    fn each_header_compiles_alone() {
        let (folder, skins) = installed();
        let rest = folder.path().join("rest");
        fs::write(&rest, "extern int nothing;\n").unwrap();
        for name in file::below(&folder.path().join("usr/include")).unwrap() {
            let skin = if name.starts_with("evl") { "evl" } else { "cobalt" };
            let name = name.strip_prefix("cobalt").unwrap_or(&name).display().to_string();
            for (language, standard) in [("c", "-std=gnu11"), ("c++", "-std=gnu++17")] {
                let mut compiler = Command::new("cc");
                compiler.args(["-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-pedantic", standard]);
                compiler.args(["-include", &name, "-include", &name]).args(skins.flags(skin, "--cflags").unwrap());
                tool::quietly(compiler.args(["-x", language]).arg(&rest)).unwrap();
            }
        }
    }

    /// The test programs run in Linux alone as well, but for what only primary mode has.
    #[test]
    fn test_programs_run_in_linux_alone() {
        if !is_root() {
            // Their threads have real-time priorities.
            return;
        }
        let (folder, skins) = installed();
        for (name, program) in programs(&Repository::find().unwrap(), &skins).unwrap() {
            let file = folder.path().join(&name);
            crate::file::write_program(&file, &program).unwrap();
            let said = tool::output(&mut Command::new(file)).unwrap();
            assert!(said.status.success(), "{name}: {}", String::from_utf8_lossy(&said.stderr));
        }
    }
}
