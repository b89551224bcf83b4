//! Making objects out of raw memory.

use crate::{
    Cap, Id, Kernel, Machine, Slot,
    cap::{CapSpace, LEVELS},
    context::Context,
    endpoint::Endpoint,
    id::{GRANULE, Site},
    interrupt::Interrupt,
    machine::Format,
    notification::Notification,
    space::Space,
    thread::Thread,
    timer::Timer,
    vcpu::Vcpu,
};
use pillion_abi::{
    PAGE,
    object::{Kind, right},
    status::{Error, Result},
};

/// Bytes that are cleared between two preemption points.
pub const CLEAR_STEP: u64 = 1024;

/// Pages of a thread: the object, its registers, its FPU state.
pub const THREAD_PAGES: u64 = 1;

/// Pages of a vCPU: the object and, after it, what the processor needs.
pub const VCPU_PAGES: u64 = 9;

/// Maximum number of slots of a capability space.
const MAX_SLOTS: u64 = 1 << 16;

/// Maximum number of table pages of an address space.
const MAX_TABLES: u64 = 1 << 14;

/// Size in bytes and alignment of an object of a kind.
fn extent(kind: Kind, size: u64) -> Result<(u64, u64)> {
    let small = |bytes: usize| (bytes as u64).next_multiple_of(GRANULE);
    Ok(match kind {
        Kind::Region | Kind::Memory if size != 0 && size.is_multiple_of(PAGE) => (size, PAGE),
        Kind::CapSpace if (1..=MAX_SLOTS).contains(&size) => ((size + 1) * GRANULE, GRANULE),
        Kind::AddressSpace | Kind::GuestSpace if (1..=MAX_TABLES).contains(&size) => ((size + 1) * PAGE, PAGE),
        Kind::Thread => (THREAD_PAGES * PAGE, PAGE),
        Kind::Vcpu => (VCPU_PAGES * PAGE, PAGE),
        Kind::SchedContext => (small(size_of::<Context>()), GRANULE),
        Kind::Endpoint => (small(size_of::<Endpoint>()), GRANULE),
        Kind::Notification => (small(size_of::<Notification>()), GRANULE),
        Kind::Timer => (small(size_of::<Timer>()), GRANULE),
        _ => return Err(Error::BadArgument),
    })
}

/// The checked arguments of a `RegionCreate`.
struct Plan {
    region: Id<Slot>,
    device: bool,
    base: u64,
    offset: u64,
    bytes: u64,
}

impl<M: Machine> Kernel<M> {
    /// Makes an object. Returns false when it was interrupted while clearing memory and must be
    /// called again.
    pub(crate) fn create(
        &mut self,
        region: Id<Slot>,
        kind: Kind,
        size: u64,
        space: Id<CapSpace>,
        destination: u64,
    ) -> Result<bool> {
        let at = self.empty_slot(space, destination)?;
        let plan = self.plan(region, kind, size)?;
        if !matches!(kind, Kind::Region | Kind::Memory) && !self.clear_region(&plan) {
            return Ok(false);
        }
        let cap = self.build(&plan, kind, size, space)?;
        let slot = Slot { cap, rights: right::ALL, original: true, ..Slot::default() };
        self.insert_child(region, at, slot)?;
        self.set_used(&plan);
        Ok(true)
    }

    fn plan(&mut self, region: Id<Slot>, kind: Kind, size: u64) -> Result<Plan> {
        let slot = *self.m.get(region);
        let Cap::Region { device, base, size: room, used, .. } = slot.cap else { return Err(Error::WrongKind) };
        if slot.depth >= crate::cap::DEPTH {
            return Err(Error::TooDeep);
        }
        let (bytes, alignment) = extent(kind, size)?;
        if device && !matches!(kind, Kind::Region | Kind::Memory) {
            return Err(Error::BadArgument);
        }
        let offset = used.next_multiple_of(alignment);
        let end = offset.checked_add(bytes).ok_or(Error::BadArgument)?;
        if end > room {
            return Err(Error::NoMemory);
        }
        Ok(Plan { region, device, base, offset, bytes })
    }

    fn clear_region(&mut self, plan: &Plan) -> bool {
        let end = plan.offset + plan.bytes;
        loop {
            let Cap::Region { cleared, .. } = &mut self.m.get(plan.region).cap else { return true };
            // Not from the offset on: what is left out for alignment may be used by somebody else,
            // if this is interrupted.
            let from = *cleared;
            if from >= end {
                return true;
            }
            let step = CLEAR_STEP.min(end - from);
            *cleared = from + step;
            self.m.clear(plan.base + from, step);
            if self.m.interrupt_pending() {
                return false;
            }
        }
    }

    fn set_used(&mut self, plan: &Plan) {
        if let Cap::Region { used, cleared, .. } = &mut self.m.get(plan.region).cap {
            *used = plan.offset + plan.bytes;
            *cleared = (*cleared).max(*used);
        }
    }

    fn build(&mut self, plan: &Plan, kind: Kind, size: u64, holder: Id<CapSpace>) -> Result<Cap> {
        let at = plan.base + plan.offset;
        Ok(match kind {
            Kind::Region => Cap::Region { device: plan.device, base: at, size, used: 0, cleared: 0 },
            Kind::Memory => Cap::unmapped(plan.device, at, size),
            Kind::CapSpace => {
                let level = self.m.get(holder).level + 1;
                if level >= LEVELS {
                    return Err(Error::TooDeep);
                }
                let space = CapSpace { count: size as u32, level, dying: false, scanned: 0 };
                Cap::CapSpace(self.put(plan, space)?)
            }
            Kind::AddressSpace => Cap::AddressSpace(self.build_space(plan, size, Format::Host)?),
            Kind::GuestSpace => Cap::GuestSpace(self.build_space(plan, size, Format::Nested)?),
            Kind::Thread => Cap::Thread(self.put(plan, Thread::default())?),
            Kind::SchedContext => Cap::Context(self.put(plan, Context::default())?),
            Kind::Endpoint => Cap::Endpoint(self.put(plan, Endpoint::default())?),
            Kind::Notification => Cap::Notification(self.put(plan, Notification::default())?),
            Kind::Timer => Cap::Timer(self.put(plan, Timer::default())?),
            Kind::Vcpu => Cap::Vcpu(self.put(plan, Vcpu::default())?),
            _ => return Err(Error::BadArgument),
        })
    }

    fn build_space(&mut self, plan: &Plan, pages: u64, format: Format) -> Result<Id<Space>> {
        let root = plan.base + plan.offset + PAGE;
        let space = Space { root, pages: pages as u32, used: 1, format, mapped: None };
        let id = self.put(plan, space)?;
        self.m.space_init(id);
        Ok(id)
    }

    /// Puts an object into memory of a region that is cleared and in no other use.
    /// [`Error::NoMemory`] beyond the memory that a handle can name.
    fn put<T: 'static>(&mut self, plan: &Plan, object: T) -> Result<Id<T>> {
        let site = Site::at(plan.base + plan.offset, plan.bytes).ok_or(Error::NoMemory)?;
        Ok(self.place(site, object))
    }

    /// Puts an object at a site; only here a site becomes a handle.
    pub(crate) fn place<T: 'static>(&mut self, site: Site<T>, object: T) -> Id<T> {
        self.m.place(&site, object);
        site.occupied()
    }

    /// Makes an interrupt out of a region's memory, which is small and cleared in one step.
    pub(crate) fn create_interrupt(
        &mut self,
        region: Id<Slot>,
        space: Id<CapSpace>,
        destination: u64,
        interrupt: Interrupt,
    ) -> Result<()> {
        let at = self.empty_slot(space, destination)?;
        let slot = *self.m.get(region);
        let Cap::Region { device: false, base, size, used, .. } = slot.cap else { return Err(Error::WrongKind) };
        let bytes = (size_of::<Interrupt>() as u64).next_multiple_of(GRANULE);
        if used + bytes > size {
            return Err(Error::NoMemory);
        }
        if slot.depth >= crate::cap::DEPTH {
            return Err(Error::TooDeep);
        }
        let plan = Plan { region, device: false, base, offset: used, bytes };
        self.m.clear(base + used, bytes);
        let (vector, line) = (interrupt.vector, interrupt.line);
        let id = self.put(&plan, interrupt)?;
        let slot = Slot { cap: Cap::Interrupt(id), rights: right::ALL, original: true, ..Slot::default() };
        self.insert_child(region, at, slot)?;
        self.set_used(&plan);
        self.cpu.vectors[usize::from(vector - pillion_abi::RT_VECTOR_FIRST)] = Some(id);
        if let Some(line) = line {
            self.take_line(line);
        }
        Ok(())
    }
}
