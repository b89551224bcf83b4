//! Objects for the tests, made out of one region that is reset after each test.

use crate::{Checked, done, failure, image::Segments, thread::Stacks};
use core::arch::x86_64::__cpuid;
use pillion_abi::{
    NEVER,
    boot::{self, BootInfo, Processor, processor_state::RUNS, slot},
    call::irq,
    object::{Kind, map, right},
    status::Result,
};
use pillion_runtime::{
    Cap, cap_delete, cap_derive, cap_identify, context_configure, log, memory_map, now, region_create, region_reset,
    sleep,
};

/// Slots of the capability space that a test's threads use.
pub const WORKER_SLOTS: u64 = 1024;

/// First slot after those that the kernel fills; a few are kept for all tests.
pub(crate) const OWN: Cap = slot::REGIONS + boot::REGIONS as Cap;

/// First slot that a test may use.
const FIRST_SLOT: Cap = OWN + 8;
/// Last slot that a test may use.
pub const LAST_SLOT: Cap = WORKER_SLOTS as Cap - 1;

/// Slots of the region that tests use, and of the capability space of their threads.
const ARENA: Cap = OWN;
const WORKERS: Cap = OWN + 1;
const ARENA_SIZE: u64 = 32 << 20;

/// Where the memory of tests is mapped; the next test uses the page tables made there again.
pub const FIRST_ADDRESS: u64 = 0x80_0000_0000;

/// Priority of the task itself.
pub(crate) const PRIORITY: u8 = 100;

/// Whether objects of this kind belong to a processor.
const fn has_home(kind: Kind) -> bool {
    use Kind::{Endpoint, Notification, SchedContext, Thread, Timer, Vcpu};
    matches!(kind, Thread | SchedContext | Endpoint | Notification | Timer | Vcpu)
}

/// The processor that this is.
fn processor(info: &BootInfo) -> u64 {
    let apic_id = __cpuid(1).ebx >> 24;
    let this = info.processors.iter().find(|p| p.state == RUNS && p.apic_id == apic_id);
    this.map_or(0, |p| p.number.into())
}

/// The source of objects.
pub struct Kit {
    /// The kernel's boot information.
    pub info: &'static BootInfo,
    pub(crate) stacks: Stacks,
    pub(crate) segments: Segments,
    /// The region that the tests' region is made of.
    pub(crate) ram: Cap,
    /// The processor that this thread runs on.
    home: u64,
    next: Cap,
    next_address: u64,
}

impl Kit {
    /// Takes over the machine.
    ///
    /// # Safety
    /// The kernel started this task, the first one, with `argument`.
    pub unsafe fn new(argument: u64) -> Option<Kit> {
        log::use_kernel(slot::TRACE);
        // SAFETY: the kernel maps this structure, read-only, and gives the first task its address.
        let info = unsafe { &*(argument as *const BootInfo) };
        let large = |i: &usize| info.regions[*i].kind == 1 && info.regions[*i].size >= 4 * ARENA_SIZE;
        let ram = (0..info.region_count as usize).find(large)?;
        let ram = slot::REGIONS + ram as Cap;
        region_create(ram, Kind::Region, ARENA_SIZE, ARENA).ok()?;
        context_configure(slot::SCHED_CONTROL, slot::CONTEXT, PRIORITY, NEVER, 0, 0).ok()?;
        let segments = Segments::find(info)?;
        let (home, stacks) = (processor(info), Stacks::default());
        Some(Kit { info, segments, stacks, ram, home, next: FIRST_SLOT, next_address: FIRST_ADDRESS })
    }

    /// The number of a processor. Tests count from the one that they run on, and after the last one
    /// comes the first.
    pub fn number(&self, processor: u64) -> u64 {
        if processor < self.info.cpus { (processor + self.home) % self.info.cpus } else { processor }
    }

    /// The number of a processor's local APIC.
    pub fn apic_id(&self, processor: u64) -> u32 {
        let is_it = |p: &&Processor| p.state == RUNS && u64::from(p.number) == self.number(processor);
        self.info.processors.iter().find(is_it).map_or(u32::MAX, |p| p.apic_id)
    }

    /// Flags of an interrupt for a processor.
    pub fn interrupts(&self, processor: u64) -> u64 {
        self.number(processor) << irq::HOME_SHIFT
    }

    /// Makes the objects that every test needs.
    pub fn begin(&mut self) -> Checked {
        done!(region_create(ARENA, Kind::CapSpace, WORKER_SLOTS, WORKERS));
        Ok(())
    }

    /// Ends everything that a test has made.
    pub fn end(&mut self) -> Checked {
        // The last first: threads before the spaces that they run in.
        for slot in (FIRST_SLOT..self.next).rev() {
            done!(cap_delete(0, slot));
        }
        done!(region_reset(ARENA));
        for slot in FIRST_SLOT..self.next {
            let kind = done!(cap_identify(slot))[0];
            if kind != 0 {
                return Err(failure!("slot {slot} outlived its region: {kind:#x}"));
            }
        }
        (self.next, self.stacks, self.next_address) = (FIRST_SLOT, Stacks::default(), FIRST_ADDRESS);
        Ok(())
    }

    /// Region that objects are made from.
    pub fn region(&self) -> Cap {
        ARENA
    }

    /// Capability space of threads; what [`Kit::make`] makes has the same slot number in it.
    pub fn workers(&self) -> Cap {
        WORKERS
    }

    /// Takes an empty slot.
    pub fn slot(&mut self) -> Cap {
        self.next += 1;
        self.next - 1
    }

    /// Makes an object. What belongs to a processor has its home for a size, as [`Kit::number`]
    /// has it.
    pub fn make(&mut self, kind: Kind, size: u64) -> Result<Cap> {
        let at = self.slot();
        let size = if has_home(kind) { self.number(size) } else { size };
        region_create(ARENA, kind, size, at)?;
        if !matches!(kind, Kind::Region | Kind::CapSpace) {
            self.grant(at)?;
        }
        Ok(at)
    }

    /// Gives a capability to the threads of the test.
    pub fn grant(&mut self, cap: Cap) -> Result<()> {
        cap_derive(WORKERS, cap, cap, right::ALL, 0).map(|_| ())
    }

    /// Derives a capability with a badge.
    pub fn badged(&mut self, cap: Cap, badge: u64) -> Result<Cap> {
        let at = self.slot();
        cap_derive(0, at, cap, right::ALL, badge)?;
        self.grant(at)?;
        Ok(at)
    }

    /// Derives a capability with some rights.
    pub fn limited(&mut self, cap: Cap, rights: u8) -> Result<Cap> {
        let at = self.slot();
        cap_derive(0, at, cap, rights, 0)?;
        Ok(at)
    }

    /// Makes an address space that shows this task's image.
    pub fn space(&mut self) -> Result<Cap> {
        let space = self.make(Kind::AddressSpace, 24)?;
        let next = &mut self.next;
        self.segments.map(space, || {
            *next += 1;
            *next - 1
        })?;
        Ok(space)
    }

    /// Takes an address at which nothing was mapped yet, a multiple of 16 MiB.
    pub fn address(&mut self) -> u64 {
        self.next_address += 16 << 20;
        self.next_address
    }

    /// Makes memory and maps it in this task's space; writable memory is zeroed.
    pub fn memory(&mut self, size: u64, flags: u64) -> Result<(Cap, u64)> {
        let (memory, address) = (self.make(Kind::Memory, size)?, self.address());
        memory_map(memory, slot::ADDRESS_SPACE, address, flags)?;
        if flags & map::WRITE != 0 {
            // SAFETY: mapped just now, at an address where nothing else is.
            unsafe { (address as *mut u8).write_bytes(0, size as usize) };
        }
        Ok((memory, address))
    }

    /// Lets threads of lower priority run for a while.
    pub fn rest(&self, ticks: u64) {
        let _ = sleep(now() + ticks);
    }
}
