//! Mappings: created, split, protected, moved and removed. The heap's break is the allocator's.

use super::Place;
use anyhow::Result;
use rustix::mm::{self, Advice, MapFlags, MprotectFlags, MremapFlags, MsyncFlags, ProtFlags};
use std::ffi::c_void;
use std::ptr::null_mut;

const PAGE: usize = 4096;

/// Pages mapped in a round: from a few to more than a large page.
const PAGES: [usize; 4] = [3, 16, 130, 600];

pub fn cover(_place: &Place, round: u64) -> Result<()> {
    let pages = PAGES[round as usize % PAGES.len()];
    let flags = if round.is_multiple_of(2) { MapFlags::PRIVATE } else { MapFlags::SHARED };
    // SAFETY: a new mapping, wherever there is room.
    let address = unsafe { mm::mmap_anonymous(null_mut(), pages * PAGE, ProtFlags::READ | ProtFlags::WRITE, flags) }?;
    // SAFETY: the mapping was made above, with that length, and is used nowhere else.
    unsafe { use_and_unmap(address, pages) }
}

/// Touches a mapping, cuts a page out of its middle, moves the rest and unmaps everything.
///
/// # Safety
/// `address` is a readable and writable mapping of `pages` pages, 3 or more, to which no reference
/// exists.
unsafe fn use_and_unmap(address: *mut c_void, pages: usize) -> Result<()> {
    let at = |page: usize| address.wrapping_byte_add(page * PAGE);
    // SAFETY: inside the mapping, by the contract.
    (0..pages).for_each(|page| unsafe { at(page).cast::<u8>().write_volatile(1) });
    // SAFETY: these calls change pages of the mapping, to which no reference exists; unmapped pages
    // are not used afterwards.
    unsafe {
        mm::mprotect(at(1), PAGE, MprotectFlags::READ)?;
        mm::mprotect(at(1), PAGE, MprotectFlags::READ | MprotectFlags::WRITE)?;
        mm::madvise(address, pages * PAGE, Advice::WillNeed)?;
        mm::madvise(at(pages - 1), PAGE, Advice::LinuxDontNeed)?;
        mm::msync(address, pages * PAGE, MsyncFlags::ASYNC)?;
        mm::munmap(at(pages / 2), PAGE)?;
        let head = mm::mremap(address, pages / 2 * PAGE, pages * PAGE, MremapFlags::MAYMOVE)?;
        mm::munmap(head, pages * PAGE)?;
        if pages / 2 + 1 < pages {
            mm::munmap(at(pages / 2 + 1), (pages - pages / 2 - 1) * PAGE)?;
        }
    }
    Ok(())
}
