//! Files: written atomically, read with a clear error or leniently, and found below a folder.

use crate::problem::problem;
use anyhow::{Context as _, Result};
use std::env;
use std::fs::{self, Permissions};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use tempfile::TempDir;

/// Writes a file so that no reader ever sees half of it; leaves a file alone that already has these
/// bytes.
pub fn write_whole(path: &Path, data: &[u8]) -> Result<()> {
    if has(path, data)? { Ok(()) } else { replace(path, data, 0o644) }
}

/// Writes an executable file the same way.
pub fn write_program(path: &Path, data: &[u8]) -> Result<()> {
    if has(path, data)? { Ok(()) } else { replace(path, data, 0o755) }
}

/// Writes a file so that no reader ever sees half of it, even if its bytes stay the same: its
/// modification time is new.
pub fn write_anew(path: &Path, data: &[u8]) -> Result<()> {
    replace(path, data, 0o644)
}

fn has(path: &Path, data: &[u8]) -> Result<bool> {
    Ok(fs::metadata(path).is_ok_and(|meta| meta.len() == data.len() as u64) && fs::read(path)? == data)
}

fn replace(path: &Path, data: &[u8], mode: u32) -> Result<()> {
    let folder = path.parent().context("a path without a folder")?;
    fs::create_dir_all(folder)?;
    let mut file = tempfile::Builder::new().permissions(Permissions::from_mode(mode)).tempfile_in(folder)?;
    file.write_all(data).with_context(|| format!("cannot write {}", path.display()))?;
    file.persist(path)?;
    Ok(())
}

/// A new folder for temporary files; dropping it removes them.
pub fn temporary() -> Result<TempDir> {
    let place = env::temp_dir();
    tempfile::Builder::new().prefix("pillion-").tempdir_in(&place).map_err(|error| {
        let what = format!("no folder for temporary files can be made in {}", place.display());
        problem(what, error, "set TMPDIR to a writable folder")
    })
}

/// The bytes of a file.
pub fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("cannot read {}", path.display()))
}

/// The text of a file.
pub fn read_text(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

/// The text of a file written by another program; empty if there is none.
pub fn text(path: &Path) -> String {
    fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}

/// When a file was last written, if it is there.
pub fn changed(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).ok()?.modified().ok()
}

/// All files below a folder, sorted, relative to it.
pub fn below(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    walk(folder, Path::new(""), &mut files)?;
    files.sort();
    Ok(files)
}

/// The same, prefixed with the folder.
pub fn all(folder: &Path) -> Result<Vec<PathBuf>> {
    Ok(below(folder)?.into_iter().map(|file| folder.join(file)).collect())
}

fn walk(folder: &Path, inside: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let path = folder.join(inside);
    for entry in path.read_dir().with_context(|| format!("cannot read {}", path.display()))? {
        let entry = entry?;
        let relative = inside.join(entry.file_name());
        if entry.file_type()?.is_dir() { walk(folder, &relative, files)? } else { files.push(relative) }
    }
    Ok(())
}

/// Bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool;

    /// Set in the process that has no room for temporary files.
    const CHILD: &str = "PILLION_TEST_WITHOUT_TMPDIR";

    #[test]
    fn a_folder_that_cannot_be_made_is_named() {
        if env::var_os(CHILD).is_some() {
            let said = temporary().unwrap_err().to_string();
            assert!(said.contains("made in /nowhere") && said.contains("TMPDIR"), "{said}");
            return;
        }
        let mut child = tool::myself();
        child.args(["--exact", "file::tests::a_folder_that_cannot_be_made_is_named"]);
        assert!(child.env(CHILD, "1").env("TMPDIR", "/nowhere").status().unwrap().success());
    }
}
