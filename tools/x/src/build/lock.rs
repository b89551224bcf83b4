//! A lock for packing Linux and patching the sources, whose results all processes share.

use crate::repository::Repository;
use crate::stop;
use anyhow::{Context as _, Result, bail};
use std::fs::{self, File, TryLockError};
use std::thread;
use std::time::Duration;

/// Time between attempts.
const PAUSE: Duration = Duration::from_millis(50);

/// Waits until no other process packs or patches. The caller holds the lock as long as it keeps the
/// file open.
pub fn lock(repository: &Repository) -> Result<File> {
    let path = repository.build("lock");
    fs::create_dir_all(repository.build(""))?;
    let file = File::create(&path).with_context(|| format!("cannot write {}", path.display()))?;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if stop::wanted() => bail!("interrupted"),
            Err(TryLockError::WouldBlock) => thread::sleep(PAUSE),
            Err(TryLockError::Error(error)) => return Err(error).context("cannot lock the build folder"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn a_second_one_waits() {
        let folder = tempfile::tempdir().unwrap();
        let repository = Repository::at(folder.path());
        let first = lock(&repository).unwrap();
        thread::scope(|scope| {
            let second = scope.spawn(|| lock(&repository).map(|_| Instant::now()).unwrap());
            thread::sleep(3 * PAUSE);
            let released = Instant::now();
            drop(first);
            assert!(second.join().unwrap() >= released);
        });
    }
}
