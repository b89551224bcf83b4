//! Capabilities: what a slot holds, and the derivation tree.
//!
//! The tree is one list in preorder in which each slot knows its depth: the descendants of a slot
//! are the slots that follow it with a greater depth. A slot is deleted only after its descendants.

use crate::{
    Id, Kernel, Machine, Opt, context::Context, endpoint::Endpoint, interrupt::Interrupt, notification::Notification,
    space::Space, thread::Thread, timer::Timer, vcpu::Vcpu,
};
use pillion_abi::{
    object::{Kind, right},
    status::{Error, Result},
};

/// Maximum depth of a derivation tree.
pub const DEPTH: u8 = 16;

/// Maximum number of levels of capability spaces; see [`CapSpace::level`].
pub const LEVELS: u8 = 4;

/// What a slot holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cap {
    /// Nothing.
    #[default]
    None,
    /// Raw memory.
    Region {
        /// Device memory.
        device: bool,
        /// Physical address.
        base: u64,
        /// Bytes.
        size: u64,
        /// Bytes from the base on that are in use.
        used: u64,
        /// Bytes from the base on that are in use or hold zeros.
        cleared: u64,
    },
    /// Memory that can be mapped.
    Memory {
        /// Device memory.
        device: bool,
        /// Physical address.
        base: u64,
        /// Bytes.
        size: u64,
        /// Where it is mapped, if `space` is set.
        address: u64,
        /// Space that it is mapped in.
        space: Opt<Space>,
        /// Previous in the list of capabilities mapped in that space.
        previous: Opt<Slot>,
        /// Next in that list.
        next: Opt<Slot>,
    },
    /// Capability space.
    CapSpace(Id<CapSpace>),
    /// Host address space.
    AddressSpace(Id<Space>),
    /// Nested address space.
    GuestSpace(Id<Space>),
    /// Thread.
    Thread(Id<Thread>),
    /// Scheduling context.
    Context(Id<Context>),
    /// Endpoint.
    Endpoint(Id<Endpoint>),
    /// Notification.
    Notification(Id<Notification>),
    /// Timer.
    Timer(Id<Timer>),
    /// Interrupt.
    Interrupt(Id<Interrupt>),
    /// Virtual CPU.
    Vcpu(Id<Vcpu>),
    /// I/O ports.
    Ports {
        /// First port.
        first: u16,
        /// How many, at most 65,536.
        count: u32,
    },
    /// Authority over priorities and budgets.
    SchedControl,
    /// Authority over interrupt lines.
    IrqControl,
    /// Trace buffer and log.
    Trace,
}

impl Cap {
    /// Whether it is nothing.
    #[inline(always)]
    #[must_use]
    pub const fn is_none(&self) -> bool {
        matches!(self, Cap::None)
    }

    /// Kind as user code sees it.
    pub fn kind(&self) -> Kind {
        match self {
            Cap::None => Kind::None,
            Cap::Region { .. } => Kind::Region,
            Cap::Memory { .. } => Kind::Memory,
            Cap::CapSpace(_) => Kind::CapSpace,
            Cap::AddressSpace(_) => Kind::AddressSpace,
            Cap::GuestSpace(_) => Kind::GuestSpace,
            Cap::Thread(_) => Kind::Thread,
            Cap::Context(_) => Kind::SchedContext,
            Cap::Endpoint(_) => Kind::Endpoint,
            Cap::Notification(_) => Kind::Notification,
            Cap::Timer(_) => Kind::Timer,
            Cap::Interrupt(_) => Kind::Interrupt,
            Cap::Vcpu(_) => Kind::Vcpu,
            Cap::Ports { .. } => Kind::Ports,
            Cap::SchedControl => Kind::SchedControl,
            Cap::IrqControl => Kind::IrqControl,
            Cap::Trace => Kind::Trace,
        }
    }

    /// The capability as a new copy holds it: memory is not mapped through the copy.
    fn copied(self) -> Cap {
        match self {
            Cap::Memory { device, base, size, .. } => Cap::unmapped(device, base, size),
            other => other,
        }
    }

    /// A capability for memory that is not mapped.
    pub fn unmapped(device: bool, base: u64, size: u64) -> Cap {
        Cap::Memory { device, base, size, address: 0, space: None, previous: None, next: None }
    }
}

/// A place for a capability.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
pub struct Slot {
    /// What it holds.
    pub cap: Cap,
    /// Badge, 0 when none was given.
    pub badge: u64,
    /// Rights as in [`right`].
    pub rights: u8,
    /// Whether this is the object's original capability: the object is deleted with it.
    pub original: bool,
    /// Distance from the root of its tree.
    pub depth: u8,
    /// The mapping is being taken away: nothing is mapped anew until it is gone.
    pub unmapping: bool,
    /// Pages from the capability's mapping address on that are mapped.
    pub mapped_pages: u32,
    /// Previous in the derivation list.
    pub previous: Opt<Slot>,
    /// Next in the derivation list.
    pub next: Opt<Slot>,
}

const _: () = assert!(size_of::<Slot>() == 64);

/// A capability space; its slots follow it in memory.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct CapSpace {
    /// Number of slots.
    pub count: u32,
    /// A capability for this space may only be in a space of a lower level, so that spaces never
    /// form a cycle.
    pub level: u8,
    /// The space is being deleted: nothing may be put in any more.
    pub dying: bool,
    /// While the space is being deleted: the slots below this index are empty.
    pub scanned: u32,
}

const _: () = assert!(size_of::<CapSpace>() == 64);

impl<M: Machine> Kernel<M> {
    /// The slot with an index in a capability space.
    #[inline]
    pub(crate) fn slot(&mut self, space: Id<CapSpace>, index: u64) -> Result<Id<Slot>> {
        if index < u64::from(self.m.get(space).count) { Ok(space.following(index as u32)) } else { Err(Error::BadCap) }
    }

    /// An empty slot that a capability may be put into.
    pub(crate) fn empty_slot(&mut self, space: Id<CapSpace>, index: u64) -> Result<Id<Slot>> {
        let slot = self.slot(space, index)?;
        if index == 0 || self.m.get(space).dying {
            return Err(Error::BadArgument);
        }
        if !self.m.get(slot).cap.is_none() {
            return Err(Error::SlotTaken);
        }
        Ok(slot)
    }

    /// Puts a capability below another in the tree. O(1).
    pub(crate) fn insert_child(&mut self, parent: Id<Slot>, at: Id<Slot>, mut slot: Slot) -> Result<()> {
        let p = self.m.get(parent);
        let depth = p.depth + 1;
        if depth > DEPTH {
            return Err(Error::TooDeep);
        }
        let next = p.next;
        p.next = Some(at);
        slot.depth = depth;
        slot.previous = Some(parent);
        slot.next = next;
        *self.m.get(at) = slot;
        if let Some(next) = next {
            self.m.get(next).previous = Some(at);
        }
        Ok(())
    }

    /// Whether something was derived from a slot.
    #[inline]
    pub(crate) fn has_child(&mut self, id: Id<Slot>) -> bool {
        let Slot { depth, next, .. } = *self.m.get(id);
        next.is_some_and(|n| self.m.get(n).depth > depth)
    }

    /// Empties a slot that has no descendants.
    pub(crate) fn unlink(&mut self, id: Id<Slot>) {
        let slot = core::mem::take(self.m.get(id));
        if let Some(p) = slot.previous {
            self.m.get(p).next = slot.next;
        }
        if let Some(n) = slot.next {
            self.m.get(n).previous = slot.previous;
        }
    }

    /// Derives a capability. O(1).
    pub(crate) fn derive(&mut self, source: Id<Slot>, at: Id<Slot>, rights: u8, badge: u64) -> Result<()> {
        let from = *self.m.get(source);
        match from.cap {
            Cap::None => return Err(Error::BadCap),
            Cap::Region { .. } => return Err(Error::WrongKind),
            _ => {}
        }
        if badge != 0 && from.badge != 0 {
            return Err(Error::BadArgument);
        }
        let slot =
            Slot { cap: from.cap.copied(), badge: from.badge | badge, rights: from.rights & rights, ..Slot::default() };
        self.insert_child(source, at, slot)
    }

    /// Derives a capability into a slot inside an object.
    pub(crate) fn derive_inner(&mut self, source: Id<Slot>, at: Id<Slot>) -> Result<()> {
        self.derive(source, at, right::ALL, 0)
    }

    /// Moves a capability, with its descendants, to another slot. O(1).
    pub(crate) fn move_slot(&mut self, source: Id<Slot>, at: Id<Slot>) -> Result<()> {
        let slot = core::mem::take(self.m.get(source));
        if slot.cap.is_none() {
            return Err(Error::BadCap);
        }
        *self.m.get(at) = slot;
        if let Some(p) = slot.previous {
            self.m.get(p).next = Some(at);
        }
        if let Some(n) = slot.next {
            self.m.get(n).previous = Some(at);
        }
        self.moved_mapping(at, slot.cap);
        Ok(())
    }

    /// Updates the list of capabilities mapped in a space, which links slots, after a move.
    fn moved_mapping(&mut self, at: Id<Slot>, cap: Cap) {
        let Cap::Memory { space: Some(space), previous, next, .. } = cap else { return };
        match previous {
            Some(p) => self.set_mapped_next(p, Some(at)),
            None => self.m.get(space).mapped = Some(at),
        }
        if let Some(n) = next {
            self.set_mapped_previous(n, Some(at));
        }
    }

    pub(crate) fn set_mapped_next(&mut self, id: Id<Slot>, to: Opt<Slot>) {
        if let Cap::Memory { next, .. } = &mut self.m.get(id).cap {
            *next = to;
        }
    }

    pub(crate) fn set_mapped_previous(&mut self, id: Id<Slot>, to: Opt<Slot>) {
        if let Cap::Memory { previous, .. } = &mut self.m.get(id).cap {
            *previous = to;
        }
    }

    /// Refuses a capability that may not be in a space; see [`CapSpace::level`].
    pub(crate) fn may_stand_in(&mut self, cap: Cap, space: Id<CapSpace>) -> Result<()> {
        if let Cap::CapSpace(inner) = cap {
            let level = self.m.get(inner).level;
            if level <= self.m.get(space).level {
                return Err(Error::BadArgument);
            }
        }
        Ok(())
    }
}
