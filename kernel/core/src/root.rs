//! Making the first task at boot, without a caller: the same objects, in memory for which nobody
//! holds a capability yet.

use crate::{
    Cap, Id, Kernel, Machine, Slot,
    cap::CapSpace,
    id::{GRANULE, Site},
    slot::Entry,
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
    /// memory does not suffice or was given to a first task before, or if there is no slot `own`.
    pub fn first_task(&mut self, slots: u32, own: u32) -> Option<FirstTask<'_, M>> {
        let [base, size] = self.m.first_memory()?;
        let used = (u64::from(slots) + 1) * GRANULE;
        if slots == 0 || used > size {
            return None;
        }
        let caps = self.place(Site::at(base, used)?, CapSpace::new(slots, 0));
        let region = self.slot(caps, (slots - 1).into()).ok()?;
        let own = self.slot(caps, own.into()).ok()?;
        let held = Entry { rights: right::ALL, ..Entry::default() };
        let rest = Cap::Region { device: false, base, size, used, cleared: size };
        self.m.shared(region).fill(&Entry { cap: rest, original: true, ..held });
        self.m.shared(own).fill(&Entry { cap: Cap::CapSpace(caps), ..held });
        Some(FirstTask { k: self, caps, region })
    }
}

impl<M: Machine> FirstTask<'_, M> {
    fn slot(&mut self, index: u32) -> Result<Id<Slot>> {
        self.k.slot(self.caps, index.into())
    }

    /// What a slot holds; nothing if there is no such slot.
    pub fn cap(&mut self, index: u32) -> Cap {
        self.slot(index).map_or(Cap::None, |slot| self.k.m.shared(slot).cap())
    }

    /// Puts a capability into an empty slot, derived from no other; `WrongKind` for one of an
    /// object, which has its original already.
    ///
    /// The caller vouches for addresses: a region is memory that nobody else uses, or devices;
    /// memory that the kernel uses is given without the right to write.
    pub fn give(&mut self, index: u32, cap: Cap, rights: u8) -> Result<()> {
        use Cap::{IrqControl, Memory, Ports, Region, SchedControl, Trace};
        if !matches!(cap, Region { .. } | Memory { .. } | Ports { .. } | SchedControl | IrqControl | Trace) {
            return Err(Error::WrongKind);
        }
        let slot = self.k.empty_slot(self.caps, index.into())?;
        self.k.m.shared(slot).fill(&Entry { cap, rights, original: true, ..Entry::default() });
        Ok(())
    }

    /// Makes an object out of the task's own memory; see `RegionCreate`.
    pub fn create(&mut self, kind: Kind, size: u64, at: u32) -> Result<()> {
        while !self.k.create(self.region, kind, size, self.caps, at.into())? {}
        Ok(())
    }

    /// Maps memory; see `MemoryMap`.
    pub fn map(&mut self, memory: u32, space: Id<Space>, address: u64, flags: u64) -> Result<()> {
        let memory = self.slot(memory)?;
        while !self.k.map(memory, space, address, flags)? {}
        Ok(())
    }

    /// Starts the thread, which becomes the current one.
    pub fn start(mut self, start: &Start) -> Result<Id<Thread>> {
        let caps = start.slots.map(|index| self.cap(index));
        let [Cap::Thread(thread), Cap::Context(context), Cap::AddressSpace(_)] = caps else {
            return Err(Error::WrongKind);
        };
        let (thread, context) = (self.k.own(thread)?, self.k.own(context)?);
        let space = self.slot(start.slots[2])?;
        let FirstTask { k, caps, .. } = self;
        k.derive_inner(space, thread.place(place::SPACE))?;
        let held = Entry { cap: Cap::CapSpace(caps), rights: right::ALL, ..Entry::default() };
        k.m.shared(thread.place(place::CAPS)).fill(&held);
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
