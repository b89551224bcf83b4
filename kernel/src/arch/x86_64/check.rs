//! Checks at boot that the machine is in the state that the kernel promises.

use super::boot::map::bit;
use super::cpu::{self, bit as control};
use super::layout::{DIRECT_MAP, Image, direct};
use super::{code, fatal, log, msr};
use pillion_abi::boot::Range;
use pillion_firmware::ranges::{Cached, cached};

/// What was found in the page tables.
#[derive(Default)]
struct Found {
    pages: u64,
    writable_and_executable: u64,
    constant_and_writable: u64,
    cached_device: u64,
    user: u64,
    lower_half: u64,
}

/// A walk through the page tables, on a machine with this memory.
struct Walk<'a> {
    image: &'a Image,
    memory: &'a [Range],
    found: Found,
}

/// Checks memory rights and control registers; stops the machine if one is not as promised.
pub fn assert_machine_state(memory: &[Range]) {
    let mut walk = Walk { image: &Image::current(), memory, found: Found::default() };
    // SAFETY: CR3 leads to the tables in use, of four levels.
    unsafe { walk.below(cpu::cr3() & bit::ADDRESS, 4, 0, false, true) };
    let found = walk.found;
    log!("[boot] {} mappings", found.pages);
    for (fact, count) in [
        ("writable and executable", found.writable_and_executable),
        ("writable with code or constants", found.constant_and_writable),
        ("of devices, cached", found.cached_device),
        ("for user mode", found.user),
        ("in the lower half", found.lower_half),
    ] {
        demand(count == 0, "mappings", fact, "none");
    }
    demand(code::sites_are_code(walk.image), "patched places", "outside of the code", "none");
    for (name, on) in protections() {
        match on {
            Some(on) => demand(on, name, "", "on"),
            None => log!("[boot] {name}: this processor has none"),
        }
    }
}

/// What protects the kernel by control registers, and whether it is on. `None`: the first processor
/// has it not.
fn protections() -> [(&'static str, Option<bool>); 4] {
    let cr4 = |feature, flag| cpu::has(feature).then(|| cpu::cr4() & flag != 0);
    // SAFETY: every long-mode processor has this register.
    let efer = unsafe { msr::read(msr::EFER) };
    [
        ("SMEP", cr4(cpu::SMEP, control::CR4_SMEP)),
        ("SMAP", cr4(cpu::SMAP, control::CR4_SMAP)),
        ("NX", Some(efer & control::EFER_NXE != 0)),
        ("WP", Some(cpu::cr0() & control::CR0_WP != 0)),
    ]
}

/// Whether all of these are on that the first processor has: for another one.
#[must_use]
pub fn is_protected() -> bool {
    protections().iter().all(|(_, on)| *on != Some(false))
}

fn demand(holds: bool, subject: &str, detail: &str, wanted: &str) {
    let space = if detail.is_empty() { "" } else { " " };
    log!("[boot] {subject}{space}{detail}: {}", if holds { wanted } else { "WRONG" });
    if !holds {
        fatal("the machine is not in the state that it should be in");
    }
}

impl Walk<'_> {
    /// Visits all mappings below a table. `address` is the first that the table maps; the rights
    /// are those that its parents leave.
    ///
    /// # Safety
    /// `table` is the physical address of a page table of that level in use.
    unsafe fn below(&mut self, table: u64, level: u32, address: u64, no_execute: bool, writable: bool) {
        let shift = 3 + 9 * level;
        for index in 0..512 {
            // SAFETY: the caller vouches for the table, which is in RAM and in the direct map.
            let entry = unsafe { direct::<u64>(table + index * 8).read_volatile() };
            if entry & bit::PRESENT == 0 {
                continue;
            }
            let at = address | index << shift;
            let no_execute = no_execute || entry & bit::NO_EXECUTE != 0;
            let writable = writable && entry & bit::WRITE != 0;
            if level > 1 && entry & bit::LARGE == 0 {
                // SAFETY: the entry of a table in use leads to one of the next level.
                unsafe { self.below(entry & bit::ADDRESS, level - 1, at, no_execute, writable) };
            } else {
                self.leaf(entry, at, 1 << shift, no_execute, writable);
            }
        }
    }

    fn leaf(&mut self, entry: u64, at: u64, size: u64, no_execute: bool, writable: bool) {
        let base = entry & bit::ADDRESS & !(size - 1);
        let constant = base < self.image.rodata_end && base + size > self.image.start;
        let device = cached(self.memory, base, base + size) != Cached::All;
        let found = &mut self.found;
        found.pages += 1;
        found.writable_and_executable += u64::from(writable && !no_execute);
        found.constant_and_writable += u64::from(writable && constant);
        found.cached_device += u64::from(device && entry & bit::NO_CACHE == 0);
        found.user += u64::from(entry & bit::USER != 0);
        found.lower_half += u64::from(at < DIRECT_MAP & 0x0000_ffff_ffff_ffff);
    }
}
