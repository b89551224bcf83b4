//! Tests that are RTLinux programs: rt/tests/programs.

mod compare;
mod expectations;
mod native;
mod trial;
mod verdict;

use crate::parallel::processors;
use crate::repository::Repository;
use crate::tally::Tally;
use crate::task::{self, Recipe, Task};
use anyhow::{Context as _, Result};
use expectations::Expectations;
use pillion_measure_data::plain;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Their folder in the repository.
const FOLDER: &str = "rt/tests/programs";
/// The prefix of their names in `x test`.
const PREFIX: &str = "rt/";

/// A program and what is expected of it.
struct Program {
    name: String,
    source: PathBuf,
    expectations: Expectations,
}

/// A program that was built.
struct Built<'a> {
    program: &'a Program,
    task: Task,
}

/// The part of a program's name that a name on the command line selects: `rt` selects all programs,
/// `rt/PART` and `PART` those whose names contain PART.
pub fn filter(name: Option<&str>) -> &str {
    match name {
        None | Some("rt") => "",
        Some(name) => name.strip_prefix(PREFIX).unwrap_or(name),
    }
}

/// Whether a name on the command line selects programs only.
pub fn only(name: Option<&str>) -> bool {
    name.is_some_and(|name| name == "rt" || name.starts_with(PREFIX))
}

/// Runs the programs whose names contain `filter`, several at a time.
pub fn run(repository: &Repository, filter: &str) -> Result<Tally> {
    let programs = all(repository, filter)?;
    if programs.is_empty() {
        return Ok(Tally::default());
    }
    trial::prepare(repository)?;
    let (next, tally) = (AtomicUsize::new(0), Mutex::new(Tally::default()));
    let work = || {
        while let Some(program) = programs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let wrong = program.run(repository).unwrap_or_else(|error| vec![format!("{error:#}")]);
            if let Ok(mut tally) = tally.lock() {
                tally.add(conclude(&program.name, &wrong));
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..processors() {
            scope.spawn(work);
        }
    });
    Ok(tally.into_inner().unwrap_or_default())
}

fn conclude(name: &str, wrong: &[String]) -> Tally {
    let name = format!("{PREFIX}{name}");
    if !wrong.is_empty() {
        println!("test {name} FAILED\n{}", plain(&wrong.join("\n")));
    }
    let mut tally = Tally::default();
    tally.take(&name, wrong.first().map(|first| first.lines().next().unwrap_or_default().to_owned()));
    tally
}

/// The programs whose names contain `filter`, sorted.
fn all(repository: &Repository, filter: &str) -> Result<Vec<Program>> {
    let is_wanted = |file: &Path| task::is_source(file) && task::stem(file).contains(filter);
    let files = super::files(repository, FOLDER, is_wanted);
    files.iter().map(|file| Program::read(file)).collect()
}

impl Program {
    fn read(source: &Path) -> Result<Program> {
        let wrong = || format!("{} is no test", source.display());
        let expectations =
            Expectations::parse(&std::fs::read_to_string(source).with_context(wrong)?).with_context(wrong)?;
        Ok(Program { name: task::stem(source), source: source.to_owned(), expectations })
    }

    /// The programs that run beside it.
    fn others(&self) -> Result<Vec<Program>> {
        self.expectations.with.iter().map(|name| Program::read(&self.beside(name, &task::ENDINGS))).collect()
    }

    /// The source of another program for this test, by its name and possible extensions.
    fn beside(&self, name: &str, endings: &[&str]) -> PathBuf {
        let folder = self.source.with_file_name("with");
        let mut sources = endings.iter().map(|ending| folder.join(format!("{name}.{ending}")));
        sources.find(|file| file.is_file()).unwrap_or_else(|| folder.join(name))
    }

    /// Builds and runs it; returns what is wrong.
    fn run(&self, repository: &Repository) -> Result<Vec<String>> {
        let others = self.others()?;
        let mut built = Vec::new();
        for program in std::iter::once(self).chain(&others) {
            let mut recipe = Recipe::of(program.name.clone(), std::slice::from_ref(&program.source))?;
            if let Some(folder) = native::run(repository, program)? {
                recipe.includes.push(folder);
                // As on the host: the test is about the C library's functions, not about what the
                // compiler knows of them.
                recipe.extra.push("-fno-builtin".into());
            }
            built.push(Built { program, task: task::ready(repository, &recipe)? });
        }
        let streams = trial::run(repository, &built)?;
        Ok(verdict::wrong(&built, &streams))
    }
}
