//! The kernel's logic on the real machine: objects in the direct map, registers, page tables,
//! devices.

pub mod arena;
mod devices;
mod guests;
mod spaces;
mod threads;

use crate::arch::{self, Cpu, Frame, SegmentBases, clock, direct, fpu, kernel_root, segment_base};
use crate::{
    lock, shootdown,
    trace::{self, Counters, trace},
    virtualisation,
};
use core::sync::atomic::AtomicBool;
use pillion_abi::PAGE;
use pillion_core::{
    Id, Slot,
    context::{Context, Used},
    id::{GRANULE, Site},
    machine::{Devices as _, HasSlots, Local, Objects, Shared, Time},
    space::Space,
    thread::Thread,
};
use pillion_post::Receiver;

/// Where the parts of a thread's page lie.
mod thread_page {
    pub const FRAME: u64 = 832;
    pub const BASES: u64 = 1008;
    pub const FPU: u64 = 1024;
}

const _: () = assert!(arch::MAX_CPUS <= pillion_core::slot::PROCESSORS);
const _: () = assert!(pillion_core::id::THREAD_BYTES as u64 <= thread_page::FRAME);
const _: () = assert!(thread_page::FRAME + size_of::<Frame>() as u64 <= thread_page::BASES);
const _: () = assert!(thread_page::BASES + size_of::<SegmentBases>() as u64 <= thread_page::FPU);
const _: () = assert!(thread_page::FPU + fpu::AREA_LIMIT as u64 <= PAGE);

/// The machine as one CPU sees it.
#[derive(Debug)]
pub struct Hardware {
    /// The CPU's own structure.
    pub cpu: Cpu,
    /// Vector taken at a preemption point, to be handled on the way out.
    pub pending: Option<u8>,
    /// Whether translations of guests have to be dropped before one runs.
    pub flush: &'static AtomicBool,
    /// Letters from other processors.
    pub post: Receiver,
    /// What is counted where several processors run.
    pub counters: &'static Counters,
    /// The thread whose frame and bases are loaded.
    running: Option<Id<Thread>>,
    /// The area that the FPU's registers belong to.
    fpu_owner: Option<fpu::Area>,
    /// The first task's thread.
    pub first: Option<Id<Thread>>,
    /// Takes the bases that are saved when the first thread is loaded; never used again.
    nobody: SegmentBases,
}

impl Hardware {
    /// The machine as the boot code leaves it.
    ///
    /// # Safety
    /// Called once per CPU: what it leads to is reached through this value only.
    pub unsafe fn new(cpu: Cpu) -> Hardware {
        Hardware {
            cpu,
            pending: None,
            flush: virtualisation::flush_flag(cpu),
            post: Receiver::new(),
            counters: trace::counters(),
            running: None,
            fpu_owner: None,
            first: None,
            nobody: SegmentBases::default(),
        }
    }

    /// Makes the next exit to user mode lead to a thread, in its address space.
    #[inline(always)]
    pub fn switch_to(&mut self, thread: Id<Thread>, space: Id<Space>) {
        // Kept in a register: to the compiler, what follows may change all memory several times.
        let cpu = self.cpu;
        let root = self.shared(space).root;
        // SAFETY: the space lives, its upper half was copied from the kernel's, and `space_drop`
        // leaves it before it ends.
        cpu.shown().load_space(root, || unsafe { arch::paging::switch_to(root) });
        if self.running != Some(thread) {
            self.load(cpu, thread);
        }
    }

    /// Leaves the address space that is loaded, if one is.
    #[cold]
    pub fn leave_space(&mut self) {
        // SAFETY: the kernel's own root.
        unsafe { arch::paging::switch_to(kernel_root()) };
        self.cpu.shown().hide_space();
    }

    /// The vector that was taken to be handled on the way out, or is now.
    #[inline]
    pub fn interrupt_taken(&mut self) -> Option<u8> {
        if self.pending.is_none() {
            trace!(Window, 0u64, 0u64);
            self.pending = arch::take_pending_interrupt(self.cpu);
        }
        self.pending
    }

    #[inline(always)]
    fn load(&mut self, cpu: Cpu, thread: Id<Thread>) {
        let bases = |t: Id<Thread>| direct::<SegmentBases>(t.physical() + thread_page::BASES);
        let old = self.running.map_or(&raw mut self.nobody, bases);
        // SAFETY: both lie in pages of living threads (`drop_fpu` forgets a deleted one), or in
        // `self`, and differ. What is loaded was saved by the same function, or is the zero that a
        // thread begins with.
        unsafe { segment_base::switch(&mut *old, &*bases(thread)) };
        self.running = Some(thread);
        // SAFETY: the frame stays valid until the thread is deleted; by then another one is chosen
        // or the CPU is idle.
        unsafe { cpu.set_frame(Self::frame_pointer(thread)) };
    }

    /// Keeps the next thread from the FPU.
    #[inline(always)]
    pub fn shut_fpu(&mut self) {
        fpu::set_ts(self.cpu);
    }

    /// Lets the FPU be used. Returns whether the state in an area is loaded.
    #[inline(always)]
    pub fn opens_fpu(&mut self, area: fpu::Area) -> bool {
        fpu::clear_ts(self.cpu);
        self.fpu_owner == Some(area)
    }

    /// Loads the FPU state in an area, unless it is loaded already.
    #[inline(always)]
    pub fn load_fpu(&mut self, area: fpu::Area) {
        if !self.opens_fpu(area) {
            self.change_fpu(area);
        }
    }

    /// Loads the FPU state in an area, when the FPU is on. The state that it replaces is saved to
    /// its own area first; the owner is forgotten when its object ends.
    #[inline(always)]
    pub fn change_fpu(&mut self, area: fpu::Area) {
        // SAFETY: the FPU is on; what is in the registers is the owner's, or nobody's.
        unsafe {
            if let Some(owner) = self.fpu_owner {
                owner.save();
            }
            area.restore();
        }
        self.fpu_owner = Some(area);
    }

    /// Saves the FPU state that is loaded, so that whoever goes on loads its own.
    #[cold]
    pub fn leave_fpu(&mut self) {
        fpu::clear_ts(self.cpu);
        if let Some(owner) = self.fpu_owner.take() {
            // SAFETY: the FPU is on; what is in the registers is the owner's.
            unsafe { owner.save() };
        }
    }
}

impl Objects for Hardware {
    #[inline]
    fn get<T: Local>(&mut self, id: Id<T>) -> &mut T {
        // SAFETY: a handle is made only by `place`, or for what lies behind an object so made, and
        // objects are deleted through the capability tree before their memory is used again. Of an
        // object of this kind only its home, and of what a thread is away with only its holder,
        // makes a reference, and `&mut self` lets only one live at a time there.
        unsafe { &mut *direct::<T>(id.physical()) }
    }

    #[inline]
    fn shared<T: Shared>(&self, id: Id<T>) -> &T {
        // SAFETY: as in `get`, the object lives. There are only such references to it.
        unsafe { &*direct::<T>(id.physical()) }
    }

    #[inline]
    fn used(&self, context: Id<Context>) -> &Used {
        // SAFETY: as in `shared`: the core placed it there with the context.
        unsafe { &*direct::<Used>(context.physical() + Used::AT) }
    }

    #[inline]
    fn slot_behind<T: HasSlots>(&self, id: Id<T>, granules: u64) -> &Slot {
        // SAFETY: as in `shared`: that is where the core has the slots of such an object, which are
        // empty while they consist of zeros.
        unsafe { &*direct::<Slot>(id.physical() + granules * GRANULE) }
    }

    fn place<T: 'static>(&mut self, site: &Site<T>, _home: u8, object: T) {
        let physical = site.physical();
        // SAFETY: the memory came from a region, is RAM, cleared, aligned and in no other use (see
        // `create`).
        unsafe { direct::<T>(physical).write(object) };
        if core::any::TypeId::of::<T>() == core::any::TypeId::of::<Thread>() {
            // SAFETY: as above: the page is the thread's.
            unsafe {
                direct::<Frame>(physical + thread_page::FRAME).write(Frame::new());
                direct::<SegmentBases>(physical + thread_page::BASES).write(SegmentBases::default());
                fpu::Area::at(physical + thread_page::FPU).reset();
            }
        }
    }

    fn first_memory(&mut self) -> Option<[u64; 2]> {
        arena::take()
    }

    fn forget<T: 'static>(&mut self, _: Id<T>) {}

    fn clear(&mut self, physical: u64, bytes: u64) {
        // SAFETY: the bytes are RAM of a region and belong to no object.
        unsafe { direct::<u8>(physical).write_bytes(0, bytes as usize) };
    }
}

impl Time for Hardware {
    #[inline]
    fn now(&mut self) -> u64 {
        clock::now()
    }

    #[inline(always)]
    fn program_timer(&mut self, deadline: u64) {
        clock::program_deadline(deadline);
    }

    fn interrupt_pending(&mut self) -> bool {
        self.interrupt_taken().is_some() || self.several() && (lock::tree_is_wanted() || !shootdown::is_over())
    }

    fn has_taken_interrupt(&self) -> bool {
        self.pending.is_some()
    }
}
