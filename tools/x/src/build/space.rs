//! Room on the disk.

use crate::problem::problem;
use crate::repository::Repository;
use anyhow::Result;

/// What a first build needs.
pub const NEEDED_MIB: u64 = 2048;
/// What any build needs.
const LEAST_MIB: u64 = 512;

/// Free space where things are built.
pub fn free_mib(repository: &Repository) -> Result<u64> {
    let stat = rustix::fs::statvfs(repository.path("."))?;
    Ok((stat.f_bavail * stat.f_frsize) >> 20)
}

/// Refuses to start what would end with a full disk.
pub fn check(repository: &Repository) -> Result<()> {
    let least = if repository.build("cache").is_dir() { LEAST_MIB } else { NEEDED_MIB };
    let free = free_mib(repository)?;
    if free >= least {
        return Ok(());
    }
    Err(problem(
        "there is too little room on the disk",
        format!("{free} MiB are free where the repository is, {least} MiB are needed"),
        "make room, or move the repository to a larger disk",
    ))
}
