//! Page tables, of tasks and of guests.

use super::Hardware;
use crate::{
    arch::{self, paging::PageTables},
    shootdown, virtualisation,
};
use core::sync::atomic::Ordering::Relaxed;
use pillion_abi::status::Result;
use pillion_core::{
    Id,
    machine::{Devices as _, Format, Objects as _, Spaces},
    space::Space,
    x86_64::paging::Flags,
};

impl Hardware {
    /// # Safety
    /// `space` is that of a living object, and these are its only tables.
    unsafe fn tables(space: &Space) -> PageTables {
        // SAFETY: the pages follow the object, says the caller; `space_init` made the root.
        unsafe { PageTables::resume(space.root, u64::from(space.pages), u64::from(space.used.load(Relaxed))) }
    }
}

impl Spaces for Hardware {
    fn space_init(&mut self, space: Id<Space>) {
        let Space { root, format, .. } = *self.shared(space);
        if format == Format::Host {
            // SAFETY: the page is cleared and belongs to the space.
            unsafe { arch::paging::init_root(root) };
        }
    }

    fn space_map(&mut self, space: Id<Space>, address: u64, physical: u64, size: u64, flags: u64) -> Result<u64> {
        let space = self.shared(space);
        // SAFETY: the core passes the object, whose tables one processor changes at a time.
        let mut tables = unsafe { Self::tables(space) };
        let flags = Flags::from_call(flags)?;
        let flags = if space.format == Format::Nested { flags.with(Flags::GIGANTIC) } else { flags };
        let result = tables.map_step(address, physical, size, flags);
        space.used.store(tables.pages_used() as u32, Relaxed);
        result
    }

    fn space_unmap(&mut self, space: Id<Space>, address: u64, size: u64) -> u64 {
        let space = self.shared(space);
        // SAFETY: the core passes the object, whose tables one processor changes at a time.
        let mut tables = unsafe { Self::tables(space) };
        // What was mapped as one page is unmapped as one: pages are never split.
        // SAFETY: the translations are dropped below.
        let done = unsafe { tables.unmap_step(address, size) }.unwrap_or(size);
        let root = space.root;
        match space.format {
            Format::Host => arch::paging::invalidate_all(root),
            Format::Nested => virtualisation::flush_all(),
        }
        if self.several() {
            // Whether it is over is asked before the mapping is forgotten.
            shootdown::tell(self.cpu, root);
        }
        done
    }

    fn translations_dropped(&mut self) -> bool {
        !self.several() || shootdown::is_over()
    }

    fn space_drop(&mut self, space: Id<Space>) -> bool {
        let root = self.shared(space).root;
        if self.cpu.shown().space() == root {
            self.leave_space();
        }
        !self.several() || shootdown::is_over() && shootdown::tell(self.cpu, root)
    }
}
