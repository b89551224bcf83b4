//! A modified kernel, built from the sources with a patch applied. An experiment that compares two
//! kernels has the patch in its folder.

use super::lock::lock;
use crate::file::{below, read, read_text, temporary, write_whole};
use crate::problem::problem;
use crate::repository::Repository;
use crate::tool;
use anyhow::{Context as _, Result};
use pillion_measure_run::EXPERIMENTS;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where the copies are, in the build folder and in cargo's. They stay, so that the next build
/// compiles only what has changed.
const FOLDER: &str = "patched";

/// A patched copy of the sources in their current state.
pub fn repository(repository: &Repository, patch: &Path) -> Result<Repository> {
    let folder = Path::new(FOLDER).join(patch.file_stem().context("a patch needs a name")?);
    let _turn = lock(repository)?;
    let fresh = temporary()?;
    repository.copy(fresh.path())?;
    apply(&repository.named(patch), fresh.path())?;
    let copy = Repository::with_target(repository.build(&folder), repository.target().join(&folder));
    update(copy.root(), fresh.path())?;
    Ok(copy)
}

/// The title of a patch: its first line.
pub fn title(patch: &Path) -> Result<String> {
    Ok(read_text(patch)?.lines().next().unwrap_or_default().to_owned())
}

/// Applies a patch. All context lines must match: code that has moved may mean something else.
fn apply(patch: &Path, folder: &Path) -> Result<()> {
    let patch = std::path::absolute(patch)?;
    let mut command = Command::new("patch");
    command.args(["-p1", "--batch", "--forward", "--fuzz=0", "--reject-file=-"]).arg("-i").arg(&patch);
    let output = tool::output(command.current_dir(folder))?;
    if output.status.success() {
        return Ok(());
    }
    Err(problem(
        format!("{} cannot be applied to the sources", patch.display()),
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).trim_end(),
        "bring it up to date: measure/README.md says how, under *Another kernel*",
    ))
}

/// Makes the files of `old` equal to those of `new`, and leaves unchanged files alone, because
/// cargo rebuilds what was touched.
fn update(old: &Path, new: &Path) -> Result<()> {
    fs::create_dir_all(old)?;
    for gone in below(old)?.iter().filter(|file| !new.join(file).exists()) {
        fs::remove_file(old.join(gone))?;
    }
    for file in below(new)? {
        write_whole(&old.join(&file), &read(&new.join(&file))?)?;
    }
    Ok(())
}

/// The patches of all experiments, relative to the repository.
pub fn all(repository: &Repository) -> Result<Vec<PathBuf>> {
    let mut all = below(&repository.path(EXPERIMENTS))?;
    all.retain(|file| file.extension().is_some_and(|extension| extension == "patch"));
    Ok(all.iter().map(|file| Path::new(EXPERIMENTS).join(file)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::SystemTime;

    const PATCH: &str = "Two becomes 2.\n--- a/lib/n\n+++ b/lib/n\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n";

    #[test]
    fn the_patches_of_experiments_fit_and_say_what_they_do() {
        let repository = Repository::find().unwrap();
        let all = all(&repository).unwrap();
        assert!(!all.is_empty());
        let folder = tempfile::tempdir().unwrap();
        for (number, patch) in all.iter().enumerate() {
            let copy = folder.path().join(number.to_string());
            fs::create_dir(&copy).unwrap();
            repository.copy(&copy).unwrap();
            apply(&repository.path(patch), &copy).unwrap_or_else(|error| panic!("{error:#}"));
            let title = title(&repository.path(patch)).unwrap();
            assert!(title.ends_with('.'), "{}: {title:?} is no sentence", patch.display());
        }
    }

    #[test]
    fn a_copy_follows_the_sources_and_touches_only_what_changes() {
        let folder = tempfile::tempdir().unwrap();
        let path = |file: &str| folder.path().join(file);
        for (file, text) in [("two.patch", PATCH), ("lib/n", "one\ntwo\nthree\n"), ("lib/m", "m"), ("build/x", "")] {
            write_whole(&path(file), text.as_bytes()).unwrap();
        }
        let sources = Repository::with_target(folder.path().into(), path("target"));
        let patch = Path::new("two.patch");
        let read = |copy: &Repository, file: &str| fs::read_to_string(copy.path(file)).unwrap();
        let when = |copy: &Repository| -> SystemTime { fs::metadata(copy.path("lib/n")).unwrap().modified().unwrap() };

        let copy = repository(&sources, patch).unwrap();
        assert_eq!(read(&copy, "lib/n"), "one\n2\nthree\n");
        assert_eq!(copy.target(), path("target/patched/two"));
        assert!(!copy.path("build").exists());
        let first = when(&copy);
        fs::remove_file(path("lib/m")).unwrap();
        let copy = repository(&sources, patch).unwrap();
        assert_eq!((when(&copy), copy.path("lib/m").exists()), (first, false));

        fs::write(path("lib/n"), "one\ntwo\n3\n").unwrap();
        let Err(error) = repository(&sources, patch) else { panic!("it fits") };
        let error = error.to_string();
        assert!(error.contains("two.patch cannot be applied") && error.contains("FAILED"), "{error}");
        assert_eq!(read(&copy, "lib/n"), "one\n2\nthree\n", "what fitted stays");
    }
}
