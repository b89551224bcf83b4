//! What the manager knows about the machine: the kernel's boot information and the bundle.

use crate::{
    failure::{Failure, Result, While},
    page_tables::whole_pages,
};
use alloc::{format, vec::Vec};
use pillion_abi::boot::{BootInfo, Processor, Range, feature, processor_state, range_kind, slot};
use pillion_abi::{LARGE_PAGE, PAGE};
use pillion_runtime::{image, info, memory_map};
use pillion_system as system;

/// Where the manager maps the bundle, plus the bundle's offset within a large page, so that large
/// pages can map it.
const BUNDLE: u64 = 0x40_0000_0000;

/// Entry of the bundle with the additions to Linux's command line.
pub const LINUX_APPEND: &str = "linux.append";

/// The machine.
pub struct Platform {
    /// The kernel's boot information.
    pub boot: &'static BootInfo,
    pub bundle: &'static [u8],
}

impl Platform {
    /// Maps the bundle and checks what the kernel passed.
    pub fn new(boot: &'static BootInfo) -> Result<Platform> {
        if boot.abi_version != pillion_abi::VERSION || boot.tsc_hz == 0 {
            return Err(Failure::new("the kernel has a different binary interface, or no clock"));
        }
        let Range { base, size, .. } = boot.bundle;
        let page = base & !(PAGE - 1);
        let address = BUNDLE + page % LARGE_PAGE;
        memory_map(slot::BUNDLE, slot::ADDRESS_SPACE, address, 0).when("mapping the bundle")?;
        let start = (address + base % PAGE) as *const u8;
        // SAFETY: the call above mapped the bundle, `size` bytes, read-only and for good.
        let bundle = unsafe { core::slice::from_raw_parts(start, size as usize) };
        Ok(Platform { boot, bundle })
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

    /// A file in the bundle.
    pub fn file(&self, name: &str) -> Result<&'static [u8]> {
        image::file(self.bundle, name).ok_or_else(|| Failure::new(alloc::format!("the bundle has no file {name}")))
    }

    /// A text file in the bundle.
    pub fn text(&self, name: &str) -> Result<&'static str> {
        core::str::from_utf8(self.file(name)?).map_err(|_| Failure::new(alloc::format!("{name} is not UTF-8")))
    }

    /// A task image in the bundle.
    pub fn image(&self, name: &str) -> Result<image::Image<'static>> {
        image::task(self.file(name)?).map_err(|bad| Failure::new(alloc::format!("{name} is not a task image: {bad:?}")))
    }

    /// Bytes of the bundle's mapping.
    pub fn bundle_mapping(&self) -> u64 {
        whole_pages(self.boot.bundle.base % PAGE + self.boot.bundle.size)
    }

    /// Checks a system against the machine.
    pub fn check(&self, wanted: &system::System) -> core::result::Result<(), Vec<system::Problem>> {
        let images: Vec<&str> = (0..).map_while(|i| image::entry(self.bundle, i)).map(|(name, ..)| name).collect();
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
            appended: self.text(LINUX_APPEND).map_or(0, |more| more.trim().len()),
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
