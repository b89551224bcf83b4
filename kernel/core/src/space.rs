//! Address spaces of the host and of guests: a root table and the pages for further tables; and the
//! mapping of memory capabilities into them.

use crate::{Cap, Id, Kernel, Machine, Opt, Slot, machine::Format};
use pillion_abi::{
    PAGE, USER_END,
    object::map,
    status::{Error, Result},
};

/// An address space. The table pages follow the object's own page.
#[derive(Debug)]
pub struct Space {
    /// Physical address of the root table.
    pub root: u64,
    /// Table pages in all, the root included.
    pub pages: u32,
    /// Table pages in use.
    pub used: u32,
    /// Host or nested.
    pub format: Format,
    /// First of the capabilities that are mapped here.
    pub mapped: Opt<Slot>,
}

/// End of guest-physical addresses.
const GUEST_END: u64 = crate::x86_64::paging::LIMIT;

impl<M: Machine> Kernel<M> {
    /// Maps a memory capability, or continues to. Returns false if it was interrupted.
    ///
    /// If it fails half-way, the part that is mapped stays mapped until the capability is unmapped.
    pub(crate) fn map(&mut self, slot: Id<Slot>, space: Id<Space>, address: u64, flags: u64) -> Result<bool> {
        let flags = self.check_map(slot, space, address, flags)?;
        self.begin_mapping(slot, space, address)?;
        loop {
            let Slot { cap: Cap::Memory { base, size, .. }, mapped_pages, .. } = *self.m.get(slot) else {
                return Err(Error::WrongKind);
            };
            let done = u64::from(mapped_pages) * PAGE;
            if done >= size {
                return Ok(true);
            }
            let step =
                self.with_space(space, |m, s| m.space_map(s, address + done, base + done, size - done, flags))?;
            self.m.get(slot).mapped_pages += (step / PAGE) as u32;
            if self.m.interrupt_pending() {
                return Ok(false);
            }
        }
    }

    fn check_map(&mut self, slot: Id<Slot>, space: Id<Space>, address: u64, flags: u64) -> Result<u64> {
        let Slot { cap: Cap::Memory { device, size, .. }, rights, .. } = *self.m.get(slot) else {
            return Err(Error::WrongKind);
        };
        if flags & !(map::WRITE | map::EXECUTE | map::UNCACHED) != 0 {
            return Err(Error::BadArgument);
        }
        let needed = map::rights(flags);
        if rights & needed != needed {
            return Err(Error::NoRight);
        }
        let format = self.m.get(space).format;
        let (end, both) = match format {
            Format::Host => (USER_END, map::WRITE | map::EXECUTE),
            Format::Nested => (GUEST_END, u64::MAX),
        };
        let fits = address.checked_add(size).is_some_and(|e| e <= end) && address.is_multiple_of(PAGE);
        if !fits || flags & both == both || (format == Format::Host && address == 0) {
            return Err(Error::BadArgument);
        }
        Ok(if device && format == Format::Host { flags | map::UNCACHED } else { flags })
    }

    fn begin_mapping(&mut self, slot: Id<Slot>, id: Id<Space>, at: u64) -> Result<()> {
        let first = self.m.get(id).mapped;
        if self.m.get(slot).unmapping {
            return Err(Error::Busy);
        }
        let Cap::Memory { space, address, next, .. } = &mut self.m.get(slot).cap else { return Err(Error::WrongKind) };
        match *space {
            Some(s) if s == id && *address == at => return Ok(()),
            Some(_) => return Err(Error::Busy),
            None => {}
        }
        *space = Some(id);
        *address = at;
        *next = first;
        self.m.get(slot).mapped_pages = 0;
        if let Some(first) = first {
            self.set_mapped_previous(first, Some(slot));
        }
        self.m.get(id).mapped = Some(slot);
        Ok(())
    }

    /// Lets the machine work on a space's tables.
    fn with_space<T>(&mut self, id: Id<Space>, work: impl FnOnce(&mut M, &mut Space) -> T) -> T {
        let s = self.m.get(id);
        let mut copy = Space { root: s.root, pages: s.pages, used: s.used, format: s.format, mapped: None };
        let result = work(&mut self.m, &mut copy);
        self.m.get(id).used = copy.used;
        result
    }

    /// Removes part of the mapping of a memory capability. Returns whether nothing is mapped any
    /// more.
    pub(crate) fn unmap_step(&mut self, slot: Id<Slot>) -> bool {
        let Slot { cap: Cap::Memory { space: Some(id), address, .. }, mapped_pages, .. } = *self.m.get(slot) else {
            return true;
        };
        let left = u64::from(mapped_pages) * PAGE;
        let done = if left == 0 { 0 } else { self.with_space(id, |m, s| m.space_unmap(s, address, left)) };
        if done >= left {
            self.forget_mapping(slot);
            return true;
        }
        let s = self.m.get(slot);
        s.unmapping = true;
        s.mapped_pages -= (done / PAGE) as u32;
        if let Cap::Memory { address, .. } = &mut s.cap {
            *address += done;
        }
        false
    }

    /// Removes a capability that is no longer mapped from the list of its space.
    pub(crate) fn forget_mapping(&mut self, slot: Id<Slot>) {
        let s = self.m.get(slot);
        (s.mapped_pages, s.unmapping) = (0, false);
        let Cap::Memory { space, previous, next, .. } = &mut self.m.get(slot).cap else { return };
        let (id, p, n) = (space.take(), previous.take(), next.take());
        let Some(id) = id else { return };
        match p {
            Some(p) => self.set_mapped_next(p, n),
            None => self.m.get(id).mapped = n,
        }
        if let Some(n) = n {
            self.set_mapped_previous(n, p);
        }
    }
}
