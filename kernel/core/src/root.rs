//! Making the first task at boot, without a caller: the same objects, in memory for which nobody
//! holds a capability yet.

use crate::{
    Cap, Id, Kernel, Machine, Slot,
    cap::CapSpace,
    id::{GRANULE, Site},
    space::Space,
    thread::{Thread, place},
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

/// The first task while it is built, with its capability space. There is one, and nothing runs
/// before it is complete: so what it is given is nobody else's.
#[derive(Debug)]
pub struct FirstTask<'k, M> {
    k: &'k mut Kernel<M>,
    caps: Id<CapSpace>,
    region: Id<Slot>,
}

impl<M: Machine> Kernel<M> {
    /// Begins the first task: makes its capability space in the memory that the machine has for it.
    /// The rest of that memory becomes a region in the last slot. A copy of the capability for the
    /// space goes to `own`: with the original, the task could delete the space. `None` if the
    /// memory does not suffice, or was given to a first task before.
    pub fn first_task(&mut self, slots: u32, own: u32) -> Option<FirstTask<'_, M>> {
        let [base, size] = self.m.first_memory()?;
        let used = (u64::from(slots) + 1) * GRANULE;
        if slots == 0 || used > size {
            return None;
        }
        let header = CapSpace { count: slots, level: 0, dying: false, scanned: 0 };
        let caps = self.place(Site::at(base, used)?, header);
        let mut task = FirstTask { k: self, caps, region: caps.following(slots - 1) };
        task.give(slots - 1, Cap::Region { device: false, base, size, used, cleared: size }, right::ALL);
        task.give(own, Cap::CapSpace(caps), right::ALL);
        task.k.m.get(caps.following(own)).original = false;
        Some(task)
    }
}

/// An index of a slot must be below the count.
impl<M: Machine> FirstTask<'_, M> {
    /// What a slot holds.
    pub fn cap(&mut self, index: u32) -> Cap {
        self.k.m.get(self.caps.following(index)).cap
    }

    /// Puts a capability into a slot that is derived from no other.
    pub fn give(&mut self, index: u32, cap: Cap, rights: u8) {
        *self.k.m.get(self.caps.following(index)) = Slot { cap, rights, original: true, ..Slot::default() };
    }

    /// Makes an object out of the task's own memory; see `RegionCreate`.
    pub fn create(&mut self, kind: Kind, size: u64, at: u32) -> Result<()> {
        while !self.k.create(self.region, kind, size, self.caps, at.into())? {}
        Ok(())
    }

    /// Maps memory; see `MemoryMap`.
    pub fn map(&mut self, memory: u32, space: Id<Space>, address: u64, flags: u64) -> Result<()> {
        while !self.k.map(self.caps.following(memory), space, address, flags)? {}
        Ok(())
    }

    /// Starts the thread, which becomes the current one.
    pub fn start(mut self, start: &Start) -> Result<Id<Thread>> {
        let [thread, context, space] = start.slots.map(|index| self.cap(index));
        let (Cap::Thread(thread), Cap::Context(context), Cap::AddressSpace(_)) = (thread, context, space) else {
            return Err(Error::WrongKind);
        };
        let FirstTask { k, caps, .. } = self;
        k.derive_inner(caps.following(start.slots[2]), thread.place(place::SPACE))?;
        k.m.get(thread).slots[place::CAPS] = Slot { cap: Cap::CapSpace(caps), rights: right::ALL, ..Slot::default() };
        let c = k.m.get(context);
        (c.priority, c.budget, c.left) = (start.priority, pillion_abi::NEVER, pillion_abi::NEVER);
        (c.owner, c.user) = (Some(thread), Some(thread));
        let t = k.m.get(thread);
        (t.own_context, t.context, t.priority) = (Some(context), Some(context), start.priority);
        k.m.set_registers(thread, start.entry, start.stack, start.argument);
        k.make_ready(thread);
        Ok(thread)
    }
}
