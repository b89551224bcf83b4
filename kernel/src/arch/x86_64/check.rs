//! What the kernel promises about the machine, looked up in the machine at boot.

use super::boot::map::bit;
use super::cpu::{self, bit as control};
use super::memory::{DIRECT_MAP, Image, direct};
use super::{fatal, log, msr};

/// What was found in the page tables.
#[derive(Default)]
struct Found {
    pages: u64,
    writable_and_executable: u64,
    constant_and_writable: u64,
    user: u64,
    lower_half: u64,
}

/// Checks memory rights and control registers; stops the machine where one is not as promised.
pub fn assert_machine_state() {
    let mut found = Found::default();
    walk(cpu::cr3() & bit::ADDRESS, 4, 0, false, true, &Image::current(), &mut found);
    log!("[boot] {} mappings", found.pages);
    for (fact, count) in [
        ("writable and executable", found.writable_and_executable),
        ("writable with code or constants", found.constant_and_writable),
        ("for user mode", found.user),
        ("in the lower half", found.lower_half),
    ] {
        demand(count == 0, "mappings", fact, "none");
    }
    for (feature, name, flag) in [(cpu::SMEP, "SMEP", control::CR4_SMEP), (cpu::SMAP, "SMAP", control::CR4_SMAP)] {
        if cpu::has(feature) {
            demand(cpu::cr4() & flag != 0, name, "", "on");
        } else {
            log!("[boot] {name}: this processor has none");
        }
    }
    // SAFETY: every long-mode processor has this register.
    let efer = unsafe { msr::read(msr::EFER) };
    demand(efer & control::EFER_NXE != 0, "NX", "", "on");
    demand(cpu::cr0() & control::CR0_WP != 0, "WP", "", "on");
}

fn demand(holds: bool, subject: &str, detail: &str, wanted: &str) {
    let space = if detail.is_empty() { "" } else { " " };
    log!("[boot] {subject}{space}{detail}: {}", if holds { wanted } else { "WRONG" });
    if !holds {
        fatal("the machine is not in the state that it should be in");
    }
}

/// Visits all mappings below a table. `address` is the first that the table maps; the rights are those that its parents leave.
fn walk(table: u64, level: u32, address: u64, no_execute: bool, writable: bool, image: &Image, found: &mut Found) {
    let shift = 3 + 9 * level;
    for index in 0..512 {
        // SAFETY: `table` is a page table in use, hence in RAM and in the direct map.
        let entry = unsafe { direct::<u64>(table + index * 8).read_volatile() };
        if entry & bit::PRESENT == 0 {
            continue;
        }
        let at = address | index << shift;
        let (no_execute, writable) = (no_execute || entry & bit::NO_EXECUTE != 0, writable && entry & bit::WRITE != 0);
        if level > 1 && entry & bit::LARGE == 0 {
            walk(entry & bit::ADDRESS, level - 1, at, no_execute, writable, image, found);
            continue;
        }
        let size = 1 << shift;
        let base = entry & bit::ADDRESS & !(size - 1);
        let constant = base < image.rodata_end && base + size > image.start;
        found.pages += 1;
        found.writable_and_executable += u64::from(writable && !no_execute);
        found.constant_and_writable += u64::from(writable && constant);
        found.user += u64::from(entry & bit::USER != 0);
        found.lower_half += u64::from(at < DIRECT_MAP & 0x0000_ffff_ffff_ffff);
    }
}
