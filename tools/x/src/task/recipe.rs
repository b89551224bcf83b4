//! What a program is built from, in a form that can be recorded.

use super::name;
use crate::cli::BuildTaskArguments;
use crate::problem::problem;
use anyhow::Result;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// What a program is built from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Recipe {
    /// Its name.
    pub name: String,
    /// Sources, absolute.
    pub sources: Vec<PathBuf>,
    /// The language standard, if not the default.
    pub std: Option<String>,
    /// Macros: `NAME` or `NAME=VALUE`.
    pub definitions: Vec<String>,
    /// Folders of headers, absolute.
    pub includes: Vec<PathBuf>,
    /// Further arguments of the compiler.
    pub extra: Vec<String>,
}

impl Recipe {
    /// The recipe that the arguments give.
    pub fn from_arguments(arguments: &BuildTaskArguments) -> Result<Recipe> {
        let name = match (&arguments.output, arguments.sources.first()) {
            (Some(name), _) => name.clone(),
            (None, Some(source)) => stem(source),
            (None, None) => String::new(),
        };
        name::check(&name)?;
        let mut recipe = Recipe::of(name, &arguments.sources)?;
        recipe.std.clone_from(&arguments.std);
        recipe.definitions.clone_from(&arguments.definitions);
        recipe.includes = arguments.includes.iter().map(std::path::absolute).collect::<Result<_, _>>()?;
        recipe.extra.clone_from(&arguments.extra);
        Ok(recipe)
    }

    /// A recipe with only a name and sources.
    pub fn of(name: String, sources: &[PathBuf]) -> Result<Recipe> {
        let sources: Vec<PathBuf> = sources.iter().map(|source| found(source)).collect();
        sources.iter().try_for_each(|source| check_source(source))?;
        let sources = sources.iter().map(std::path::absolute).collect::<Result<_, _>>()?;
        Ok(Recipe { name, sources, ..Recipe::default() })
    }
}

/// Extensions of sources: C, then C++.
pub const ENDINGS: [&str; 5] = ["c", "cc", "cpp", "cxx", "C"];

/// Whether a file is a source, by its name.
pub fn is_source(file: &Path) -> bool {
    ENDINGS.contains(&extension(file))
}

/// Whether a source is C++.
pub fn is_cpp(source: &Path) -> bool {
    ENDINGS[1..].contains(&extension(source))
}

fn extension(source: &Path) -> &str {
    source.extension().and_then(|extension| extension.to_str()).unwrap_or_default()
}

/// A file's name without its extension.
pub fn stem(source: &Path) -> String {
    source.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The source, or the one of the same name in the folder that `x new` made for it.
fn found(source: &Path) -> PathBuf {
    let inside = source.with_extension("").join(source.file_name().unwrap_or_default());
    if !source.exists() && inside.is_file() { inside } else { source.to_owned() }
}

fn check_source(source: &Path) -> Result<()> {
    let what = format!("{} cannot be compiled", source.display());
    if !is_source(source) {
        return Err(problem(what, "its name ends in none of .c .cc .cpp .cxx .C", "name sources in C or C++"));
    }
    match std::fs::metadata(source) {
        Ok(meta) if meta.is_file() => Ok(()),
        Ok(_) => Err(problem(what, "it is not a file", "name the source itself")),
        Err(error) => {
            Err(problem(what, error, "name an existing file; `./x new rtlinux NAME` makes one to start from"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn sources_are_checked_and_made_absolute() {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("a.c");
        fs::write(&source, "").unwrap();
        let recipe = Recipe::of("a".into(), &[source]).unwrap();
        assert!(recipe.sources[0].is_absolute());
        assert!(Recipe::of("a".into(), &[folder.path().join("b.c")]).is_err());
        fs::create_dir(folder.path().join("b")).unwrap();
        fs::write(folder.path().join("b/b.c"), "").unwrap();
        assert_eq!(
            Recipe::of("b".into(), &[folder.path().join("b.c")]).unwrap().sources,
            [folder.path().join("b/b.c")]
        );
        fs::write(folder.path().join("a.o"), "").unwrap();
        assert!(Recipe::of("a".into(), &[folder.path().join("a.o")]).is_err());
    }

    #[test]
    fn capital_c_is_cpp() {
        assert!(is_cpp(Path::new("x/a.C")) && is_cpp(Path::new("a.cc")) && !is_cpp(Path::new("a.c")));
    }
}
