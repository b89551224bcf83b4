//! From a name to a program: a source near the user, or a program built under that name before.

use super::recipe::{self, Recipe};
use super::record::Record;
use crate::repository::Repository;
use anyhow::Result;
use std::fs;
use std::path::{Path, PathBuf};

/// A program that a name stands for.
#[derive(Clone, Debug, PartialEq)]
pub enum Program {
    /// It is built from these sources.
    Sources(Recipe),
    /// It was built earlier, and its sources are gone.
    Image(String),
}

impl Program {
    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Program::Sources(recipe) => &recipe.name,
            Program::Image(name) => name,
        }
    }

    /// The folder of its first source.
    pub fn folder(&self) -> Option<&Path> {
        match self {
            Program::Sources(recipe) => recipe.sources.first()?.parent(),
            Program::Image(_) => None,
        }
    }
}

/// The program that `text` stands for, if there is one: a source, or the path of one without its
/// extension, from one of the folders; otherwise the name of a program that was built.
pub fn program(repository: &Repository, text: &str, folders: &[PathBuf]) -> Result<Option<Program>> {
    let Some(source) = folders.iter().find_map(|folder| source(folder, text)) else {
        if let Some(record) = Record::read(repository, text) {
            return Ok(Some(Program::Sources(record.recipe)));
        }
        let built = super::name::check(text).is_ok() && super::image_path(repository, text).is_file();
        return Ok(built.then(|| Program::Image(text.to_owned())));
    };
    let name = recipe::stem(&source);
    super::name::check(&name)?;
    let fresh = Recipe::of(name, &[source])?;
    let recorded = Record::read(repository, &fresh.name).map(|record| record.recipe);
    Ok(Some(Program::Sources(recorded.filter(|recipe| recipe.sources.contains(&fresh.sources[0])).unwrap_or(fresh))))
}

/// The known name nearest to an unknown one, if any is near: of the programs in these folders and
/// of those that were built.
pub fn nearest(repository: &Repository, text: &str, folders: &[PathBuf]) -> Option<String> {
    let entries = |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let stem = |path: PathBuf| path.file_stem()?.to_str().map(str::to_owned);
    let here = folders.iter().flat_map(|folder| entries(folder)).filter(|path| {
        recipe::is_source(path) || path.file_name().is_some_and(|name| source(path, &name.to_string_lossy()).is_some())
    });
    let built = entries(&repository.build("tasks")).filter(|path| path.extension().is_some_and(|end| end == "task"));
    let near = |name: &String| strsim::damerau_levenshtein(text, name) <= 1 + text.len() / 4;
    here.chain(built).filter_map(stem).filter(near).min_by_key(|name| strsim::damerau_levenshtein(text, name))
}

fn source(folder: &Path, text: &str) -> Option<PathBuf> {
    let path = folder.join(text);
    if recipe::is_source(&path) {
        return path.is_file().then_some(path);
    }
    let inside = path.join(path.file_name()?);
    let names = [&path, &inside]
        .map(|base| recipe::ENDINGS.map(|ending| PathBuf::from(format!("{}.{ending}", base.display()))));
    names.into_iter().flatten().find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_found_by_their_name_or_their_folders() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        fs::create_dir(at("motor")).unwrap();
        for file in ["a.c", "b.cc", "motor/motor.c"] {
            fs::write(at(file), "").unwrap();
        }
        let found = |text: &str| source(place.path(), text);
        assert_eq!(found("a"), Some(at("a.c")));
        assert_eq!(found("b"), Some(at("b.cc")));
        assert_eq!(found("a.c"), Some(at("a.c")));
        assert_eq!(found("motor"), Some(at("motor/motor.c")));
        assert_eq!(found("motor/motor"), Some(at("motor/motor.c")));
        let near = |text: &str| nearest(&Repository::find().unwrap(), text, &[place.path().into()]);
        assert_eq!(near("mtoor").as_deref(), Some("motor"));
        assert_eq!(near("something-else-altogether"), None);
        assert_eq!(found("c"), None);
        assert_eq!(found("c.c"), None);
    }
}
