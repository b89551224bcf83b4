//! Linux, ready to boot: its kernel as the distribution ships it, and an initramfs.

use super::bundle::write_whole;
use super::{fault_module, initramfs};
use crate::debian::Archive;
use crate::debian::kernel::Kernel;
use crate::progress::step;
use crate::repository::Repository;
use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::fs;
use std::path::{Path, PathBuf};

/// Raised when the same inputs shall give another initramfs.
const FORMAT: u32 = 1;

/// A kernel and its initramfs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Passenger {
    /// Says what it was made from.
    key: String,
    /// The bzImage.
    pub image: PathBuf,
    /// The initramfs.
    pub initrd: PathBuf,
    /// What `uname -r` says.
    pub release: String,
    /// Digest of the bzImage.
    pub vmlinuz_sha256: String,
}

impl Passenger {
    /// Makes what `--linux` names ready, unless it is already; with the module for faults if wanted.
    pub fn prepare(repository: &Repository, choice: &str, faults: bool) -> Result<Passenger> {
        let label = if choice.contains('/') { "given" } else { choice };
        let record = repository.build(format!("linux-{label}{}.json", suffix(faults)));
        let key = key(repository, choice, faults)?;
        if let Some(ready) = recorded(&record, &key) {
            return Ok(ready);
        }
        let passenger = step("packing Linux and its initramfs", || make(repository, choice, faults, key))?;
        write_whole(&record, &serde_json::to_vec_pretty(&passenger)?)?;
        Ok(passenger)
    }
}

fn recorded(record: &Path, key: &str) -> Option<Passenger> {
    let passenger: Passenger = serde_json::from_slice(&fs::read(record).ok()?).ok()?;
    let there = passenger.image.is_file() && passenger.initrd.is_file();
    (there && passenger.key == key).then_some(passenger)
}

/// What tells the files with the module for faults from those without.
fn suffix(faults: bool) -> &'static str {
    if faults { "-fault" } else { "" }
}

fn make(repository: &Repository, choice: &str, faults: bool, key: String) -> Result<Passenger> {
    let cache = repository.build("cache");
    let kernel = Kernel::choose(choice, || Archive::new(cache.clone()))?;
    let archive = Archive::new(cache)?;
    let module = faults.then(|| fault_module::make(repository, &archive, &kernel.release)).transpose()?;
    let initrd = repository.build(format!("initrd-{}{}.cpio", kernel.release, suffix(faults)));
    write_whole(&initrd, &initramfs::make(repository, &archive, &kernel, module)?)?;
    let vmlinuz_sha256 = hex(&Sha256::digest(fs::read(&kernel.image)?));
    Ok(Passenger { key, image: kernel.image, initrd, release: kernel.release, vmlinuz_sha256 })
}

/// Changes whenever an input does.
fn key(repository: &Repository, choice: &str, faults: bool) -> Result<String> {
    let mut hash = Sha256::new();
    hash.update(format!("{FORMAT} {choice} {}", Archive::state()));
    if let Ok(image) = fs::metadata(choice) {
        hash.update(format!("{} {:?}", image.len(), image.modified()?));
    }
    let folders = ["linux/initramfs", fault_module::SOURCES];
    for folder in folders[..1 + usize::from(faults)].iter().map(|folder| repository.path(folder)) {
        for file in initramfs::sources(&folder)? {
            hash.update(file.to_string_lossy().as_bytes());
            hash.update(fs::read(folder.join(&file)).with_context(|| format!("cannot read {}", file.display()))?);
        }
    }
    Ok(hex(&hash.finalize()))
}

/// Bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
