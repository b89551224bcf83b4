//! Page tables in the direct map: host address spaces and nested ones of guests. The algorithm is
//! in [`pillion_core::x86_64::paging`].

mod tables;

pub use tables::{PageTables, init_root, look_at_root};

use core::arch::asm;

/// Bits of CR3 that hold the address of the root table.
const ROOT: u64 = 0x000f_ffff_ffff_f000;

/// Physical address of the active root table.
#[inline]
#[must_use]
pub fn current() -> u64 {
    let cr3: u64;
    // SAFETY: reading CR3 in kernel mode changes nothing.
    unsafe { asm!("mov {}, cr3", out(reg) cr3, options(nomem, nostack, preserves_flags)) };
    cr3 & ROOT
}

/// Makes a root table active. Drops all translations that are not global (PCIDs are not used).
///
/// # Safety
/// The root's upper half is the kernel's, and its tables stay in place for as long as it is active.
#[inline]
pub unsafe fn switch_to(root: u64) {
    // SAFETY: the caller vouches that the kernel's half is the same; the stack and this code stay
    // mapped.
    unsafe { asm!("mov cr3, {}", in(reg) root, options(nostack, preserves_flags)) };
}

/// Drops all translations of the space with that root that are not global, if it is active.
#[inline]
pub fn invalidate_all(root: u64) {
    if current() == root {
        // SAFETY: the root is the one that is active already.
        unsafe { switch_to(root) };
    }
}
