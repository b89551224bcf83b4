//! The final page tables of the kernel's half, the same in every address space.
//!
//! The image is mapped in 4 KiB pages, each part with its own rights. The direct map is made of 2
//! MiB pages, except pieces that hold the image, so that code and constants cannot be written there
//! either, and pieces that are only partly memory: what is not memory is not cached.

use pillion_abi::boot::Range;
use pillion_abi::{LARGE_PAGE, PAGE};
use pillion_firmware::params::BootParams;
use pillion_firmware::ranges::{Cached, cached, is_memory};

use crate::arch::x86_64::layout::{ALWAYS_MAPPED, DIRECT_MAP, IMAGE_OFFSET, Image, direct};
use crate::arch::x86_64::percpu::is_guard_page;

/// Bits of an entry.
pub mod bit {
    #![allow(missing_docs, reason = "the names of the bits")]
    pub const PRESENT: u64 = 1;
    pub const WRITE: u64 = 1 << 1;
    pub const USER: u64 = 1 << 2;
    pub const WRITE_THROUGH: u64 = 1 << 3;
    pub const NO_CACHE: u64 = 1 << 4;
    pub const ACCESSED: u64 = 1 << 5;
    pub const DIRTY: u64 = 1 << 6;
    pub const LARGE: u64 = 1 << 7;
    pub const GLOBAL: u64 = 1 << 8;
    pub const NO_EXECUTE: u64 = 1 << 63;
    /// The physical address.
    pub const ADDRESS: u64 = 0x000f_ffff_ffff_f000;
}

/// Accessed and dirty are set in advance: the processor need not write the tables later.
const LEAF: u64 = bit::PRESENT | bit::GLOBAL | bit::ACCESSED | bit::DIRTY;
const READ: u64 = LEAF | bit::NO_EXECUTE;
const READ_WRITE: u64 = READ | bit::WRITE;
const READ_EXECUTE: u64 = LEAF;
const DEVICE: u64 = READ_WRITE | bit::NO_CACHE | bit::WRITE_THROUGH;
const TABLE: u64 = bit::PRESENT | bit::WRITE | bit::ACCESSED;

/// Builds tables in a stretch of free RAM.
struct Builder {
    root: u64,
    next: u64,
    end: u64,
}

impl Builder {
    /// A zeroed page, or `None` if the stretch is used up.
    fn page(&mut self) -> Option<u64> {
        let page = self.next;
        if page >= self.end {
            return None;
        }
        self.next += PAGE;
        // SAFETY: the stretch is free RAM below 4 GiB, which the first page tables map, and nobody
        // else uses it.
        unsafe { direct::<u8>(page).write_bytes(0, PAGE as usize) };
        Some(page)
    }

    /// The entry for an address in the table at a level (1: pages). Missing parents are made on the
    /// way.
    fn entry(&mut self, address: u64, level: u32) -> Option<*mut u64> {
        let mut table = self.root;
        let mut at = 4;
        loop {
            let index = address >> (3 + 9 * at) & 511;
            let entry = direct::<u64>(table + index * 8);
            if at == level {
                return Some(entry);
            }
            // SAFETY: `table` is one of the builder's own pages, and the index is below 512.
            unsafe {
                if *entry == 0 {
                    *entry = self.page()? | TABLE;
                }
                table = *entry & bit::ADDRESS;
            }
            at -= 1;
        }
    }

    fn map(&mut self, address: u64, level: u32, value: u64) -> Option<()> {
        let entry = self.entry(address, level)?;
        // SAFETY: `entry` points into one of the builder's own pages.
        unsafe { *entry = value };
        Some(())
    }

    /// Maps the image where it is linked. The pages below the stacks stay empty.
    fn map_image(&mut self, image: &Image) -> Option<()> {
        for page in (image.start..image.end).step_by(PAGE as usize) {
            let address = page + IMAGE_OFFSET;
            if !is_guard_page(address) {
                let flags = if page < image.text_end {
                    READ_EXECUTE
                } else if page < image.rodata_end {
                    READ
                } else {
                    READ_WRITE
                };
                self.map(address, 1, page | flags)?;
            }
        }
        Some(())
    }

    /// Maps `base..end`, rounded out to large pages, in the direct map.
    fn map_direct(&mut self, base: u64, end: u64, image: &Image, memory: &[Range]) -> Option<()> {
        for piece in (base & !(LARGE_PAGE - 1)..end).step_by(LARGE_PAGE as usize) {
            match cached(memory, piece, piece + LARGE_PAGE) {
                _ if piece < image.end && piece + LARGE_PAGE > image.start => self.map_pages(piece, image, memory)?,
                Cached::All => self.map(DIRECT_MAP + piece, 2, piece | READ_WRITE | bit::LARGE)?,
                Cached::Nothing => self.map(DIRECT_MAP + piece, 2, piece | DEVICE | bit::LARGE)?,
                Cached::Part => self.map_pages(piece, image, memory)?,
            }
        }
        Some(())
    }

    fn map_pages(&mut self, piece: u64, image: &Image, memory: &[Range]) -> Option<()> {
        for page in (piece..piece + LARGE_PAGE).step_by(PAGE as usize) {
            let flags = if page >= image.start && page < image.rodata_end {
                READ
            } else if cached(memory, page, page + PAGE) == Cached::All {
                READ_WRITE
            } else {
                DEVICE
            };
            self.map(DIRECT_MAP + page, 1, page | flags)?;
        }
        Some(())
    }
}

/// Memory beyond 4 GiB that goes into the direct map.
fn high_memory(memory: &[Range]) -> impl Iterator<Item = (u64, u64)> {
    let ends = memory.iter().filter(|r| is_memory(r)).map(|r| (r.base, r.base + r.size));
    ends.filter(|(_, end)| *end > ALWAYS_MAPPED).map(|(base, end)| (base.max(ALWAYS_MAPPED), end))
}

/// Maximum number of pages that the tables need.
fn pages_needed(memory: &[Range], image: &Image) -> u64 {
    const GIB: u64 = 1 << 30;
    const TIB_HALF: u64 = 512 * GIB;
    // The root, the image's tables, low memory's.
    let fixed = 1 + 2 + (image.end - image.start) / LARGE_PAGE + 2 + 1 + 4 + (image.end - image.start) / LARGE_PAGE + 2;
    // Each end of a range makes at most one large page a mixed one.
    let mixed = 2 * memory.len() as u64;
    let high = high_memory(memory).map(|(base, end)| (end - base) / GIB + 2 + (end - base) / TIB_HALF + 2);
    fixed + mixed + high.sum::<u64>()
}

/// Builds the tables and records the memory that they took. Returns the physical address of the
/// root.
///
/// # Safety
/// The parameters say which memory below 4 GiB is free, and the first page tables are in use.
pub unsafe fn build(params: &mut BootParams, image: &Image) -> Option<u64> {
    let needed = pages_needed(params.memory(), image) * PAGE;
    let start = params.find_ram(needed, image.end)?;
    let mut builder = Builder { root: start, next: start, end: start + needed };
    builder.page()?;
    builder.map_image(image)?;
    let memory = params.memory();
    builder.map_direct(0, ALWAYS_MAPPED, image, memory)?;
    for (base, end) in high_memory(memory) {
        builder.map_direct(base, end, image, memory)?;
    }
    params.keep(start, builder.next);
    Some(start)
}
