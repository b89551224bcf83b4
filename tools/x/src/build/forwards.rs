//! Folders of headers. Headers that only include others are listed in a table in their folder, and
//! generated from it.

use crate::file::{hex, read};
use crate::repository::Repository;
use crate::tool;
use anyhow::{Context as _, Result};
use sha2::{Digest as _, Sha256};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// The table, in its folder.
pub const TABLE: &str = "forwards.txt";
/// What generates them: a shell script, because the library can be installed with make alone.
const MAKER: &str = "rt/shared/forward.sh";

/// A folder of headers in the repository, and the folder with the headers generated from its table,
/// made once for each state of the table.
pub fn with_made(repository: &Repository, folder: &str) -> Result<[PathBuf; 2]> {
    let folder = repository.path(folder);
    let inputs = [repository.path(MAKER), folder.join(TABLE)];
    let mut hash = Sha256::new();
    for file in &inputs {
        hash.update(read(file)?);
    }
    let all = repository.build("headers");
    let made = all.join(&hex(&hash.finalize())[..8]);
    if !made.is_dir() {
        fs::create_dir_all(&all).with_context(|| format!("cannot make {}", all.display()))?;
        let work = tempfile::tempdir_in(&all)?;
        let new = work.path().join("new");
        tool::quietly(Command::new("sh").args(inputs).arg(&new))?;
        // Another process may have been faster, with the same result.
        fs::rename(&new, &made).or_else(|error| if made.is_dir() { Ok(()) } else { Err(error) })?;
    }
    Ok([folder, made])
}
