//! Files: written atomically, and read leniently.

use anyhow::{Context as _, Result};
use std::fs::Permissions;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// Writes a file so that no reader ever sees half of it; leaves a file alone that already has these
/// bytes.
pub fn write_whole(path: &Path, data: &[u8]) -> Result<()> {
    write(path, data, 0o644)
}

/// Writes an executable file the same way.
pub fn write_program(path: &Path, data: &[u8]) -> Result<()> {
    write(path, data, 0o755)
}

fn write(path: &Path, data: &[u8], mode: u32) -> Result<()> {
    if std::fs::metadata(path).is_ok_and(|meta| meta.len() == data.len() as u64) && std::fs::read(path)? == data {
        return Ok(());
    }
    let folder = path.parent().context("a path without a folder")?;
    std::fs::create_dir_all(folder)?;
    let mut file = tempfile::Builder::new().permissions(Permissions::from_mode(mode)).tempfile_in(folder)?;
    file.write_all(data).with_context(|| format!("cannot write {}", path.display()))?;
    file.persist(path)?;
    Ok(())
}

/// The text of a file written by another program; empty if there is none.
pub fn text(path: &Path) -> String {
    std::fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}
