//! Linux, ready to boot: its kernel as the distribution ships it, and an initramfs.

use super::initramfs::{self, Drivers};
use super::lock::lock;
use super::{kernel_module, user_program};
use crate::debian::Archive;
use crate::debian::kernel::Kernel;
use crate::file::{self, hex, write_whole};
use crate::progress::step;
use crate::repository::Repository;
use anyhow::Result;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Changes whenever this tool's packing code or the Rust compiler does: see build.rs.
const PACKING: &str = env!("PACKING");

/// What an initramfs may contain beyond the common parts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extras {
    /// The module for faults.
    pub faults: bool,
    /// The module for measuring interrupts.
    pub measure: bool,
    /// The driver of the network cards on one wire.
    pub wire: bool,
    /// The driver of the memory card.
    pub card: bool,
    /// The module for channels with real-time tasks, and the programs that use it.
    pub channels: bool,
    /// Programs with threads for primary mode.
    pub dual: bool,
}

impl Extras {
    /// The part of the file name that tells the variants apart.
    fn suffix(self) -> String {
        let parts = [
            (self.faults, "-fault"),
            (self.measure, "-measure"),
            (self.wire, "-wire"),
            (self.card, "-card"),
            (self.channels, "-channels"),
            (self.dual, "-dual"),
        ];
        parts.into_iter().filter(|(is_in, _)| *is_in).map(|(_, name)| name).collect()
    }

    fn modules(self) -> Vec<&'static kernel_module::Module> {
        let faults = self.faults.then_some(&kernel_module::FAULTS);
        let measure = self.measure.then_some(&kernel_module::MEASURE);
        faults.into_iter().chain(measure).chain(self.channels.then_some(&kernel_module::CHANNELS)).collect()
    }

    fn drivers(self) -> Vec<&'static Drivers> {
        let wire = self.wire.then_some(&initramfs::WIRE);
        [&initramfs::MACHINE].into_iter().chain(wire).chain(self.card.then_some(&initramfs::CARD)).collect()
    }

    fn packaged(self) -> &'static [initramfs::Packaged] {
        if self.dual { &initramfs::DUAL } else { &[] }
    }

    fn programs(self) -> &'static [user_program::Program] {
        if self.channels { &user_program::CHANNELS } else { &[] }
    }

    /// All files that they are made from.
    fn files(self, repository: &Repository) -> Result<Vec<PathBuf>> {
        let mut files = Vec::new();
        for module in self.modules() {
            files.extend(module.files(repository)?);
        }
        for program in self.programs() {
            files.extend(program.files(repository)?);
        }
        Ok(files)
    }
}

/// A kernel and its initramfs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Passenger {
    /// Identifies the inputs that it was made from.
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
    /// Prepares the kernel that `--linux` names, unless it is ready.
    pub fn prepare(repository: &Repository, choice: &str, extras: Extras) -> Result<Passenger> {
        let label = if choice.contains('/') { "given" } else { choice };
        let record = repository.build(format!("linux-{label}{}.json", extras.suffix()));
        let key = key(repository, choice, extras)?;
        if let Some(ready) = recorded(&record, &key) {
            return Ok(ready);
        }
        let _alone = lock(repository)?;
        if let Some(ready) = recorded(&record, &key) {
            return Ok(ready);
        }
        let passenger = step("packing Linux and its initramfs", || make(repository, choice, extras, key))?;
        write_whole(&record, &serde_json::to_vec_pretty(&passenger)?)?;
        Ok(passenger)
    }
}

fn recorded(record: &Path, key: &str) -> Option<Passenger> {
    let passenger: Passenger = serde_json::from_slice(&fs::read(record).ok()?).ok()?;
    let there = passenger.image.is_file() && passenger.initrd.is_file();
    (there && passenger.key == key).then_some(passenger)
}

fn make(repository: &Repository, choice: &str, extras: Extras, key: String) -> Result<Passenger> {
    let cache = repository.build("cache");
    let kernel = Kernel::choose(choice, || Archive::new(cache.clone()))?;
    let archive = Archive::new(cache)?;
    let modules = extras.modules();
    let built = kernel_module::make(repository, &archive, &kernel.release, &modules)?;
    let modules = modules.iter().map(|module| module.name).zip(built).collect();
    let mut programs = Vec::new();
    for program in extras.programs() {
        programs.push((program.name, program.make(repository)?));
    }
    let initrd = repository.build(format!("initrd-{}{}.cpio", kernel.release, extras.suffix()));
    let contents = initramfs::Contents { modules, programs, drivers: extras.drivers(), packaged: extras.packaged() };
    write_whole(&initrd, &initramfs::make(repository, &archive, &kernel, contents)?)?;
    let vmlinuz_sha256 = hex(&Sha256::digest(fs::read(&kernel.image)?));
    Ok(Passenger { key, image: kernel.image, initrd, release: kernel.release, vmlinuz_sha256 })
}

/// Changes whenever an input does.
fn key(repository: &Repository, choice: &str, extras: Extras) -> Result<String> {
    let mut hash = Sha256::new();
    hash.update(format!("{PACKING} {choice} {} {:?} {:?}", Archive::state(), extras.drivers(), extras.packaged()));
    // The C compiler makes modules and programs. If it is missing, the build reports that.
    hash.update(Command::new("cc").arg("--version").output().map(|said| said.stdout).unwrap_or_default());
    if let Ok(image) = fs::metadata(choice) {
        hash.update(format!("{} {:?}", image.len(), image.modified()?));
    }
    let folder = repository.path("linux/initramfs");
    let mut files = file::all(&folder)?;
    files.extend(extras.files(repository)?);
    for file in files {
        hash.update(file.to_string_lossy().as_bytes());
        hash.update(file::read(&file)?);
    }
    Ok(hex(&hash.finalize()))
}
