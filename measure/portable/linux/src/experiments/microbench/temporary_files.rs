//! Files in memory, or wherever the folder for temporary files is.

use super::meter::Meter;
use anyhow::{Context, Result};
use std::fs::{File, OpenOptions, remove_file};
use std::io::{Read, Seek, Write};
use std::path::PathBuf;

/// Bytes of the file that is read repeatedly, and of one read.
const SIZE: usize = 4 << 20;
const PIECE: usize = 64 << 10;

/// Creates an empty file and deletes it.
pub fn create_delete(meter: &Meter) -> Result<f64> {
    let path = path("create");
    meter.each(5_000, || {
        drop(File::create(&path).with_context(|| path.display().to_string())?);
        Ok(remove_file(&path)?)
    })
}

/// Reads a cached file, 64 KiB at a time.
pub fn reread(meter: &Meter) -> Result<f64> {
    let mut file = temporary()?;
    file.write_all(&vec![1; SIZE])?;
    let mut piece = vec![0; PIECE];
    meter.bandwidth(SIZE, 40, || {
        file.rewind()?;
        (0..SIZE / PIECE).try_for_each(|_| Ok(file.read_exact(&mut piece)?))
    })
}

/// A new file without a name.
pub fn temporary() -> Result<File> {
    let path = path("file");
    let file = OpenOptions::new().read(true).write(true).create(true).truncate(true).open(&path);
    let file = file.with_context(|| path.display().to_string())?;
    remove_file(&path)?;
    Ok(file)
}

fn path(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("pillion-measure-{name}-{}", std::process::id()))
}
