//! A CPU's own data: its descriptors, its stack and what the entry code needs, reached through GS.

use core::arch::asm;
use core::cell::UnsafeCell;
use core::mem::offset_of;
use core::ptr::NonNull;

use super::frame::Frame;
use super::{msr, selector};
use pillion_post::Shown;

/// Maximum number of CPUs.
pub use pillion_core::x86_64::processor::MAX_CPUS;

const GUARD: usize = pillion_abi::PAGE as usize;
const STACK: usize = 16 << 10;
const EMERGENCY_STACK: usize = 4 << 10;

/// Stacks that the processor switches to by itself, by their number in the IDT.
pub mod ist {
    /// None of these: the stack that goes with the change of mode.
    pub const NONE: u8 = 0;
    /// Non-maskable interrupts.
    pub const NMI: u8 = 1;
    /// Double faults.
    pub const DOUBLE_FAULT: u8 = 2;
    /// Machine checks.
    pub const MACHINE_CHECK: u8 = 3;
    /// Security exceptions.
    pub const SECURITY: u8 = 4;
}

/// A CPU's stack; the page below it is not mapped.
#[repr(C, align(4096))]
pub struct Stack {
    guard: [u8; GUARD],
    space: [u8; STACK],
}

/// The stacks of all CPUs. The first CPU boots on the first one.
#[repr(transparent)]
pub struct Stacks(UnsafeCell<[Stack; MAX_CPUS]>);

// SAFETY: each CPU uses its own stack, as a stack.
unsafe impl Sync for Stacks {}

/// See [`Stacks`].
pub static STACKS: Stacks =
    Stacks(UnsafeCell::new([const { Stack { guard: [0; GUARD], space: [0; STACK] } }; MAX_CPUS]));

fn stack_base(index: usize) -> u64 {
    STACKS.0.get() as u64 + (index * size_of::<Stack>()) as u64
}

/// End of a CPU's stack, where it begins.
#[must_use]
pub fn stack_top(index: usize) -> u64 {
    stack_base(index) + size_of::<Stack>() as u64
}

/// Whether a page of the image is the guard page below a stack.
#[must_use]
pub fn is_guard_page(address: u64) -> bool {
    (0..MAX_CPUS).any(|index| stack_base(index) == address)
}

/// Task state segment.
#[repr(C, packed(4))]
struct TaskState {
    reserved0: u32,
    /// Where the processor starts to push on an entry from user mode: the end of the running
    /// thread's frame.
    rsp0: u64,
    rsp1_2: [u64; 2],
    reserved1: u64,
    ist: [u64; 7],
    reserved2: u64,
    reserved3: u16,
    io_map: u16,
}

const _: () = assert!(size_of::<TaskState>() == 104);

/// A CPU's own data.
#[repr(C, align(4096))]
pub struct PerCpu {
    self_pointer: *mut PerCpu,
    kernel_stack_top: u64,
    scratch: u64,
    /// Vector of the interrupt that came while the kernel ran, or 0.
    pending_vector: u64,
    index: usize,
    kernel: *mut (),
    /// The only part that others look at.
    shown: Shown,
    fpu_off: bool,
    /// Keeps [`TaskState::rsp0`] aligned.
    reserved: [u32; 2],
    task_state: TaskState,
    gdt: [u64; 8],
    emergency: [[u8; EMERGENCY_STACK]; 4],
}

/// Offsets that the entry code uses.
pub mod offset {
    use super::{PerCpu, TaskState, offset_of};
    /// The structure's own address.
    pub const SELF: usize = offset_of!(PerCpu, self_pointer);
    /// Top of the stack.
    pub const STACK: usize = offset_of!(PerCpu, kernel_stack_top);
    /// A word for the entry code.
    pub const SCRATCH: usize = offset_of!(PerCpu, scratch);
    /// The vector that came while the kernel ran.
    pub const PENDING: usize = offset_of!(PerCpu, pending_vector);
    /// End of the running thread's frame.
    pub const FRAME_END: usize = offset_of!(PerCpu, task_state) + offset_of!(TaskState, rsp0);
}

const _: () = assert!(offset::FRAME_END.is_multiple_of(8));

struct Cpus(UnsafeCell<[PerCpu; MAX_CPUS]>);

// SAFETY: each CPU uses its own entry only, but for what consists of atomics.
unsafe impl Sync for Cpus {}

static CPUS: Cpus = Cpus(UnsafeCell::new(
    [const {
        PerCpu {
            self_pointer: core::ptr::null_mut(),
            kernel_stack_top: 0,
            scratch: 0,
            pending_vector: 0,
            index: 0,
            kernel: core::ptr::null_mut(),
            shown: Shown::new(),
            fpu_off: false,
            reserved: [0; 2],
            task_state: TaskState {
                reserved0: 0,
                rsp0: 0,
                rsp1_2: [0; 2],
                reserved1: 0,
                ist: [0; 7],
                reserved2: 0,
                reserved3: 0,
                io_map: 0,
            },
            gdt: [0; 8],
            emergency: [[0; EMERGENCY_STACK]; 4],
        }
    }; MAX_CPUS],
));

/// A running CPU: a pointer to its structure. Entry code and processor use the structure as well,
/// so there is never a reference to it, but for [`Cpu::shown`], which they do not use.
///
/// Invariant: [`init`] prepared the structure, which lives for ever, and only its own CPU accesses
/// it: the kernel with interrupts off, the entry code while it runs, and the interrupt handler
/// where interrupts are let in, which touches `pending_vector` only. A pointer is not `Send`, so
/// the value stays on its CPU.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Cpu(NonNull<PerCpu>);

impl Cpu {
    /// The CPU that this runs on.
    ///
    /// # Safety
    /// After [`init`] on this CPU.
    #[must_use]
    pub unsafe fn current() -> Cpu {
        let pointer: *mut PerCpu;
        // SAFETY: GS leads to this CPU's structure, and its first word is its own address, which is
        // not 0.
        unsafe {
            asm!("mov {}, gs:[{}]", out(reg) pointer, const offset::SELF, options(nostack, readonly, preserves_flags));
            Cpu(NonNull::new_unchecked(pointer))
        }
    }

    /// Number of this CPU, from 0 and below [`MAX_CPUS`].
    #[must_use]
    pub fn index(self) -> usize {
        // SAFETY: as [`Cpu`] says.
        unsafe { (*self.0.as_ptr()).index }
    }

    /// What [`Cpu::set_kernel`] was given, or null.
    #[inline]
    #[must_use]
    pub fn kernel<T>(self) -> *mut T {
        // SAFETY: as [`Cpu`] says.
        unsafe { (*self.0.as_ptr()).kernel.cast() }
    }

    /// Stores a pointer for the kernel proper.
    ///
    /// # Safety
    /// The pointer is what those who take it from [`Cpu::kernel`] expect.
    pub unsafe fn set_kernel<T>(self, kernel: *mut T) {
        // SAFETY: as [`Cpu`] says.
        unsafe { (*self.0.as_ptr()).kernel = kernel.cast() }
    }

    /// The tables whose translations this CPU may use.
    #[inline]
    #[must_use]
    pub fn shown(self) -> &'static Shown {
        // SAFETY: as [`Cpu`] says; the field consists of atomics.
        unsafe { &(*self.0.as_ptr()).shown }
    }

    /// Whether CR0.TS is set, so that the next use of the FPU faults.
    #[inline]
    pub(super) fn fpu_off(self) -> bool {
        // SAFETY: as [`Cpu`] says.
        unsafe { (*self.0.as_ptr()).fpu_off }
    }

    /// Records whether CR0.TS is set.
    #[inline]
    pub(super) fn set_fpu_off(self, off: bool) {
        // SAFETY: as [`Cpu`] says.
        unsafe { (*self.0.as_ptr()).fpu_off = off }
    }

    /// The frame in which the next entry from user mode saves the registers, and from which the
    /// next exit takes them.
    #[inline]
    #[must_use]
    pub fn frame(self) -> *mut Frame {
        // SAFETY: as [`Cpu`] says.
        let end = unsafe { (*self.0.as_ptr()).task_state.rsp0 };
        (end as *mut Frame).wrapping_sub(1)
    }

    /// Chooses the thread that the next exit to user mode leads to.
    ///
    /// # Safety
    /// `frame` must stay valid, and be touched by nobody but this CPU, until another one is chosen.
    #[inline]
    pub unsafe fn set_frame(self, frame: *mut Frame) {
        // SAFETY: as [`Cpu`] says.
        unsafe { (*self.0.as_ptr()).task_state.rsp0 = frame.wrapping_add(1) as u64 }
    }

    /// Takes the vector of the interrupt that came while the kernel ran.
    #[inline]
    pub fn take_pending(self) -> Option<u8> {
        // SAFETY: as [`Cpu`] says. The handler writes the field behind the compiler's back, and
        // interrupts are off by now.
        unsafe {
            let field = &raw mut (*self.0.as_ptr()).pending_vector;
            let vector = field.read_volatile();
            if vector == 0 {
                return None;
            }
            field.write_volatile(0);
            Some(vector as u8)
        }
    }
}

/// The tables whose translations a CPU may use, by its number.
#[must_use]
pub fn shown_by(index: usize) -> Option<&'static Shown> {
    // SAFETY: the number is below that of the entries; the field consists of atomics, and nothing
    // refers to a whole entry once its CPU is counted.
    (index < MAX_CPUS).then(|| unsafe { &(*CPUS.0.get().cast::<PerCpu>().add(index)).shown })
}

/// Prepares a CPU's structure and makes it the running CPU's: GDT, TSS, GS.
///
/// # Safety
/// Called once per CPU with its number, before anything leads to its structure.
pub unsafe fn init(index: usize) {
    if index >= MAX_CPUS {
        return;
    }
    // SAFETY: the entry is in the array, and this CPU's.
    let place = unsafe { CPUS.0.get().cast::<PerCpu>().add(index) };
    // SAFETY: called once per CPU with its number, before anything leads to its structure; the
    // reference is not used any more once GS does.
    let cpu = unsafe { &mut *place };
    cpu.self_pointer = place;
    cpu.index = index;
    cpu.kernel_stack_top = stack_top(index);
    let tops = cpu.emergency.each_ref().map(|stack| stack.as_ptr_range().end as u64);
    let mut ist = [0; 7];
    for (number, top) in [ist::NMI, ist::DOUBLE_FAULT, ist::MACHINE_CHECK, ist::SECURITY].into_iter().zip(tops) {
        if let Some(slot) = ist.get_mut(usize::from(number) - 1) {
            *slot = top;
        }
    }
    cpu.task_state.ist = ist;
    cpu.task_state.io_map = size_of::<TaskState>() as u16;
    cpu.task_state.rsp0 = cpu.kernel_stack_top;
    cpu.gdt = descriptors(&raw const cpu.task_state as u64);
    let limit = size_of_val(&cpu.gdt) as u16 - 1;
    let base = cpu.gdt.as_ptr() as u64;
    // SAFETY: the descriptors live in a static and describe flat segments; the selectors match
    // them; the structure is what the entry code expects behind GS.
    unsafe {
        load_gdt(base, limit);
        msr::write(msr::GS_BASE, place as u64);
        msr::write(msr::KERNEL_GS_BASE, 0);
        msr::write(msr::FS_BASE, 0);
    }
}

fn descriptors(task_state: u64) -> [u64; 8] {
    const CODE: u64 = 0x00af_9b00_0000_ffff;
    const DATA: u64 = 0x00cf_9300_0000_ffff;
    const USER: u64 = 3 << 45;
    const AVAILABLE_TASK_STATE: u64 = 0x89 << 40;
    let low = AVAILABLE_TASK_STATE
        | (size_of::<TaskState>() as u64 - 1)
        | (task_state & 0xff_ffff) << 16
        | (task_state >> 24 & 0xff) << 56;
    [0, CODE, DATA, 0, DATA | USER, CODE | USER, low, task_state >> 32]
}

/// # Safety
/// `base` must be the address of a table as [`descriptors`] makes it, which stays in place.
unsafe fn load_gdt(base: u64, limit: u16) {
    #[repr(C, packed)]
    struct Pointer {
        limit: u16,
        base: u64,
    }
    let pointer = Pointer { limit, base };
    // SAFETY: the caller vouches for the table; code and data keep their flat segments.
    unsafe {
        asm!(
            "lgdt [{pointer}]",
            "push {code}",
            "lea {scratch}, [rip + 2f]",
            "push {scratch}",
            "retfq",
            "2:",
            "mov ds, {data:x}",
            "mov es, {data:x}",
            "mov ss, {data:x}",
            "mov fs, {zero:x}",
            "mov gs, {zero:x}",
            "ltr {task:x}",
            pointer = in(reg) &raw const pointer,
            code = const selector::KERNEL_CODE,
            data = in(reg) selector::KERNEL_DATA,
            zero = in(reg) 0u16,
            task = in(reg) selector::TASK_STATE,
            scratch = out(reg) _,
        );
    }
}
