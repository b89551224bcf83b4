//! The tables of one address space, reached through the direct map.

use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::arch::x86_64::{boot::kernel_root, layout::direct};
use pillion_abi::PAGE;
use pillion_abi::status::Result;
use pillion_core::x86_64::paging::{self, ENTRIES, Flags, Tables};

/// Index of the image's entry in the upper half of a root table. Before it are the direct map's.
const IMAGE: usize = ENTRIES / 2 - 1;

/// How many of these the direct map takes; the others are zero.
static DIRECT: AtomicUsize = AtomicUsize::new(IMAGE);

/// Looks how much of the kernel's root table, which is complete and in use, the direct map takes.
pub fn look_at_root() {
    let from = entry(kernel_root(), ENTRIES / 2);
    // SAFETY: the table is in the direct map, and never changes after boot.
    let last = (0..IMAGE).rev().find(|index| unsafe { from.add(*index).read_volatile() } != 0);
    DIRECT.store(last.map_or(0, |index| index + 1), Relaxed);
}

/// Fills the upper half of a new root table with the kernel's. Work: an entry for each 512 GiB of
/// the direct map, and one more.
///
/// # Safety
/// `root` is the physical address of a page of RAM in the direct map that holds zeros and belongs
/// to nobody else.
pub unsafe fn init_root(root: u64) {
    let (from, to) = (entry(kernel_root(), ENTRIES / 2), entry(root, ENTRIES / 2));
    for index in (0..DIRECT.load(Relaxed)).chain([IMAGE]) {
        // SAFETY: the caller vouches for the page; the kernel's root never changes after boot.
        unsafe { to.add(index).write_volatile(from.add(index).read_volatile()) };
    }
}

/// Tables of one address space.
#[derive(Debug)]
pub struct PageTables(Pool);

/// A run of pages, the first of which is the root, and how far they are used. Private, since who
/// has one may read and write any table.
#[derive(Debug)]
struct Pool {
    root: u64,
    next: u64,
    end: u64,
}

impl PageTables {
    /// The tables in `pages` pages from `root` on, of which `used` are in use.
    ///
    /// # Safety
    /// The pages are RAM in the direct map. The root is from [`init_root`], or a page of zeros for
    /// a nested space, and the pages that are not in use hold zeros. They belong to nobody else
    /// until the value is gone and no processor uses the root. `used` is what [`Self::pages_used`]
    /// returned last, or 1.
    #[must_use]
    pub unsafe fn resume(root: u64, pages: u64, used: u64) -> Self {
        Self(Pool { root, next: root + used * PAGE, end: root + pages * PAGE })
    }

    /// Pages of the pool that are in use, the root included.
    #[must_use]
    pub const fn pages_used(&self) -> u64 {
        (self.0.next - self.0.root) / PAGE
    }

    /// See [`paging::map_step`].
    pub fn map_step(&mut self, address: u64, physical: u64, size: u64, flags: Flags) -> Result<u64> {
        let root = self.0.root;
        paging::map_step(&mut self.0, root, address, physical, size, flags)
    }

    /// See [`paging::unmap_step`].
    ///
    /// # Safety
    /// The caller drops the translations ([`super::invalidate_all`], or for a guest the vCPU's).
    pub unsafe fn unmap_step(&mut self, address: u64, size: u64) -> Result<u64> {
        let root = self.0.root;
        paging::unmap_step(&mut self.0, root, address, size)
    }
}

/// Address of an entry in the direct map.
#[inline]
fn entry(table: u64, index: usize) -> *mut u64 {
    debug_assert!(index < ENTRIES);
    direct::<u64>(table + 8 * (index as u64 & (ENTRIES as u64 - 1)))
}

impl Tables for Pool {
    #[inline]
    fn read(&self, table: u64, index: usize) -> u64 {
        // SAFETY: `table` is a page of the pool, for which the code that made this value vouched:
        // the algorithm, the only caller, gets table addresses from `alloc`, the root and entries
        // that it wrote itself. Volatile, since the processor reads and writes tables too.
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
