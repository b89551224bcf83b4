//! The tables of one address space, reached through the direct map.

use crate::arch::x86_64::layout::direct;
use pillion_abi::PAGE;
use pillion_abi::status::{Error, Result};
use pillion_core::x86_64::paging::{self, ENTRIES, Flags, Tables};

/// Tables of one address space: a run of pages, the first of which is the root, and how far they
/// are used.
#[derive(Debug)]
pub struct PageTables {
    root: u64,
    next: u64,
    end: u64,
}

impl PageTables {
    /// Tables in `pages` pages at the physical address `pool`, for a nested address space.
    ///
    /// # Safety
    /// The pages are RAM in the direct map, hold zeros, and belong to nobody else until the value
    /// is gone and no processor uses the root.
    pub unsafe fn new_guest_root(pool: u64, pages: u64) -> Result<Self> {
        let bytes = pages.checked_mul(PAGE).ok_or(Error::BadArgument)?;
        let end = pool.checked_add(bytes).ok_or(Error::BadArgument)?;
        if pages == 0 || !pool.is_multiple_of(PAGE) {
            return Err(Error::BadArgument);
        }
        Ok(Self { root: pool, next: pool + PAGE, end })
    }

    /// As [`Self::new_guest_root`], with the upper 256 entries of the root copied from the kernel's
    /// root table `template`.
    ///
    /// # Safety
    /// As [`Self::new_guest_root`]; `template` is the physical address of a root table whose upper
    /// half never changes.
    pub unsafe fn new_host_root(pool: u64, pages: u64, template: u64) -> Result<Self> {
        // SAFETY: the caller vouches for the pages.
        let mut tables = unsafe { Self::new_guest_root(pool, pages)? };
        for index in ENTRIES / 2..ENTRIES {
            let entry = tables.read(template, index);
            tables.write(pool, index, entry);
        }
        Ok(tables)
    }

    /// Tables that [`Self::new_guest_root`] or [`Self::new_host_root`] made, with `used` pages of
    /// the pool in use.
    ///
    /// # Safety
    /// As for the function that made them; `used` is what [`Self::pages_used`] returned last.
    #[must_use]
    pub unsafe fn resume(root: u64, pages: u64, used: u64) -> Self {
        Self { root, next: root + used * PAGE, end: root + pages * PAGE }
    }

    /// Pages of the pool that are in use, the root included.
    #[must_use]
    pub const fn pages_used(&self) -> u64 {
        (self.next - self.root) / PAGE
    }

    /// Physical address of the root.
    #[inline]
    #[must_use]
    pub const fn root(&self) -> u64 {
        self.root
    }

    /// See [`paging::map_step`].
    pub fn map_step(&mut self, address: u64, physical: u64, size: u64, flags: Flags) -> Result<u64> {
        let root = self.root;
        paging::map_step(self, root, address, physical, size, flags)
    }

    /// See [`paging::unmap_step`]. The caller drops the translations ([`super::invalidate_all`], or
    /// for a guest the vCPU's).
    pub fn unmap_step(&mut self, address: u64, size: u64) -> Result<u64> {
        let root = self.root;
        paging::unmap_step(self, root, address, size)
    }
}

/// Address of an entry in the direct map.
#[inline]
fn entry(table: u64, index: usize) -> *mut u64 {
    debug_assert!(index < ENTRIES);
    direct::<u64>(table + 8 * (index as u64 & (ENTRIES as u64 - 1)))
}

impl Tables for PageTables {
    #[inline]
    fn read(&self, table: u64, index: usize) -> u64 {
        // SAFETY: `table` is a page of the pool (or the kernel's template), for which the code that
        // made this value vouched: the algorithm gets table addresses from `alloc`, the root and
        // entries that it wrote itself. Volatile, since the processor reads and writes tables too.
        unsafe { entry(table, index).read_volatile() }
    }

    #[inline]
    fn write(&mut self, table: u64, index: usize, value: u64) {
        // SAFETY: as in `read`; `&mut self` makes this the only writer.
        unsafe { entry(table, index).write_volatile(value) }
    }

    #[inline]
    fn alloc(&mut self) -> Option<u64> {
        if self.next >= self.end {
            return None;
        }
        let table = self.next;
        self.next += PAGE;
        Some(table)
    }
}
