//! Address spaces of the host and of guests: a root table and the pages for further tables; and the
//! mapping of memory capabilities into them.

use crate::{Cap, Id, Kernel, Machine, Opt, Slot, id::AtomicOpt, machine::Format, slot::Entry};
use core::sync::atomic::AtomicU32;
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
    /// Host or nested.
    pub format: Format,
    /// Table pages in use. As the next field, it changes as something is mapped or unmapped.
    pub used: AtomicU32,
    /// First of the capabilities that are mapped here.
    pub(crate) mapped: AtomicOpt<Slot>,
}

impl Space {
    /// One with nothing in it but the root.
    pub(crate) fn new(root: u64, pages: u32, format: Format) -> Self {
        Space { root, pages, format, used: AtomicU32::new(1), mapped: AtomicOpt::default() }
    }

    /// First of the capabilities that are mapped here.
    pub fn mapped(&self) -> Opt<Slot> {
        self.mapped.get()
    }
}

/// End of guest-physical addresses.
const GUEST_END: u64 = crate::x86_64::paging::LIMIT;

impl<M: Machine> Kernel<M> {
    /// Maps a memory capability, or continues to. Returns false if it was interrupted.
    ///
    /// If it fails half-way, the part that is mapped stays mapped until the capability is unmapped.
    pub(crate) fn map(&mut self, slot: Id<Slot>, space: Id<Space>, address: u64, flags: u64) -> Result<bool> {
        let flags = self.check_map(slot, space, address, flags)?;
        // The checks and the first step are too long together. A call that is made again does a
        // step in any case.
        if self.begin_mapping(slot, space, address)? && self.is_to_stop() {
            return Ok(false);
        }
        loop {
            let Entry { cap: Cap::Memory { base, size, .. }, mapped_pages, .. } = self.m.shared(slot).entry() else {
                return Err(Error::WrongKind);
            };
            let done = u64::from(mapped_pages) * PAGE;
            if done >= size {
                return Ok(true);
            }
            let step = self.m.space_map(space, address + done, base + done, size - done, flags)?;
            self.m.shared(slot).set_mapping(address, Some(space), mapped_pages + (step / PAGE) as u32);
            if self.is_to_stop() {
                return Ok(false);
            }
        }
    }

    fn check_map(&mut self, slot: Id<Slot>, space: Id<Space>, address: u64, flags: u64) -> Result<u64> {
        let Entry { cap: Cap::Memory { device, size, .. }, rights, .. } = self.m.shared(slot).entry() else {
            return Err(Error::WrongKind);
        };
        if flags & !(map::WRITE | map::EXECUTE | map::UNCACHED) != 0 {
            return Err(Error::BadArgument);
        }
        let needed = map::rights(flags);
        if rights & needed != needed {
            return Err(Error::NoRight);
        }
        let format = self.m.shared(space).format;
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

    /// Enters a memory capability into the list of a space. Returns false if it is there, from the
    /// same call made before.
    fn begin_mapping(&mut self, slot: Id<Slot>, id: Id<Space>, at: u64) -> Result<bool> {
        let Entry { cap: Cap::Memory { space, address, .. }, unmapping, .. } = self.m.shared(slot).entry() else {
            return Err(Error::WrongKind);
        };
        if unmapping {
            return Err(Error::Busy);
        }
        match space {
            Some(s) if s == id && address == at => return Ok(false),
            Some(_) => return Err(Error::Busy),
            None => {}
        }
        let first = self.m.shared(id).mapped();
        let memory = self.m.shared(slot);
        memory.set_mapping(at, Some(id), 0);
        memory.set_mapped_links(None, first);
        if let Some(first) = first {
            self.set_mapped_previous(first, Some(slot));
        }
        self.m.shared(id).mapped.set(Some(slot));
        Ok(true)
    }

    /// Removes part of the mapping of a memory capability. Returns whether nothing is mapped any
    /// more, and no processor has translations of what was: until then the capability counts as
    /// mapped, so that nobody can put its memory to another use.
    pub(crate) fn unmap_step(&mut self, slot: Id<Slot>) -> bool {
        let Entry { cap: Cap::Memory { space: Some(id), address, .. }, mapped_pages, .. } = self.m.shared(slot).entry()
        else {
            return true;
        };
        if !self.m.translations_dropped() {
            return false;
        }
        let left = u64::from(mapped_pages) * PAGE;
        let done = if left == 0 { 0 } else { self.m.space_unmap(id, address, left) };
        if done >= left && self.m.translations_dropped() {
            self.forget_mapping(slot);
            return true;
        }
        let memory = self.m.shared(slot);
        memory.set_unmapping(true);
        memory.set_mapping(address + done, Some(id), mapped_pages - (done / PAGE) as u32);
        false
    }

    /// Removes a capability that is no longer mapped from the list of its space.
    pub(crate) fn forget_mapping(&mut self, slot: Id<Slot>) {
        let memory = self.m.shared(slot);
        let Cap::Memory { address, space, previous, next, .. } = memory.cap() else { return };
        memory.set_unmapping(false);
        memory.set_mapping(address, None, 0);
        memory.set_mapped_links(None, None);
        let Some(id) = space else { return };
        match previous {
            Some(p) => self.set_mapped_next(p, next),
            None => self.m.shared(id).mapped.set(next),
        }
        if let Some(n) = next {
            self.set_mapped_previous(n, previous);
        }
    }
}
