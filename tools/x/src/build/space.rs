//! The folders that are written to, and their free space.

use crate::problem::problem;
use crate::repository::Repository;
use anyhow::Result;
use rustix::fs::{Access, access};
use std::path::{Path, PathBuf};

/// Free space that a first build needs.
const FIRST_MIB: u64 = 2048;
/// Free space that any build needs; and a run, for temporary files.
const LEAST_MIB: u64 = 512;

/// A folder that is written to.
pub struct Place {
    /// What it is for.
    pub name: &'static str,
    /// Where; it may not be there yet.
    pub path: PathBuf,
    /// The free space that it must have.
    needed_mib: u64,
}

/// All of them.
pub fn places(repository: &Repository) -> Vec<Place> {
    let needed_mib = if repository.build("cache").is_dir() { LEAST_MIB } else { FIRST_MIB };
    vec![
        Place { name: "room for the build", path: repository.build(""), needed_mib },
        Place { name: "room for cargo", path: repository.target(), needed_mib },
        Place { name: "room for temporary files", path: std::env::temp_dir(), needed_mib: LEAST_MIB },
    ]
}

/// Refuses to start if something could not be written or would fill the disk.
pub fn check(repository: &Repository) -> Result<()> {
    places(repository).iter().try_for_each(Place::check)
}

/// Refuses if a folder has less free space.
pub fn has(path: &Path, needed_mib: u64) -> Result<()> {
    Place { name: "room", path: path.to_owned(), needed_mib }.check()
}

impl Place {
    fn check(&self) -> Result<()> {
        let Some((why, remedy)) = self.fault() else { return Ok(()) };
        Err(problem(format!("{} is unusable as {}", self.path.display(), self.name), why, remedy))
    }

    /// What is wrong with it, and what to do about that.
    pub fn fault(&self) -> Option<(String, &'static str)> {
        let there = self.there();
        if let Err(error) = access(there, Access::WRITE_OK | Access::EXEC_OK) {
            let error = std::io::Error::from(error);
            let why = format!("{} is not writable for this user: {error}", there.display());
            let remedy = "run ./x in a clone of your own on a writable disk, or take this one over with chown";
            return Some((why, remedy));
        }
        let (free, needed) = (self.free_mib(), self.needed_mib);
        let why = format!("{free} MiB are free in {}, {needed} MiB are needed", there.display());
        let remedy = "make room there, or move to a larger disk: the repository, or TMPDIR for temporary files";
        (free < needed).then_some((why, remedy))
    }

    /// Free space.
    pub fn free_mib(&self) -> u64 {
        rustix::fs::statvfs(self.there()).map_or(0, |stat| (stat.f_bavail * stat.f_frsize) >> 20)
    }

    /// The folder, or the nearest existing one above it.
    fn there(&self) -> &Path {
        self.path.ancestors().find(|path| path.is_dir()).unwrap_or(Path::new("/"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_must_be_writable_and_have_room() {
        let folder = tempfile::tempdir().unwrap();
        let place = |path: &Path, needed_mib| Place { name: "room", path: path.to_owned(), needed_mib };
        let new = folder.path().join("not/yet");
        assert!(place(&new, 0).fault().is_none());
        let full = place(&new, u64::MAX).check().unwrap_err().to_string();
        assert!(full.contains("MiB are free") && full.contains("make room"), "{full}");
        // Nobody can write there, not even root.
        let closed = place(Path::new("/proc/sys"), 0).check().unwrap_err().to_string();
        assert!(closed.contains("not writable") && closed.contains("clone of your own"), "{closed}");
    }
}
