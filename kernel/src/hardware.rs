//! The kernel's logic on the real machine: objects in the direct map, registers, page tables, devices.

use crate::arch::{
    self, Cpu, Frame, HastyLog, SegmentBases, apic, clock, direct, fpu, ioapic, kernel_root, mode,
    paging::PageTables,
    port, segment_base, serial,
    virt::{self, Vcpu as Processor},
};
use crate::{trace::trace, virtualisation};
use core::fmt::Write as _;
use pillion_abi::{
    NEVER, PAGE,
    call::thread,
    status::{Error, Result},
    vcpu::{State, route},
};
use pillion_core::{
    Id, Machine,
    id::Site,
    machine::{Format, Message},
    space::Space,
    thread::Thread,
    vcpu::Vcpu,
    x86_64::{apic::GuestApic, paging::Flags},
};

/// Where the parts of a thread's page lie.
mod thread_page {
    pub const FRAME: u64 = 832;
    pub const BASES: u64 = 1008;
    pub const FPU: u64 = 1024;
}

/// Address-space numbers of guests; 0 is the host's.
mod asid {
    pub const PASSENGER: u32 = 1;
    pub const USER: u32 = 2;
}

/// Where the processor's part of a vCPU lies in its first page.
const VCPU_PART: u64 = 2048;

const _: () = assert!(size_of::<Thread>() as u64 <= thread_page::FRAME);
const _: () = assert!(thread_page::FRAME + size_of::<Frame>() as u64 <= thread_page::BASES);
const _: () = assert!(thread_page::BASES + size_of::<SegmentBases>() as u64 <= thread_page::FPU);
const _: () = assert!(thread_page::FPU + fpu::AREA_LIMIT as u64 <= PAGE);
const _: () = assert!(size_of::<Vcpu>() as u64 <= VCPU_PART && size_of::<VcpuPart>() as u64 <= PAGE - VCPU_PART);
const _: () = assert!(virt::VCPU_PAGES + 1 == pillion_core::create::VCPU_PAGES);

/// The processor's part of a vCPU. A guest that runs has a reference to `processor`, and to nothing else of it.
#[repr(C)]
struct VcpuPart {
    /// Guest and host state.
    processor: Processor,
    /// The page that the VM monitor shares, in the direct map.
    state: *const State,
}

/// Ports that the kernel keeps, first and count: both interrupt controllers, and the log.
fn kept_ports() -> [(u16, u16); 3] {
    let log = serial::ports();
    [(0x20, 2), (0xa0, 2), (log, if log == 0 { 0 } else { 8 })]
}

fn is_kept(first: u16, count: u32) -> bool {
    let end = u32::from(first) + count;
    kept_ports().iter().any(|(base, size)| u32::from(first) < u32::from(base + size) && end > u32::from(*base))
}

/// The machine as one CPU sees it.
#[derive(Debug)]
pub struct Hardware {
    /// The CPU's own structure.
    pub cpu: Cpu,
    /// Vector taken at a preemption point, to be handled on the way out.
    pub pending: Option<u8>,
    /// The thread whose frame and bases are loaded.
    running: Option<Id<Thread>>,
    /// The area that the FPU's registers belong to, or 0.
    fpu_owner: u64,
    /// Root of the active address space.
    root: u64,
    /// The first task's thread.
    pub first: Option<Id<Thread>>,
    /// Bases of whoever ran before the first thread; never used again.
    nobody: SegmentBases,
}

impl Hardware {
    /// The machine as the boot code leaves it.
    pub fn new(cpu: Cpu) -> Hardware {
        Hardware {
            cpu,
            pending: None,
            running: None,
            fpu_owner: 0,
            root: kernel_root(),
            first: None,
            nobody: SegmentBases::default(),
        }
    }

    /// Registers of a thread.
    #[inline]
    pub fn frame(&mut self, thread: Id<Thread>) -> &mut Frame {
        // SAFETY: a handle of a thread leads to its page, in which `place` made a frame. Whoever else touches it does so without a reference
        // that outlives a call into the kernel: the entry functions and the entry code.
        unsafe { &mut *Self::frame_pointer(thread) }
    }

    #[inline]
    fn frame_pointer(thread: Id<Thread>) -> *mut Frame {
        direct(thread.physical() + thread_page::FRAME)
    }

    /// Makes the next exit to user mode lead to a thread, in its address space.
    #[inline(always)]
    pub fn switch_to(&mut self, thread: Id<Thread>, root: u64, uses_fpu: bool) {
        self.load_space(root);
        if self.running != Some(thread) {
            self.load(thread);
        }
        if uses_fpu {
            self.load_fpu(thread.physical() + thread_page::FPU);
        } else {
            fpu::set_ts(self.cpu);
        }
    }

    #[inline(always)]
    fn load_space(&mut self, root: u64) {
        if root != self.root {
            self.root = root;
            // SAFETY: the root is that of a living address space, whose upper half was copied from the kernel's.
            unsafe { arch::paging::switch_to(root) };
        }
    }

    /// Loads the address space that is kept loaded while no task runs, if there is one.
    #[inline(always)]
    pub fn rest(&mut self) {
        if let Some(root) = mode::kept() {
            self.load_space(root);
        }
    }

    #[inline(always)]
    fn load(&mut self, thread: Id<Thread>) {
        let bases = |t: Id<Thread>| direct::<SegmentBases>(t.physical() + thread_page::BASES);
        let old = self.running.map_or(&raw mut self.nobody, bases);
        // SAFETY: both lie in pages of living threads (`drop_fpu` forgets an ended one), or in `self`, and differ.
        unsafe { segment_base::switch(&mut *old, &*bases(thread)) };
        self.running = Some(thread);
        // SAFETY: the frame stays valid until the thread ends, before which another one is chosen or the CPU is idle.
        unsafe { self.cpu.set_frame(Self::frame_pointer(thread)) };
    }

    /// Gives the FPU to an area at a physical address.
    #[inline]
    pub fn load_fpu(&mut self, area: u64) {
        fpu::clear_ts(self.cpu);
        if self.fpu_owner == area {
            return;
        }
        // SAFETY: areas are made by `place` or by the vCPU's `init`, aligned and large enough, and the owner is forgotten
        // when its object ends.
        unsafe {
            if self.fpu_owner != 0 {
                fpu::save(direct(self.fpu_owner));
            }
            fpu::restore(direct(area));
        }
        self.fpu_owner = area;
    }

    /// Gives the FPU's state in an area the values that it has at the start.
    pub fn reset_fpu(&mut self, area: u64) {
        if self.fpu_owner == area {
            self.fpu_owner = 0;
        }
        // SAFETY: the area is that of a vCPU, has a page, and is no longer the FPU's.
        unsafe { fpu::init_area(direct(area)) };
    }

    /// Guest and host state of a vCPU.
    ///
    /// # Safety
    /// After [`Machine::vcpu_init`], while the vCPU lives, and no other such reference does. One is taken while the guest runs, and one by
    /// [`Machine::vcpu_allow_ports`], which is a system call.
    #[inline]
    pub unsafe fn processor<'a>(vcpu: Id<Vcpu>) -> &'a mut Processor {
        // SAFETY: `vcpu_init` made it, in the vCPU's own page; the caller vouches for the rest.
        unsafe { &mut (*direct::<VcpuPart>(vcpu.physical() + VCPU_PART)).processor }
    }

    /// The page of a vCPU's state.
    ///
    /// # Safety
    /// After [`Machine::vcpu_init`], and while the vCPU's slot holds the capability for the page.
    #[inline]
    pub unsafe fn shared_state<'a>(vcpu: Id<Vcpu>) -> &'a State {
        // SAFETY: `vcpu_init` wrote the pointer, which is not within what `processor` refers to; the page is memory, says the caller. Any number of references to cells
        // may live.
        unsafe { &*(*direct::<VcpuPart>(vcpu.physical() + VCPU_PART)).state }
    }

    fn tables(space: &Space) -> PageTables {
        // SAFETY: the pages follow the object and were vouched for when `space_init` made the root.
        unsafe { PageTables::resume(space.root, u64::from(space.pages), u64::from(space.used)) }
    }
}

impl Machine for Hardware {
    const THREAD_FLAGS: u64 = mode::THREAD_FLAGS;

    #[inline]
    fn get<T: 'static>(&mut self, id: Id<T>) -> &mut T {
        // SAFETY: a handle is only made by `place` (or lies inside an object so made), and objects are ended through the
        // tree of capabilities before their memory is used again; `&mut self` lets only one reference live at a time.
        unsafe { &mut *direct::<T>(id.physical()) }
    }

    fn place<T: 'static>(&mut self, site: Site<T>, object: T) -> Id<T> {
        let physical = site.physical();
        // SAFETY: the memory came from a region, is RAM, cleared, aligned and in no other use (see `create`).
        unsafe { direct::<T>(physical).write(object) };
        if core::any::TypeId::of::<T>() == core::any::TypeId::of::<Thread>() {
            // SAFETY: as above: the page is the thread's.
            unsafe {
                direct::<Frame>(physical + thread_page::FRAME).write(Frame::new());
                direct::<SegmentBases>(physical + thread_page::BASES).write(SegmentBases::default());
                fpu::init_area(direct(physical + thread_page::FPU));
            }
        }
        site.occupied()
    }

    fn first_memory(&mut self) -> [u64; 2] {
        crate::root::arena()
    }

    fn forget<T: 'static>(&mut self, _: Id<T>) {}

    #[inline]
    fn now(&mut self) -> u64 {
        clock::now()
    }

    #[inline]
    fn program_timer(&mut self, deadline: u64) {
        if deadline == NEVER {
            clock::stop_timer();
        } else {
            clock::program_deadline(deadline);
        }
    }

    fn interrupt_pending(&mut self) -> bool {
        if self.pending.is_none() {
            trace!(Window, 0u64, 0u64);
            self.pending = arch::take_pending_interrupt(self.cpu);
        }
        self.pending.is_some()
    }

    fn clear(&mut self, physical: u64, bytes: u64) {
        // SAFETY: the bytes are RAM of a region and belong to no object.
        unsafe { direct::<u8>(physical).write_bytes(0, bytes as usize) };
    }

    #[inline]
    fn set_result(&mut self, thread: Id<Thread>, status: u64, values: [u64; 2]) {
        let frame = self.frame(thread);
        (frame.rax, frame.rdx, frame.rsi) = (status, values[0], values[1]);
    }

    fn message(&mut self, thread: Id<Thread>) -> Message {
        let f = self.frame(thread);
        Message { label: f.rsi, words: [f.rdx, f.r10, f.r8, f.r9, f.r12, f.r13, f.r14, f.r15] }
    }

    fn set_message(&mut self, thread: Id<Thread>, badge: u64, message: &Message) {
        let f = self.frame(thread);
        (f.rax, f.rdi, f.rsi) = (0, badge, message.label);
        [f.rdx, f.r10, f.r8, f.r9, f.r12, f.r13, f.r14, f.r15] = message.words;
    }

    #[inline(always)]
    fn copy_message(&mut self, from: Id<Thread>, to: Id<Thread>, badge: u64) {
        let (f, t) = (Self::frame_pointer(from), Self::frame_pointer(to));
        // SAFETY: as in `frame`; no reference is made, so that both may be the same thread's.
        unsafe {
            ((*t).rax, (*t).rdi, (*t).rsi) = (0, badge, (*f).rsi);
            ((*t).rdx, (*t).r10, (*t).r8, (*t).r9) = ((*f).rdx, (*f).r10, (*f).r8, (*f).r9);
            ((*t).r12, (*t).r13, (*t).r14, (*t).r15) = ((*f).r12, (*f).r13, (*f).r14, (*f).r15);
        }
    }

    fn set_registers(&mut self, thread: Id<Thread>, entry: u64, stack: u64, argument: u64) {
        if !self.frame(thread).start(entry, stack, argument) {
            // No such address: the thread starts, faults, and its handler hears of it.
            let _ = self.frame(thread).start(0, stack, argument);
        }
    }

    fn thread_configured(&mut self, space: Id<Space>, flags: u64) {
        if flags & thread::RESIDENT != 0 {
            mode::keep(self.get(space).root);
        }
    }

    fn set_instruction_pointer(&mut self, thread: Id<Thread>, address: u64) {
        let _ = self.frame(thread).jump(address);
    }

    fn register_pair(&mut self, thread: Id<Thread>, index: u64) -> [u64; 2] {
        let f = self.frame(thread);
        match index {
            0 => [f.rip(), f.rsp()],
            1 => [f.rflags(), f.rax],
            2 => [f.rbx, f.rcx()],
            3 => [f.rdx, f.rsi],
            4 => [f.rdi, f.rbp],
            5 => [f.r8, f.r9],
            6 => [f.r10, f.r11()],
            7 => [f.r12, f.r13],
            _ => [f.r14, f.r15],
        }
    }

    fn drop_fpu(&mut self, thread: Id<Thread>) {
        if self.fpu_owner == thread.physical() + thread_page::FPU {
            self.fpu_owner = 0;
        }
        if self.running == Some(thread) {
            self.running = None;
        }
    }

    fn report_fault(&mut self, thread: Id<Thread>, fault: &Message) {
        // Nobody else tells of the first task. The others go on, and are not made to wait for the UART: of a slow one's line 16 bytes are seen.
        if self.first != Some(thread) {
            return;
        }
        let [vector, code, address, rip, rsp, ..] = fault.words;
        let _ = writeln!(
            HastyLog::default(),
            "[fault] task 1, vector {vector}, code {code:#x}, address {address:#x}, rip {rip:#x}, rsp {rsp:#x}; no handler\r"
        );
    }

    fn space_init(&mut self, physical: u64, format: Format) {
        if format == Format::Host {
            // SAFETY: the page is cleared and belongs to the space; the kernel's root does not change after boot.
            let _ = unsafe { PageTables::new_host_root(physical, 1, kernel_root()) };
        }
    }

    fn space_map(&mut self, space: &mut Space, address: u64, physical: u64, size: u64, flags: u64) -> Result<u64> {
        let mut tables = Self::tables(space);
        let flags = match (space.format, Flags::from_call(flags)?) {
            (Format::Nested, flags) => flags.with(Flags::GIGANTIC),
            (Format::Host, flags) => mode::of_task(flags),
        };
        let result = tables.map_step(address, physical, size, flags);
        space.used = tables.pages_used() as u32;
        result
    }

    fn space_unmap(&mut self, space: &mut Space, address: u64, size: u64) -> u64 {
        let mut tables = Self::tables(space);
        // What was mapped in one piece is unmapped in one: nothing is ever split.
        let done = tables.unmap_step(address, size).unwrap_or(size);
        match space.format {
            Format::Host => arch::paging::invalidate_all(space.root),
            Format::Nested => virtualisation::flush_all(),
        }
        done
    }

    fn space_drop(&mut self, root: u64) {
        mode::forget(root);
        if self.root == root {
            self.root = kernel_root();
            // SAFETY: the kernel's own root.
            unsafe { arch::paging::switch_to(self.root) };
        }
    }

    fn port_in(&mut self, port: u16, width: u8) -> u32 {
        if is_kept(port, width.into()) {
            return u32::MAX >> (32 - 8 * u32::from(width));
        }
        // SAFETY: whoever holds the capability for a port may do with the device behind it what it can do.
        unsafe {
            match width {
                1 => port::read8(port).into(),
                2 => port::read16(port).into(),
                _ => port::read32(port),
            }
        }
    }

    fn port_out(&mut self, port: u16, width: u8, value: u32) {
        if is_kept(port, width.into()) {
            return;
        }
        // SAFETY: as in `port_in`.
        unsafe {
            match width {
                1 => port::write8(port, value as u8),
                2 => port::write16(port, value as u16),
                _ => port::write32(port, value),
            }
        }
    }

    fn line_exists(&mut self, line: u32) -> bool {
        ioapic::exists(line)
    }

    fn route_line(&mut self, line: u32, vector: u8, flags: u64) {
        let (level, low) = (flags & route::LEVEL != 0, flags & route::LOW != 0);
        ioapic::program(line, ioapic::Route { vector, level, low, masked: false });
    }

    fn mask_line(&mut self, line: u32, masked: bool) {
        if masked { ioapic::mask(line) } else { ioapic::unmask(line) }
    }

    fn msi(&mut self, vector: u8) -> [u64; 2] {
        [0xfee0_0000 | u64::from(apic::id() & 0xff) << 12, vector.into()]
    }

    #[inline]
    fn hold_passenger(&mut self, hold: bool) {
        apic::hold_passenger(hold);
    }

    #[inline]
    fn end_of_interrupt(&mut self) {
        apic::eoi();
    }

    fn vcpu_prepare(&mut self, vcpu: Id<Vcpu>, step: u32) -> bool {
        // SAFETY: the pages follow the object and are the vCPU's own.
        unsafe { Processor::prepare(vcpu.physical() + PAGE, step) }
    }

    fn vcpu_init(&mut self, vcpu: Id<Vcpu>, guest_root: u64, state: u64, user: bool) -> Result<()> {
        let features = virtualisation::features().ok_or(Error::Unsupported)?;
        let asid = if user { asid::USER } else { asid::PASSENGER };
        if asid >= features.asids {
            return Err(Error::Unsupported);
        }
        // SAFETY: the pages were cleared and prepared; the guest space lives as long as the vCPU names it, or the vCPU is not
        // entered any more; there is one passenger per CPU, and user vCPUs, which share a number, drop translations when they change.
        let mut processor = unsafe { Processor::init(vcpu.physical() + PAGE, guest_root, asid, &features) };
        if user {
            processor.confine();
        }
        let part = VcpuPart { processor, state: direct(state) };
        // SAFETY: the rest of the vCPU's first page is for this.
        unsafe { direct::<VcpuPart>(vcpu.physical() + VCPU_PART).write(part) };
        Ok(())
    }

    fn vcpu_allow_ports(&mut self, vcpu: Id<Vcpu>, first: u16, count: u32) {
        // SAFETY: `VcpuConfigure` came before, says the core; no guest runs during a system call.
        let processor = unsafe { Self::processor(vcpu) };
        processor.allow_ports(first, count);
        for (port, count) in kept_ports() {
            processor.deny_ports(port, count);
        }
    }

    fn vcpu_timer_fired(&mut self, vcpu: Id<Vcpu>) -> Option<u8> {
        // SAFETY: the core looks at the slot before it asks.
        let state = unsafe { Self::shared_state(vcpu) };
        state.deadline.set(0);
        (state.timer_vector.get() >= 16).then_some(state.timer_vector.get() as u8)
    }

    fn vcpu_drop(&mut self, vcpu: Id<Vcpu>) {
        let first = vcpu.physical();
        if (first..first + pillion_core::create::VCPU_PAGES * PAGE).contains(&self.fpu_owner) {
            self.fpu_owner = 0;
        }
    }

    fn vcpu_show(&mut self, vcpu: Id<Vcpu>, guest: &GuestApic) {
        // SAFETY: as in `vcpu_timer_fired`.
        let state = unsafe { Self::shared_state(vcpu) };
        state.irr.set(*guest.irr());
        state.isr.set(*guest.isr());
    }

    fn trace(&mut self, on: bool) {
        crate::trace::switch(on);
    }

    fn log_byte(&mut self, byte: u8) -> bool {
        serial::try_put(byte)
    }
}
