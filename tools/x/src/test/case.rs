//! A test in the emulator: a run, and what is expected of it.

use super::expect::Expect;
use super::{LONG, warnings};
use crate::debian::disk;
use crate::file;
use crate::parallel::{self, Work};
use crate::repository::Repository;
use crate::run::own_process::{self, Streams};
use crate::tally::Tally;
use anyhow::{Context as _, Result};
use pillion_measure_data::plain;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// Folder of the tests. Those in its folder [`LONG`] run only if they are named.
const FOLDER: &str = "tests/system";

/// Options of runs in which no Linux rides.
const WITHOUT: [&str; 3] = ["--root", "--no-linux", "--direct"];

/// In Pillion's log when Linux's init has begun.
const AT_INIT: &str = "\"event\":\"init\"";

/// A task on each of four processors, beside Linux on all of them.
const FOUR: &str = "tests/system/systems/four.toml";

/// A file in tests/system.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    #[serde(skip)]
    name: String,
    /// What it shows.
    #[serde(rename = "about")]
    _about: String,
    /// System file, relative to the repository.
    system: Option<PathBuf>,
    /// Further arguments of `x run --headless`.
    #[serde(default)]
    arguments: Vec<String>,
    /// Whether Linux gets a disk that `x disk` made. Nothing that Linux writes there is kept.
    #[serde(default)]
    debian_disk: bool,
    /// Seconds that the run may take.
    #[serde(default = "Case::default_limit")]
    limit: u64,
    /// Whether Linux's kernel unpacks itself, as where it is installed. That takes most of a boot.
    #[serde(default)]
    packed: bool,
    /// Whether to run the same without Pillion as well. Linux must not print a warning that it does
    /// not print there.
    #[serde(default)]
    compare_warnings: bool,
    /// Other kernels of Linux on which it also runs, as a test that takes long.
    #[serde(default)]
    kernels: Vec<String>,
    /// Whether it also runs on four processors, with Linux and a task on each, as a test that takes
    /// long.
    #[serde(default)]
    on_four: bool,
    /// System file of that run, if not [`FOUR`]: one with a task on each processor, too.
    four: Option<PathBuf>,
    /// What is expected.
    #[serde(default)]
    expect: Expect,
}

impl Case {
    fn default_limit() -> u64 {
        120
    }

    /// Runs the tests whose name contains `filter`, as many concurrently as processors and memory
    /// allow: each boot keeps a processor busy.
    pub fn run_all(repository: &Repository, filter: Option<&str>) -> Result<Tally> {
        let cases = Case::all(repository, filter)?;
        if cases.iter().any(|case| case.debian_disk) {
            // Outside any test, whose reported duration it would inflate.
            disk::image(repository)?;
        }
        let mut tally = Tally::default();
        let workers = workers(&std::fs::read_to_string("/proc/meminfo").unwrap_or_default());
        let pieces = cases.iter().map(|case| case.work(repository)).collect();
        parallel::each(pieces, workers, |_, outcome| {
            let (of_one, text) = outcome?;
            println!("{}", plain(&text));
            tally.add(of_one);
            Ok(())
        })?;
        Ok(tally)
    }

    /// The tests whose name contains `filter`, sorted: those that take long if it begins with that
    /// word, else all others.
    fn all(repository: &Repository, filter: Option<&str>) -> Result<Vec<Case>> {
        let is_case = |file: &Path| file.extension().is_some_and(|extension| extension == "toml");
        let long = filter.is_some_and(|filter| filter.starts_with(LONG));
        let folder = if long { format!("{FOLDER}/{LONG}") } else { FOLDER.into() };
        let files = super::files(repository, &folder, is_case);
        let prefix = if long { format!("{LONG}/") } else { String::new() };
        // The tests of experiments are not among them.
        let is_here = |file: &&PathBuf| !long || file.parent().is_some_and(|parent| parent.ends_with(LONG));
        let files: Vec<_> = files.iter().filter(is_here).collect();
        let cases = files.iter().map(|file| Case::read(file, &prefix));
        let elsewhere = if long {
            let others = super::files(repository, FOLDER, is_case);
            Case::elsewhere(others.iter().chain(files.iter().copied()))?
        } else {
            Vec::new()
        };
        let cases = cases.chain(elsewhere.into_iter().map(Ok));
        let wanted = |case: &Result<Case>| case.as_ref().map_or(true, |case| case.name.contains(filter.unwrap_or("")));
        cases.filter(wanted).collect()
    }

    /// The tests that also run on other kernels, once for each of those, and on four processors.
    fn elsewhere<'a>(files: impl Iterator<Item = &'a PathBuf>) -> Result<Vec<Case>> {
        let mut cases = Vec::new();
        for file in files {
            let read = || Case::read(file, &format!("{LONG}/"));
            let here = read()?;
            for kernel in here.kernels {
                let mut case = read()?;
                case.name = format!("{}-{kernel}", case.name);
                case.arguments.extend(["--linux".into(), kernel]);
                cases.push(case);
            }
            if here.on_four {
                cases.push(read()?.on_four());
            }
        }
        Ok(cases)
    }

    /// The same on four processors. The others' turns are part of a latency there, and of the time
    /// that the run takes.
    fn on_four(mut self) -> Case {
        self.name.push_str("-on-four");
        self.system = Some(self.four.take().unwrap_or_else(|| FOUR.into()));
        self.arguments.extend(["--cpus".into(), "4".into()]);
        self.limit *= 4;
        self.expect.allow_turns(4);
        self
    }

    fn read(file: &Path, prefix: &str) -> Result<Case> {
        let text = std::fs::read_to_string(file)?;
        let mut case: Case = toml::from_str(&text).with_context(|| format!("{} is no test", file.display()))?;
        let stem = file.file_stem().context("a test needs a name")?.to_string_lossy();
        case.name = format!("{prefix}{stem}");
        Ok(case)
    }

    fn work<'a>(&'a self, repository: &'a Repository) -> Work<'a, (Tally, String)> {
        Work { name: format!("test {}", self.name), work: Box::new(|| self.run(repository)) }
    }

    /// Runs the test, and reports the result. Tests that the booted tasks report are counted
    /// individually.
    fn run(&self, repository: &Repository) -> Result<(Tally, String)> {
        let streams = self.boot(repository, false)?;
        let mut tally = streams.reported(&self.name);
        let mut wrong = self.expect.check(&streams);
        if self.compare_warnings {
            let direct = self.boot(repository, true)?;
            wrong.extend(warnings::added(&direct.console, &streams.console));
        }
        if wrong.is_empty() {
            tally.passed += 1;
            let text = format!("test {} ok{}{}", self.name, inner(&tally), streams.figures());
            return Ok((tally, text));
        }
        tally.failed.extend(wrong.iter().map(|why| format!("{}: {why}", self.name)));
        Ok((tally, format!("test {} FAILED\n{}", self.name, streams.message)))
    }

    fn boot(&self, repository: &Repository, direct: bool) -> Result<Streams> {
        let mut arguments = vec!["--timeout".into(), self.limit.to_string()];
        if let Some(system) = &self.system {
            arguments.extend(["--system".into(), repository.path(system).display().to_string()]);
        }
        if direct {
            arguments.push("--direct".into());
        } else if !self.packed && !self.arguments.iter().any(|one| WITHOUT.contains(&one.as_str())) {
            arguments.push("--unpacked".into());
        }
        if self.debian_disk {
            let disk = disk::image(repository)?.display().to_string();
            arguments.extend(["--disk".into(), disk, "--qemu-arg=-snapshot".into()]);
        }
        let work = file::temporary()?;
        let picture = work.path().join("screen");
        if self.expect.looks_at_the_screen() {
            arguments.extend(["--when".into(), format!("{AT_INIT}=screendump {}", picture.display())]);
        }
        let streams = own_process::run(repository, repository.root(), arguments.iter().chain(&self.arguments))?;
        let lit = std::fs::read(&picture).map_or(0, |picture| lit(&picture));
        Ok(Streams { message: format!("{}{}", streams.printed, streams.message), lit, ..streams })
    }
}

/// How many pixels are not black in a picture as the emulator writes it (PPM: a line with the kind,
/// one with width and height, one with the largest value, and three bytes a pixel).
fn lit(picture: &[u8]) -> usize {
    let pixels = picture.splitn(4, |byte| *byte == b'\n').nth(3).unwrap_or(&[]);
    pixels.chunks_exact(3).filter(|pixel| pixel.iter().any(|colour| *colour != 0)).count()
}

fn inner(tally: &Tally) -> String {
    if tally.passed > 1 { format!(" ({} tests in it)", tally.passed - 1) } else { String::new() }
}

/// As many as there are processors, with 4 GiB of free memory for each: the guests have 512 MiB to
/// 5 GiB.
fn workers(meminfo: &str) -> usize {
    const KIB_EACH: usize = 4 << 20;
    let free =
        meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:")?.trim().strip_suffix(" kB")?.parse().ok());
    free.map_or(1, |kib: usize| kib / KIB_EACH).clamp(1, parallel::processors())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lit_pixels_are_counted() {
        assert_eq!(lit(b"P6\n2 2\n255\n\0\0\0\n\n\n\0\0\x01\0\0\0"), 2);
        assert_eq!((lit(b""), lit(b"P6\n2 2\n255\n")), (0, 0));
    }

    #[test]
    fn little_memory_means_one_at_a_time() {
        assert_eq!(workers("MemTotal: 9 kB\nMemAvailable:    3000000 kB\n"), 1);
        assert_eq!(workers(""), 1);
        assert!(workers("MemAvailable: 999999999 kB\n") >= 1);
    }

    #[test]
    fn what_takes_long_runs_only_if_it_is_named() {
        let repository = Repository::find().unwrap();
        let names =
            |filter| Case::all(&repository, filter).unwrap().into_iter().map(|case| case.name).collect::<Vec<_>>();
        assert!(names(None).iter().all(|name| !name.starts_with(LONG)) && names(None).contains(&"dual".into()));
        assert!(names(Some("dual-6.12")).iter().all(|name| !name.starts_with(LONG)));
        let long = names(Some(LONG));
        assert!(!long.is_empty() && long.iter().all(|name| name.starts_with("long/")), "{long:?}");
        assert_eq!(names(Some("long/dual-rt")), ["long/dual-rt"]);
        assert_eq!(names(Some("long/cobalt")), ["long/cobalt-rt", "long/cobalt-6.12"], "on other kernels");
        assert_eq!(names(Some("long/dual-2")), ["long/dual-2", "long/dual-2-6.12"], "those that take long, too");
        assert_eq!(names(Some("long/isolation-spin")), ["long/isolation-spin-on-four"], "on four processors");
    }

    #[test]
    fn a_test_on_four_processors_may_have_a_system_file_of_its_own() {
        let repository = Repository::find().unwrap();
        let system = |filter| Case::all(&repository, Some(filter)).unwrap().remove(0).system.unwrap();
        assert_eq!(system("long/isolation-spin-on-four"), Path::new(FOUR));
        assert!(system("long/isolation-bars-on-four").ends_with("four-bars.toml"));
    }
}
