//! The record kept of each program that was built: with it, a program can be rebuilt by its name,
//! and is not rebuilt when nothing has changed.

use super::recipe::Recipe;
use crate::file::{changed, write_anew};
use crate::repository::Repository;
use anyhow::Result;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::PathBuf;

/// A program as it was built.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// What it was built from.
    pub recipe: Recipe,
    /// Every file that the compiler read, including headers.
    pub inputs: Vec<PathBuf>,
    /// The compiler's warnings.
    pub warnings: String,
}

impl Record {
    /// The record of the program of that name, if its sources still exist.
    pub fn read(repository: &Repository, name: &str) -> Option<Record> {
        let record: Record = serde_json::from_slice(&fs::read(file(repository, name)).ok()?).ok()?;
        record.recipe.sources.iter().all(|source| source.is_file()).then_some(record)
    }

    /// The record of a recipe's program, if no file that went into it, including the `others`, has
    /// changed since.
    pub fn up_to_date(repository: &Repository, recipe: &Recipe, others: &[PathBuf]) -> Option<Record> {
        let done = changed(&file(repository, &recipe.name))?;
        let record = Record::read(repository, &recipe.name).filter(|record| record.recipe == *recipe)?;
        let outputs = [super::image_path(repository, &recipe.name), super::elf(repository, &recipe.name)];
        let mut inputs = record.inputs.iter().chain(others);
        let good =
            outputs.iter().all(|file| file.is_file()) && inputs.all(|file| changed(file).is_some_and(|at| at <= done));
        good.then_some(record)
    }

    /// Writes it beside the image.
    pub fn write(&self, repository: &Repository) -> Result<()> {
        // Written even if its bytes stay the same: its modification time is that of the last build.
        write_anew(&file(repository, &self.recipe.name), &serde_json::to_vec_pretty(self)?)
    }
}

fn file(repository: &Repository, name: &str) -> PathBuf {
    super::folder(repository).join(format!("{name}.json"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, SystemTime};

    #[test]
    fn what_changed_is_built_again() {
        let folder = tempfile::tempdir().unwrap();
        let repository = Repository::at(folder.path());
        let source = folder.path().join("a.c");
        fs::write(&source, "").unwrap();
        let recipe = Recipe::of("a".into(), std::slice::from_ref(&source)).unwrap();
        fs::create_dir_all(repository.build("tasks")).unwrap();
        fs::write(super::super::image_path(&repository, "a"), "").unwrap();
        fs::write(super::super::elf(&repository, "a"), "").unwrap();
        let done = |recipe: &Recipe, others: &[PathBuf]| Record::up_to_date(&repository, recipe, others).is_some();
        assert!(!done(&recipe, &[]));
        let record = Record { recipe: recipe.clone(), inputs: vec![source.clone()], warnings: "w".into() };
        record.write(&repository).unwrap();
        assert_eq!(Record::up_to_date(&repository, &recipe, &[]), Some(record));
        assert!(!done(&Recipe { extra: vec!["-O0".into()], ..recipe.clone() }, &[]));
        assert!(!done(&recipe, &[folder.path().join("gone")]));
        let later = SystemTime::now() + Duration::from_secs(5);
        fs::File::options().write(true).open(&source).unwrap().set_modified(later).unwrap();
        assert!(!done(&recipe, &[]));
    }

    #[test]
    fn a_record_is_there_whole_and_new() {
        let folder = tempfile::tempdir().unwrap();
        let repository = Repository::at(folder.path());
        fs::create_dir_all(repository.build("tasks")).unwrap();
        let record = |length: usize| Record {
            recipe: Recipe { name: "a".into(), ..Recipe::default() },
            inputs: vec![],
            warnings: "w".repeat(length),
        };
        record(9).write(&repository).unwrap();
        let path = file(&repository, "a");
        let mut reader = fs::File::open(&path).unwrap();
        let long_ago = SystemTime::now() - Duration::from_secs(500);
        fs::File::options().write(true).open(&path).unwrap().set_modified(long_ago).unwrap();
        record(9).write(&repository).unwrap();
        assert!(changed(&path).unwrap() > long_ago);
        record(2).write(&repository).unwrap();
        // A reader that opened it before still reads the old contents.
        let mut text = String::new();
        std::io::Read::read_to_string(&mut reader, &mut text).unwrap();
        assert!(text.contains("wwwwwwwww"), "{text}");
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }
}
