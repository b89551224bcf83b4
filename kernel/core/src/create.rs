//! Making objects out of raw memory.

use crate::{
    Cap, Id, Kernel, Machine, Slot,
    away::{Away, Visit},
    cap::{CapSpace, LEVELS},
    context::{Context, Used},
    endpoint::Endpoint,
    home::Homed,
    id::{CONTEXT_BYTES, GRANULE, NOTIFICATION_BYTES, Site, bytes_with_slots},
    interrupt::Interrupt,
    machine::Format,
    notification::Notification,
    post::Post,
    slot::Entry,
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
    Ok(match kind {
        Kind::Region | Kind::Memory if size != 0 && size.is_multiple_of(PAGE) => (size, PAGE),
        Kind::CapSpace if (1..=MAX_SLOTS).contains(&size) => ((size + 1) * GRANULE, GRANULE),
        Kind::AddressSpace | Kind::GuestSpace if (1..=MAX_TABLES).contains(&size) => ((size + 1) * PAGE, PAGE),
        // The size is a processor's number: see `Kernel::plan`.
        Kind::Thread => (THREAD_PAGES * PAGE, PAGE),
        Kind::Vcpu => (VCPU_PAGES * PAGE, PAGE),
        Kind::SchedContext => (CONTEXT_BYTES as u64, GRANULE),
        Kind::Endpoint => (bytes_with_slots::<Endpoint>(1) as u64, GRANULE),
        Kind::Notification => (NOTIFICATION_BYTES as u64, GRANULE),
        Kind::Timer => (bytes_with_slots::<Timer>(1) as u64, GRANULE),
        _ => return Err(Error::BadArgument),
    })
}

/// Whether an object of a kind belongs to a processor.
const fn has_home(kind: Kind) -> bool {
    use Kind::{Endpoint, Interrupt, Notification, SchedContext, Thread, Timer, Vcpu};
    matches!(kind, Thread | SchedContext | Endpoint | Notification | Timer | Interrupt | Vcpu)
}

/// The checked arguments of a `RegionCreate`.
struct Plan {
    region: Id<Slot>,
    device: bool,
    base: u64,
    offset: u64,
    bytes: u64,
}

impl Plan {
    /// Where the object goes; [`Error::NoMemory`] beyond the memory that a handle can name.
    fn site<T>(&self) -> Result<Site<T>> {
        Site::at(self.base + self.offset, self.bytes).ok_or(Error::NoMemory)
    }
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
        let entry = Entry { cap, rights: right::ALL, original: true, ..Entry::default() };
        self.insert_child(region, at, entry)?;
        self.set_used(&plan);
        Ok(true)
    }

    fn plan(&mut self, region: Id<Slot>, kind: Kind, size: u64) -> Result<Plan> {
        let slot = self.m.shared(region).entry();
        let Cap::Region { device, base, size: room, used, .. } = slot.cap else { return Err(Error::WrongKind) };
        if slot.depth >= crate::cap::DEPTH {
            return Err(Error::TooDeep);
        }
        let (bytes, alignment) = extent(kind, size)?;
        if has_home(kind) && !self.runs(size) {
            return Err(Error::BadArgument);
        }
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
            let region = self.m.shared(plan.region);
            let Cap::Region { used, cleared: from, .. } = region.cap() else { return true };
            // Not from the offset on: what is left out for alignment may be used by somebody else,
            // if this is interrupted.
            if from >= end {
                return true;
            }
            let step = CLEAR_STEP.min(end - from);
            region.set_used(used, from + step);
            self.m.clear(plan.base + from, step);
            if self.is_to_stop() {
                return false;
            }
        }
    }

    fn set_used(&mut self, plan: &Plan) {
        let region = self.m.shared(plan.region);
        if let Cap::Region { cleared, .. } = region.cap() {
            let used = plan.offset + plan.bytes;
            region.set_used(used, cleared.max(used));
        }
    }

    fn build(&mut self, plan: &Plan, kind: Kind, size: u64, holder: Id<CapSpace>) -> Result<Cap> {
        let at = plan.base + plan.offset;
        Ok(match kind {
            Kind::Region => Cap::Region { device: plan.device, base: at, size, used: 0, cleared: 0 },
            Kind::Memory => Cap::unmapped(plan.device, at, size),
            Kind::CapSpace => {
                let level = self.m.shared(holder).level + 1;
                if level >= LEVELS {
                    return Err(Error::TooDeep);
                }
                Cap::CapSpace(self.put(plan, CapSpace::new(size as u32, level))?)
            }
            Kind::AddressSpace => Cap::AddressSpace(self.build_space(plan, size, Format::Host)?),
            Kind::GuestSpace => Cap::GuestSpace(self.build_space(plan, size, Format::Nested)?),
            Kind::Thread => Cap::Thread(self.build_thread(plan, size)?),
            Kind::SchedContext => Cap::Context(self.build_context(plan, size)?),
            Kind::Endpoint => Cap::Endpoint(self.put_at_home(plan, size, Endpoint::default())?),
            Kind::Notification => Cap::Notification(self.build_notification(plan, size)?),
            Kind::Timer => Cap::Timer(self.put_at_home(plan, size, Timer::default())?),
            Kind::Vcpu => Cap::Vcpu(self.put_at_home(plan, size, Vcpu::default())?),
            _ => return Err(Error::BadArgument),
        })
    }

    fn build_thread(&mut self, plan: &Plan, home: u64) -> Result<Homed<Thread>> {
        let thread = self.put_at_home(plan, home, Thread::default())?;
        let (id, home) = (thread.beside(), thread.home());
        let away = Site::at(id.away().physical(), size_of::<Away>() as u64).ok_or(Error::NoMemory)?;
        self.m.place(&away, home, Away::new(id, home));
        let visit = Site::at(id.visit().physical(), size_of::<Visit>() as u64).ok_or(Error::NoMemory)?;
        self.m.place(&visit, home, Visit::default());
        Ok(thread)
    }

    fn build_context(&mut self, plan: &Plan, home: u64) -> Result<Homed<Context>> {
        let context = self.put_at_home(plan, home, Context::default())?;
        let used = Site::at(context.beside().used().physical(), size_of::<Used>() as u64).ok_or(Error::NoMemory)?;
        self.m.place(&used, context.home(), Used::default());
        Ok(context)
    }

    fn build_notification(&mut self, plan: &Plan, home: u64) -> Result<Homed<Notification>> {
        let notification = self.put_at_home(plan, home, Notification::default())?;
        let id = notification.beside();
        let post = Site::at(id.post().physical(), size_of::<Post>() as u64).ok_or(Error::NoMemory)?;
        self.m.place(&post, notification.home(), Post::new(id));
        Ok(notification)
    }

    fn build_space(&mut self, plan: &Plan, pages: u64, format: Format) -> Result<Id<Space>> {
        let root = plan.base + plan.offset + PAGE;
        let id = self.put(plan, Space::new(root, pages as u32, format))?;
        self.m.space_init(id);
        Ok(id)
    }

    /// Whether a number is that of a processor that runs a kernel.
    pub(crate) fn runs(&mut self, processor: u64) -> bool {
        u8::try_from(processor).is_ok_and(|p| p == self.cpu.number || self.m.runs(p))
    }

    /// As [`Self::put`], for an object of a processor's, which runs.
    fn put_at_home<T: 'static>(&mut self, plan: &Plan, home: u64, object: T) -> Result<Homed<T>> {
        let (site, home) = (plan.site()?, home as u8);
        self.m.place(&site, home, object);
        Ok(Homed::new(site.occupied(), home))
    }

    /// Puts an object into memory of a region that is cleared and in no other use.
    /// [`Error::NoMemory`] beyond the memory that a handle can name.
    fn put<T: 'static>(&mut self, plan: &Plan, object: T) -> Result<Id<T>> {
        Ok(self.place(plan.site()?, object))
    }

    /// Puts an object that has no home at a site.
    pub(crate) fn place<T: 'static>(&mut self, site: Site<T>, object: T) -> Id<T> {
        self.m.place(&site, 0, object);
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
        let slot = self.m.shared(region).entry();
        let Cap::Region { device: false, base, size, used, .. } = slot.cap else { return Err(Error::WrongKind) };
        let bytes = bytes_with_slots::<Interrupt>(1) as u64;
        if used + bytes > size {
            return Err(Error::NoMemory);
        }
        if slot.depth >= crate::cap::DEPTH {
            return Err(Error::TooDeep);
        }
        let plan = Plan { region, device: false, base, offset: used, bytes };
        self.m.clear(base + used, bytes);
        let (vector, line) = (interrupt.vector, interrupt.line);
        let object = self.put_at_home(&plan, self.cpu.number.into(), interrupt)?;
        let id = self.own(object)?;
        let entry = Entry { cap: Cap::Interrupt(object), rights: right::ALL, original: true, ..Entry::default() };
        self.insert_child(region, at, entry)?;
        self.set_used(&plan);
        self.cpu.vectors[usize::from(vector - pillion_abi::RT_VECTOR_FIRST)] = Some(id);
        if let Some(line) = line {
            self.take_line(line);
        }
        Ok(())
    }
}
