//! Tasks run in user mode. The processor itself changes the stack on an entry, and GS is the task's while it runs.

use crate::arch::x86_64::percpu::selector;
use pillion_abi::call::thread;
use pillion_core::x86_64::paging::Flags;

/// Code segment of tasks.
pub const CODE: u16 = selector::USER_CODE;
/// Data segment of tasks.
pub const DATA: u16 = selector::USER_DATA;
/// Stack for interrupts and exceptions, by its number in the IDT: the one that goes with the change of mode.
pub const ENTRY_STACK: u8 = 0;
/// Whether GS leads to the kernel's data even while a task runs.
pub const GS_STAYS: bool = false;
/// Flags that a thread may be configured with.
pub const THREAD_FLAGS: u64 = thread::FPU;
/// What user code is told beside the processor's features.
pub const FEATURES: u64 = 0;
/// What is said at boot.
pub const WARNING: &[&str] = &[];

/// How a page of a task is mapped.
pub const fn of_task(flags: Flags) -> Flags {
    flags
}

/// The first value of the stack for interrupts and exceptions; `spare` is one that is free while the kernel boots.
pub const fn prepare_entry_stack(_: &mut [u64; 7], _spare: u64) {}

/// An exception of a task concerns that task alone.
pub const fn announce_fault(_vector: u64, _rip: u64) {}

/// Keeps an address space loaded while no task runs.
pub const fn keep(_root: u64) {}

/// An address space ends.
pub const fn forget(_root: u64) {}

/// The address space that is kept loaded.
pub const fn kept() -> Option<u64> {
    None
}

/// Parts of the entry code that differ.
macro_rules! entry_macros {
    () => {
        r#"
    .macro if_from_kernel target
    test byte ptr [rsp + 24], 3         /* the mode, in CS */
    jz \target
    .endm

    .macro take_gs
    swapgs
    .endm

    .macro give_gs
    swapgs
    .endm

    .macro take_kernel_stack
    mov rsp, gs:[{stack}]
    .endm

    .macro take_frame
    mov rsp, gs:[{frame_end}]
    .endm

    .macro return_from_syscall
    mov rcx, [rsp - {size} + {rip}]
    mov r11, [rsp - {size} + {rflags}]
    mov rsp, [rsp - {size} + {rsp}]
    swapgs
    sysretq
    .endm
    "#
    };
}
pub(in crate::arch::x86_64) use entry_macros;
