//! What the manager knows about the machine: the kernel's boot information, and what the boot
//! loader loaded.

use crate::{
    failure::{Failure, Result, While},
    page_tables::whole_pages,
};
use alloc::{format, string::String, vec::Vec};
use pillion_abi::boot::{BootInfo, Processor, Range, feature, processor_state, range_kind, slot};
use pillion_abi::{LARGE_PAGE, PAGE};
use pillion_runtime::{Cap, image, info, memory_map};
use pillion_system as system;

/// Where the manager maps what the boot loader loaded, each at its offset within a large page, so
/// that large pages can map it.
const BUNDLE: u64 = 0x40_0000_0000;

/// Entry of the bundle with the additions to Linux's command line.
const LINUX_APPEND: &str = "linux.append";

/// The machine.
pub struct Platform {
    /// The kernel's boot information.
    pub boot: &'static BootInfo,
    /// What the boot loader loaded: the bundle, then the modules.
    loaded: Vec<Loaded>,
}

/// What the boot loader loaded.
struct Loaded {
    /// Its name; empty for the bundle.
    name: &'static str,
    /// The kernel's capability for it.
    slot: Cap,
    bytes: &'static [u8],
    /// Its distance from [`BUNDLE`], and so from [`info::address::BUNDLE`] in the monitor.
    at: u64,
}

/// Memory with a file that the boot loader loaded, for whoever is to see it.
pub struct Mapping {
    pub slot: Cap,
    /// Its distance from [`info::address::BUNDLE`].
    pub at: u64,
    /// Bytes of it, in whole pages.
    pub size: u64,
}

impl Platform {
    /// Maps bundle and modules, and checks what the kernel passed.
    pub fn new(boot: &'static BootInfo) -> Result<Platform> {
        if boot.abi_version != pillion_abi::VERSION || boot.tsc_hz == 0 {
            return Err(Failure::new("the kernel has a different binary interface, or no clock"));
        }
        let modules = boot.modules.iter().filter(|module| module.range.size != 0);
        let modules = (slot::MODULES..).zip(modules).map(|(slot, m)| (info::text(&m.name), slot, m.range));
        let mut loaded = Vec::new();
        let mut end = 0;
        for (name, slot, range) in [("", slot::BUNDLE, boot.bundle)].into_iter().chain(modules) {
            let at = end + range.base % LARGE_PAGE;
            end = (at + range.size).next_multiple_of(LARGE_PAGE);
            let page = BUNDLE + (at & !(PAGE - 1));
            memory_map(slot, slot::ADDRESS_SPACE, page, 0).when("mapping what the boot loader loaded")?;
            // SAFETY: the call above mapped the file, read-only and for good.
            let bytes = unsafe { core::slice::from_raw_parts((BUNDLE + at) as *const u8, range.size as usize) };
            loaded.push(Loaded { name, slot, bytes, at });
        }
        Ok(Platform { boot, loaded })
    }

    /// ID of the local APIC of the processor with that number.
    pub fn apic_id(&self, number: u64) -> Result<u32> {
        let is_it = |found: &&Processor| found.state == processor_state::RUNS && u64::from(found.number) == number;
        let found = self.boot.processors.iter().find(is_it);
        found.map(|found| found.apic_id).ok_or_else(|| Failure::new(format!("processor {number} does not run")))
    }

    /// Physical memory.
    pub fn regions(&self) -> &'static [Range] {
        self.boot.regions.get(..self.boot.region_count as usize).unwrap_or(&self.boot.regions)
    }

    /// A module, or a file in the bundle.
    pub fn file(&self, name: &str) -> Result<&'static [u8]> {
        self.find(name).map(|(_, bytes)| bytes)
    }

    /// Distance of a file from [`info::address::BUNDLE`], where all of [`Self::mappings`] are
    /// mapped, and its size.
    pub fn place(&self, name: &str) -> Result<[u64; 2]> {
        self.find(name).map(|(offset, bytes)| [offset, bytes.len() as u64])
    }

    fn find(&self, name: &str) -> Result<(u64, &'static [u8])> {
        if let Some(module) = self.loaded.iter().skip(1).find(|module| module.name == name) {
            return Ok((module.at, module.bytes));
        }
        let inside = self.loaded.first().and_then(|bundle| {
            let (offset, _) = image::find(bundle.bytes, name)?;
            Some((bundle.at + offset, image::file(bundle.bytes, name)?))
        });
        inside.ok_or_else(|| Failure::new(format!("the bundle has no file {name}, and there is no such module")))
    }

    /// The memory of all files, for whoever is to see them.
    pub fn mappings(&self) -> impl Iterator<Item = Mapping> {
        self.loaded.iter().map(|file| {
            let inset = file.at % PAGE;
            Mapping { slot: file.slot, at: file.at - inset, size: whole_pages(inset + file.bytes.len() as u64) }
        })
    }

    /// What is added to the system file's words for Linux: the bundle's, then the boot loader's.
    pub fn words_for_linux(&self) -> String {
        let more = [self.text(LINUX_APPEND).unwrap_or(""), info::text(&self.boot.module_words)].map(str::trim);
        format!("{} {}", more[0], more[1]).trim().into()
    }

    /// A text file in the bundle, or a module with text.
    pub fn text(&self, name: &str) -> Result<&'static str> {
        core::str::from_utf8(self.file(name)?).map_err(|_| Failure::new(alloc::format!("{name} is not UTF-8")))
    }

    /// A task image.
    pub fn image(&self, name: &str) -> Result<image::Image<'static>> {
        image::task(self.file(name)?).map_err(|bad| Failure::new(alloc::format!("{name} is not a task image: {bad:?}")))
    }

    /// Checks a system against the machine.
    pub fn check(&self, wanted: &system::System) -> core::result::Result<(), Vec<system::Problem>> {
        let inside = self.loaded.first().map_or(&[][..], |bundle| bundle.bytes);
        let inside = (0..).map_while(|i| image::entry(inside, i)).map(|(name, ..)| name);
        let images: Vec<&str> = inside.chain(self.loaded.iter().map(|file| file.name)).collect();
        let lines = self.boot.io_apics.map(|apic| (apic.first, apic.lines));
        let sum = |ram: bool| -> u64 {
            let counts = |r: &&Range| match r.kind {
                range_kind::RAM => ram,
                range_kind::KERNEL | range_kind::BUNDLE => true,
                _ => false,
            };
            self.regions().iter().filter(counts).map(|r| r.size).sum()
        };
        let target = system::Target {
            memory_bytes: Some(sum(true)),
            reserved_bytes: sum(false),
            processors: u32::try_from(self.boot.cpus).ok(),
            virtualisation: Some(self.boot.features & feature::SVM != 0),
            images: Some(&images),
            lines: Some(&lines),
            appended: self.words_for_linux().len(),
            ..system::Target::default()
        };
        system::check(wanted, &target)
    }

    /// Whether Linux shows the system's log, because no UART takes it.
    pub fn shows_linux_the_log(&self, system: &system::System) -> bool {
        self.boot.features & feature::LOG_DEVICE == 0 && system.linux.is_some()
    }

    /// Nanoseconds in ticks.
    pub fn ticks(&self, ns: u64) -> u64 {
        let ticks = u128::from(ns) * u128::from(self.boot.tsc_hz) / 1_000_000_000;
        u64::try_from(ticks).unwrap_or(u64::MAX).max(1)
    }

    /// Value of an option `name=number` of the kernel's command line.
    pub fn option(&self, name: &str) -> Option<u64> {
        self.word(name)?.parse().ok()
    }

    /// Value of an option `name=word` of the kernel's command line.
    pub fn word(&self, name: &str) -> Option<&'static str> {
        let words = info::text(&self.boot.command_line).split_ascii_whitespace();
        words.filter_map(|word| word.split_once('=')).find(|(key, _)| *key == name).map(|(_, value)| value)
    }
}
