//! The fuzz targets. Each takes any bytes; a panic is a failure.

mod decoder;
mod devices;
mod files;
mod firmware;
mod loader;
mod ram;
mod rings;

use crate::engine::bytes;
use std::path::{Path, PathBuf};

/// A fuzz target.
pub struct Target {
    /// Its name.
    pub name: &'static str,
    /// Short description.
    pub about: &'static str,
    /// Runs it once.
    pub run: fn(&[u8]),
    /// Longest input.
    pub longest: usize,
    /// Words that occur in its input.
    pub words: &'static [&'static str],
}

/// All targets.
pub const ALL: [Target; 14] = [
    Target::new("instruction", "the decoder of memory accesses, compared with another one", decoder::instruction, 15),
    Target::new(
        "fetch",
        "fetching an instruction through the guest's page tables",
        decoder::fetch_through_tables,
        2048,
    ),
    Target::new("ioapic", "the I/O APIC", devices::ioapic, 512),
    Target::new("apic", "the local APIC, by registers and by memory", devices::apic, 512),
    Target::new("pci", "configuration space by ports", devices::pci, 512),
    Target::new("power", "power management, with any FADT", devices::power, 1024),
    Target::new("ports", "all ports that exit: which device answers", devices::ports, 512),
    Target::new("registers", "model-specific registers and CPUID", devices::registers, 512),
    Target::new("calls", "hypercalls and notes", devices::calls, 512),
    Target::new("loader", "a bzImage and where it goes", loader::load_any, 4096),
    Target::new("acpi", "ACPI tables", firmware::acpi, 2048),
    Target::new("boot", "data of the boot loader: PVH and multiboot2", firmware::boot, 2048),
    Target::with_words("system", "system files", files::system, 2048, files::WORDS),
    Target::new("fifo", "a FIFO whose control words Linux writes", rings::fifo, 1024),
];

impl Target {
    const fn new(name: &'static str, about: &'static str, run: fn(&[u8]), longest: usize) -> Target {
        Target::with_words(name, about, run, longest, &[])
    }

    const fn with_words(
        name: &'static str,
        about: &'static str,
        run: fn(&[u8]),
        longest: usize,
        words: &'static [&'static str],
    ) -> Target {
        Target { name, about, run, longest, words }
    }

    /// The file of kept inputs, and of those that once made the target fail; in our `folder`.
    pub fn file(&self, folder: &Path) -> PathBuf {
        folder.join("corpus").join(self.name).with_extension("txt")
    }

    /// The inputs of that file: one to a line, in hexadecimal, perhaps with a remark behind `#`.
    pub fn known(&self, folder: &Path) -> Vec<Vec<u8>> {
        let text = std::fs::read_to_string(self.file(folder)).unwrap_or_default();
        text.lines().filter_map(|line| bytes(line.split('#').next()?.trim())).collect()
    }
}
