//! Tasks run in kernel mode, unprotected, and the first real-time program's address space is the one that the kernel runs in. For
//! the experiment on what address spaces cost; never for anything else.
//!
//! An interrupt does not change the stack by itself in kernel mode, and must not use the program's. Its descriptors therefore name a stack of
//! the task state segment, the *landing*: while a task runs it is the end of the thread's frame, as `rsp0` is otherwise; while the kernel
//! runs it is the uppermost 64 bytes of its stack. Who was interrupted shows in the address: the kernel is in the upper half.

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::arch::x86_64::{
    log,
    percpu::{ist, selector},
};
use pillion_abi::{boot::feature, call::thread};
use pillion_core::x86_64::paging::Flags;

/// Code segment of tasks.
pub const CODE: u16 = selector::KERNEL_CODE;
/// Data segment of tasks.
pub const DATA: u16 = selector::KERNEL_DATA;
/// Stack for interrupts and exceptions, by its number in the IDT: the landing.
pub const ENTRY_STACK: u8 = ist::LANDING;
/// Whether GS leads to the kernel's data even while a task runs.
pub const GS_STAYS: bool = true;
/// Flags that a thread may be configured with.
pub const THREAD_FLAGS: u64 = thread::FPU | thread::RESIDENT;
/// What user code is told beside the processor's features.
pub const FEATURES: u64 = feature::SHARED_SPACE;
/// What is said at boot.
pub const WARNING: &[&str] = &[
    "SHARED SPACE: TASKS RUN IN KERNEL MODE. NOTHING PROTECTS THE KERNEL, OR ONE TASK FROM ANOTHER.",
    "SHARED SPACE: THIS KERNEL IS FOR ONE EXPERIMENT: WHAT ADDRESS SPACES COST. USE IT FOR NOTHING ELSE.",
];

/// Root of the address space that is kept loaded, or 0.
static KEPT: AtomicU64 = AtomicU64::new(0);

/// How a page of a task is mapped: for kernel mode, in which SMEP and SMAP forbid the use of user pages.
pub const fn of_task(flags: Flags) -> Flags {
    flags.without(Flags::USER)
}

/// The first value of the landing, until the first task runs.
pub const fn prepare_entry_stack(stacks: &mut [u64; 7], spare: u64) {
    stacks[ist::LANDING as usize - 1] = spare;
}

/// Says that what follows may be wrong: the task may have written anywhere before.
pub fn announce_fault(vector: u64, rip: u64) {
    log!("[kernel] SHARED SPACE: A TASK FAULTED IN KERNEL MODE: exception {vector} at {rip:#x}");
}

/// Keeps an address space loaded while no task runs.
pub fn keep(root: u64) {
    KEPT.store(root, Relaxed);
}

/// An address space ends.
pub fn forget(root: u64) {
    let _ = KEPT.compare_exchange(root, 0, Relaxed, Relaxed);
}

/// The address space that is kept loaded.
#[inline]
pub fn kept() -> Option<u64> {
    Some(KEPT.load(Relaxed)).filter(|root| *root != 0)
}

/// Parts of the entry code that differ. The 64 bytes are what an interrupt of the kernel needs on its landing: seven words.
macro_rules! entry_macros {
    () => {
        r#"
    .macro if_from_kernel target
    test byte ptr [rsp + 23], 0x80      /* the half of the addresses, in RIP */
    jnz \target
    .endm

    .macro take_gs
    .endm

    .macro give_gs
    .endm

    .macro take_kernel_stack
    mov rsp, gs:[{stack}]
    mov gs:[LANDING], rsp
    sub rsp, 64
    .endm

    .macro take_frame
    mov rsp, gs:[{frame_end}]
    mov gs:[LANDING], rsp
    .endm

    /* No SYSRET: it leads to user mode only. rcx and r11 are lost as after that, though not to the same values. */
    .macro return_from_syscall
    sub rsp, {size} - {rip}
    iretq
    .endm
    "#
    };
}
pub(in crate::arch::x86_64) use entry_macros;
