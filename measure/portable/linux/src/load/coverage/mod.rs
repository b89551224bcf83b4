//! Makes as many different system calls as can be made harmlessly, with valid and invalid
//! arguments: a concurrent measurement then sees the kernel's paths that disable interrupts.

mod file_calls;
mod invalid_calls;
mod memory_calls;
mod process_calls;
mod socket_calls;

use super::Piece;
use anyhow::{Context, Result};
use std::fs;
use std::path::PathBuf;

/// A part of the work: its name, and a function that does it in a folder, depending on the round.
type Part = (&'static str, fn(&Place, u64) -> Result<()>);

const ALL: [Part; 5] = [
    ("files", file_calls::cover),
    ("memory", memory_calls::cover),
    ("processes", process_calls::cover),
    ("sockets", socket_calls::cover),
    ("invalid", invalid_calls::cover),
];

/// A folder for files, removed at the end.
pub struct Place(PathBuf);

impl Place {
    /// The path of a file in it.
    fn at(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Makes the folder; each piece is a round of all parts.
pub fn prepare() -> Result<Piece> {
    let path = std::env::temp_dir().join(format!("pillion-measure-coverage-{}", std::process::id()));
    fs::create_dir_all(&path).with_context(|| path.display().to_string())?;
    let place = Place(path);
    let mut round = 0;
    Ok(Box::new(move || {
        round += 1;
        ALL.iter().try_for_each(|(name, cover)| cover(&place, round).context(*name))?;
        Ok(1)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_can_be_repeated() {
        let folder = tempfile::tempdir().unwrap();
        let place = Place(folder.path().join("coverage"));
        fs::create_dir(&place.0).unwrap();
        for round in 1..4 {
            ALL.iter().for_each(|(name, cover)| cover(&place, round).context(*name).unwrap());
        }
    }
}
