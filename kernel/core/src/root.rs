//! Making the first task at boot, without a caller: the same objects, in memory for which nobody
//! holds a capability yet.

use crate::{
    Cap, Id, Kernel, Machine, Slot,
    cap::CapSpace,
    id::{GRANULE, Site},
    space::Space,
    thread::place,
};
use pillion_abi::{
    object::{Kind, right},
    status::{Error, Result},
};

/// How the first thread starts.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    /// Slots of the thread, its context and its address space.
    pub slots: [u32; 3],
    /// Priority of the context; its budget has no limit.
    pub priority: u8,
    /// First instruction.
    pub entry: u64,
    /// Stack pointer.
    pub stack: u64,
    /// Argument.
    pub argument: u64,
}

impl<M: Machine> Kernel<M> {
    /// Makes the first task's capability space in the memory that the machine has for it. The rest
    /// of that memory becomes a region in the last slot, which is returned as well. Called once,
    /// before anything else. `None` if the memory does not suffice.
    pub fn root_begin(&mut self, slots: u32) -> Option<(Id<CapSpace>, Id<Slot>)> {
        let [base, size] = self.m.first_memory();
        let used = (u64::from(slots) + 1) * GRANULE;
        if slots == 0 || used > size {
            return None;
        }
        let header = CapSpace { count: slots, level: 0, dying: false, scanned: 0 };
        let caps = self.m.place(Site::at(base, used)?, header);
        let region = Cap::Region { device: false, base, size, used, cleared: size };
        Some((caps, self.root_give(caps, slots - 1, region, right::ALL)))
    }

    /// Handle of a slot of the first task. The index must be below the count.
    pub fn root_slot(&mut self, caps: Id<CapSpace>, index: u32) -> Id<Slot> {
        caps.following(index)
    }

    /// What a slot of the first task holds.
    pub fn root_cap(&mut self, caps: Id<CapSpace>, index: u32) -> Cap {
        self.m.get(caps.following(index)).cap
    }

    /// Puts a capability into a slot that is derived from no other.
    pub fn root_give(&mut self, caps: Id<CapSpace>, index: u32, cap: Cap, rights: u8) -> Id<Slot> {
        let slot = caps.following(index);
        *self.m.get(slot) = Slot { cap, rights, original: true, ..Slot::default() };
        slot
    }

    /// Makes an object; see `RegionCreate`.
    pub fn root_create(&mut self, region: Id<Slot>, kind: Kind, size: u64, caps: Id<CapSpace>, at: u32) -> Result<()> {
        while !self.create(region, kind, size, caps, at.into())? {}
        Ok(())
    }

    /// Maps memory; see `MemoryMap`.
    pub fn root_map(&mut self, slot: Id<Slot>, space: Id<Space>, address: u64, flags: u64) -> Result<()> {
        while !self.map(slot, space, address, flags)? {}
        Ok(())
    }

    /// Starts the first thread, which becomes the current one.
    pub fn root_start(&mut self, caps: Id<CapSpace>, start: &Start) -> Result<()> {
        let [thread, context, space] = start.slots.map(|index| self.root_cap(caps, index));
        let (Cap::Thread(thread), Cap::Context(context), Cap::AddressSpace(_)) = (thread, context, space) else {
            return Err(Error::WrongKind);
        };
        let at = thread.place(place::SPACE);
        self.derive_inner(caps.following(start.slots[2]), at)?;
        self.m.get(thread).slots[place::CAPS] =
            Slot { cap: Cap::CapSpace(caps), rights: right::ALL, ..Slot::default() };
        let c = self.m.get(context);
        (c.priority, c.budget, c.left) = (start.priority, pillion_abi::NEVER, pillion_abi::NEVER);
        (c.owner, c.user) = (Some(thread), Some(thread));
        let t = self.m.get(thread);
        (t.own_context, t.context, t.priority) = (Some(context), Some(context), start.priority);
        self.m.set_registers(thread, start.entry, start.stack, start.argument);
        self.make_ready(thread);
        Ok(())
    }
}
