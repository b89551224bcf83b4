//! Capabilities: what a slot holds, and the derivation tree.
//!
//! The tree is one list in preorder in which each slot knows its depth: the descendants of a slot
//! are the slots that follow it with a greater depth. A slot is deleted only after its descendants.

use crate::{
    Id, Kernel, Machine, Opt, Slot,
    context::Context,
    endpoint::Endpoint,
    home::Homed,
    interrupt::Interrupt,
    notification::Notification,
    slot::{Copied, Entry},
    space::Space,
    thread::Thread,
    timer::Timer,
    vcpu::Vcpu,
};
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use pillion_abi::{
    object::Kind,
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
    /// The memory of a vCPU's shared state, as the vCPU holds it.
    StatePage,
    /// Capability space.
    CapSpace(Id<CapSpace>),
    /// Host address space.
    AddressSpace(Id<Space>),
    /// Nested address space.
    GuestSpace(Id<Space>),
    /// Thread.
    Thread(Homed<Thread>),
    /// Scheduling context.
    Context(Homed<Context>),
    /// Endpoint.
    Endpoint(Homed<Endpoint>),
    /// Notification.
    Notification(Homed<Notification>),
    /// Timer.
    Timer(Homed<Timer>),
    /// Interrupt.
    Interrupt(Homed<Interrupt>),
    /// Virtual CPU.
    Vcpu(Homed<Vcpu>),
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
            Cap::Memory { .. } | Cap::StatePage => Kind::Memory,
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

    /// The home of the object, if it is of a kind that has one.
    pub(crate) const fn home(&self) -> Option<u8> {
        Some(match self {
            Cap::Thread(object) => object.home(),
            Cap::Context(object) => object.home(),
            Cap::Endpoint(object) => object.home(),
            Cap::Notification(object) => object.home(),
            Cap::Timer(object) => object.home(),
            Cap::Interrupt(object) => object.home(),
            Cap::Vcpu(object) => object.home(),
            _ => return None,
        })
    }

    /// A capability for memory that is not mapped.
    pub fn unmapped(device: bool, base: u64, size: u64) -> Cap {
        Cap::Memory { device, base, size, address: 0, space: None, previous: None, next: None }
    }
}

/// A capability space; its slots follow it in memory. What changes is changed by deletions only.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct CapSpace {
    /// Number of slots.
    pub count: u32,
    /// A capability for this space may only be in a space of a lower level, so that spaces never
    /// form a cycle.
    pub level: u8,
    /// The space is being deleted: nothing may be put in any more.
    pub(crate) dying: AtomicBool,
    /// While the space is being deleted: the slots below this index are empty.
    pub(crate) scanned: AtomicU32,
}

const _: () = assert!(size_of::<CapSpace>() == 64);

impl CapSpace {
    /// An empty one.
    pub(crate) const fn new(count: u32, level: u8) -> Self {
        CapSpace { count, level, dying: AtomicBool::new(false), scanned: AtomicU32::new(0) }
    }
}

impl<M: Machine> Kernel<M> {
    /// The slot with an index in a capability space.
    #[inline]
    pub(crate) fn slot(&self, space: Id<CapSpace>, index: u64) -> Result<Id<Slot>> {
        if index < u64::from(self.m.shared(space).count) {
            Ok(space.following(index as u32))
        } else {
            Err(Error::BadCap)
        }
    }

    /// An empty slot that a capability may be put into.
    pub(crate) fn empty_slot(&self, space: Id<CapSpace>, index: u64) -> Result<Id<Slot>> {
        let slot = self.slot(space, index)?;
        if index == 0 || self.m.shared(space).dying.load(Relaxed) {
            return Err(Error::BadArgument);
        }
        if !self.m.shared(slot).is_empty() {
            return Err(Error::SlotTaken);
        }
        Ok(slot)
    }

    /// Puts a capability below another in the tree. O(1).
    pub(crate) fn insert_child(&mut self, parent: Id<Slot>, at: Id<Slot>, entry: Entry) -> Result<()> {
        self.insert(parent, at, |slot, depth, next| {
            slot.fill(&Entry { depth, previous: Some(parent), next, ..entry });
        })
    }

    /// Fills a slot below another one, given its depth and what comes next in the list. O(1).
    #[inline(always)]
    fn insert(&self, parent: Id<Slot>, at: Id<Slot>, fill: impl FnOnce(&Slot, u8, Opt<Slot>)) -> Result<()> {
        let p = self.m.shared(parent);
        let depth = p.depth() + 1;
        if depth > DEPTH {
            return Err(Error::TooDeep);
        }
        let next = p.next();
        p.set_next(Some(at));
        fill(self.m.shared(at), depth, next);
        if let Some(next) = next {
            self.m.shared(next).set_previous(Some(at));
        }
        Ok(())
    }

    /// Whether something was derived from a slot.
    #[inline]
    pub(crate) fn has_child(&self, id: Id<Slot>) -> bool {
        let slot = self.m.shared(id);
        slot.next().is_some_and(|n| self.m.shared(n).depth() > slot.depth())
    }

    /// Empties a slot that has no descendants.
    pub(crate) fn unlink(&mut self, id: Id<Slot>) {
        let (previous, next) = self.m.shared(id).empty();
        if let Some(p) = previous {
            self.m.shared(p).set_next(next);
        }
        if let Some(n) = next {
            self.m.shared(n).set_previous(previous);
        }
    }

    /// Puts a copy of a capability below it in the tree. O(1).
    fn insert_copy(&mut self, source: Id<Slot>, at: Id<Slot>, copy: Copied) -> Result<()> {
        let from = self.m.shared(source);
        if from.is_empty() {
            return Err(Error::BadCap);
        }
        if from.is_region() {
            return Err(Error::WrongKind);
        }
        if copy.badge != 0 && from.look().badge != 0 {
            return Err(Error::BadArgument);
        }
        self.insert(source, at, |slot, depth, next| slot.fill_with_copy(from, &copy, depth, next, source))
    }

    /// Derives a capability. O(1).
    pub(crate) fn derive(&mut self, source: Id<Slot>, at: Id<Slot>, rights: u8, badge: u64) -> Result<()> {
        self.insert_copy(source, at, Copied { rights, badge, ..Copied::ALL })
    }

    /// As [`Self::derive`], for part of the memory or of the ports, as first and size, which the
    /// caller has found to be one.
    pub(crate) fn derive_part(&mut self, source: Id<Slot>, at: Id<Slot>, rights: u8, part: [u64; 2]) -> Result<()> {
        self.insert_copy(source, at, Copied { rights, part: Some(part), ..Copied::ALL })
    }

    /// Derives a capability into a slot that lies in an object of this processor.
    pub(crate) fn derive_inner(&mut self, source: Id<Slot>, at: Id<Slot>) -> Result<()> {
        self.insert_copy(source, at, Copied { within: Some(self.cpu.number), ..Copied::ALL })
    }

    /// As [`Self::derive_inner`], for the page of a vCPU's shared state.
    pub(crate) fn derive_state_page(&mut self, source: Id<Slot>, at: Id<Slot>) -> Result<()> {
        self.insert_copy(source, at, Copied { within: Some(self.cpu.number), is_state_page: true, ..Copied::ALL })
    }

    /// Moves a capability, with its descendants, to another slot. O(1).
    pub(crate) fn move_slot(&mut self, source: Id<Slot>, at: Id<Slot>) -> Result<()> {
        let from = self.m.shared(source);
        if from.is_empty() {
            return Err(Error::BadCap);
        }
        let (previous, next) = from.empty_into(self.m.shared(at));
        if let Some(p) = previous {
            self.m.shared(p).set_next(Some(at));
        }
        if let Some(n) = next {
            self.m.shared(n).set_previous(Some(at));
        }
        self.moved_mapping(at);
        Ok(())
    }

    /// Updates the list of capabilities mapped in a space, which links slots, after a move.
    fn moved_mapping(&mut self, at: Id<Slot>) {
        let Cap::Memory { space: Some(space), previous, next, .. } = self.m.shared(at).cap() else { return };
        match previous {
            Some(p) => self.set_mapped_next(p, Some(at)),
            None => self.m.shared(space).mapped.set(Some(at)),
        }
        if let Some(n) = next {
            self.set_mapped_previous(n, Some(at));
        }
    }

    pub(crate) fn set_mapped_next(&mut self, id: Id<Slot>, to: Opt<Slot>) {
        let slot = self.m.shared(id);
        if let Cap::Memory { previous, .. } = slot.cap() {
            slot.set_mapped_links(previous, to);
        }
    }

    pub(crate) fn set_mapped_previous(&mut self, id: Id<Slot>, to: Opt<Slot>) {
        let slot = self.m.shared(id);
        if let Cap::Memory { next, .. } = slot.cap() {
            slot.set_mapped_links(to, next);
        }
    }

    /// Refuses a capability that may not be in a space; see [`CapSpace::level`].
    pub(crate) fn may_stand_in(&self, cap: Cap, space: Id<CapSpace>) -> Result<()> {
        if let Cap::CapSpace(inner) = cap {
            let level = self.m.shared(inner).level;
            if level <= self.m.shared(space).level {
                return Err(Error::BadArgument);
            }
        }
        Ok(())
    }
}
