//! Tests that are RTLinux programs: rt/tests/programs.

mod compare;
mod expectations;
mod native;
mod trial;
mod verdict;

use crate::parallel::{self, Work, processors};
use crate::repository::Repository;
use crate::tally::Tally;
use crate::task::{self, Recipe};
use anyhow::{Context as _, Result};
use expectations::Expectations;
use pillion_measure_data::plain;
use std::path::{Path, PathBuf};

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
    /// The compiler's warnings.
    warnings: String,
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
    let mut tally = Tally::default();
    let pieces = programs.iter().map(|program| program.work(repository)).collect();
    parallel::each(pieces, processors(), |at, wrong| {
        let wrong = wrong.unwrap_or_else(|error| vec![format!("{error:#}")]);
        conclude(&mut tally, &programs[at].title(), &wrong);
        Ok(())
    })?;
    Ok(tally)
}

fn conclude(tally: &mut Tally, name: &str, wrong: &[String]) {
    if !wrong.is_empty() {
        println!("test {name} FAILED\n{}", plain(&wrong.join("\n")));
    }
    tally.take(name, wrong.first().map(|first| first.lines().next().unwrap_or_default().to_owned()));
}

/// The programs whose names contain `filter`, sorted.
fn all(repository: &Repository, filter: &str) -> Result<Vec<Program>> {
    let is_wanted = |file: &Path| task::is_source(file) && task::stem(file).contains(filter);
    let files = super::files(repository, FOLDER, is_wanted);
    files.iter().map(|file| Program::read(file)).collect()
}

impl Program {
    /// Its name as a test.
    fn title(&self) -> String {
        format!("{PREFIX}{}", self.name)
    }

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

    fn work<'a>(&'a self, repository: &'a Repository) -> Work<'a, Vec<String>> {
        Work { name: format!("test {}", self.title()), work: Box::new(|| self.run(repository)) }
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
            built.push(Built { program, warnings: task::ready(repository, &recipe)?.warnings });
        }
        let streams = trial::run(repository, &built)?;
        Ok(verdict::wrong(&built, &streams))
    }
}
