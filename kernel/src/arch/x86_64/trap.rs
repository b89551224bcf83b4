//! Entering and leaving the kernel.
//!
//! Every entry from user mode leads to one of [`contract`]'s functions, with the registers in
//! the frame of the thread that ran. That function ends in [`exit_to_user`], which loads the frame
//! chosen by then. For an exception or interrupt the processor itself pushes the upper part of the
//! frame; the entry code of a system call stores all of it.
//!
//! In the kernel, interrupts come in at a few places only. Their handler notes the vector and
//! returns with interrupts off. An exception in kernel mode is a bug in the kernel. NMI, security
//! exception, double fault and machine check may come before GS is swapped, so their handlers do
//! not use it.

use core::arch::{asm, global_asm};
use core::cell::UnsafeCell;
use core::mem::offset_of;
use core::sync::atomic::AtomicU64;

use super::frame::{Frame, SYSCALL};
use super::layout::{direct, physical};
use super::percpu::{Cpu, ist, offset};
use super::{cpu, log, machine_check, msr, power, selector};
use pillion_abi::call::Call;

/// The functions that the kernel proper provides. They run with interrupts off; the frame is the
/// one that the CPU's structure names. None of them returns: the registers that the compiler would
/// save for a caller are in the frame, and the stack starts afresh at each entry.
mod contract {
    use super::Cpu;

    unsafe extern "C" {
        pub fn kernel_syscall(cpu: Cpu, capability: u64, number: u64) -> !;
        pub fn kernel_message(cpu: Cpu, capability: u64, number: u64) -> !;
        pub fn kernel_vcpu_run(cpu: Cpu, capability: u64, number: u64) -> !;
        pub fn kernel_interrupt(cpu: Cpu, vector: u64) -> !;
        pub fn kernel_exception(cpu: Cpu, vector: u64, error_code: u64) -> !;
    }
}

/// First vector that is an interrupt.
const FIRST_INTERRUPT: u32 = 32;

/// Vector of machine checks.
const MACHINE_CHECK: u8 = 18;

/// Flags that SYSCALL clears: trap, interrupt, direction, I/O level, nested task, resume, alignment
/// check.
const SYSCALL_MASK: u64 = 0x100 | 0x200 | 0x400 | 0x3000 | 0x4000 | 0x1_0000 | 0x4_0000;

/// Non-maskable interrupts so far, for a debugger.
static NMIS: AtomicU64 = AtomicU64::new(0);

/// INIT signals so far that were redirected to the security exception, for a debugger.
static INITS: AtomicU64 = AtomicU64::new(0);

unsafe extern "C" {
    static trap_stubs: u8;
    static clac_exception: u8;
    static clac_interrupt: u8;
    fn syscall_entry();
}

global_asm!(
    r#"
    .section .text.entry, "ax"

    /* One stub per vector, 16 bytes each; they leave error code and vector on the stack. */
    .p2align 4
    .global trap_stubs
trap_stubs:
    .set vector, 0
    .rept 256
    .p2align 4
    .if vector == 2
    jmp nmi
    .elseif vector == 8
    .byte 0x68
    .long vector
    jmp fatal
    .elseif vector == 30
    jmp security
    .elseif vector == 18
    push 0
    .byte 0x68
    .long vector
    jmp fatal
    .elseif (vector >= 10 && vector <= 14) || vector == 17 || vector == 21 || vector == 29
    .byte 0x68
    .long vector
    jmp exception
    .elseif vector < {first_interrupt}
    push 0
    .byte 0x68
    .long vector
    jmp exception
    .else
    push 0
    .byte 0x68
    .long vector
    jmp interrupt
    .endif
    .set vector, vector + 1
    .endr

    .macro push_registers
    push rax
    push rcx
    push rdx
    push rsi
    push rdi
    push r8
    push r9
    push r10
    push r11
    push rbx
    push rbp
    push r12
    push r13
    push r14
    push r15
    .endm

    .p2align 6
    .global syscall_entry
syscall_entry:
    swapgs
    mov gs:[{scratch}], rsp
    mov rsp, gs:[{frame_end}]
    mov dword ptr [rsp - {size} + {vector}], {syscall}
    mov [rsp - {size} + {rip}], rcx
    mov [rsp - {size} + {rflags}], r11
    mov [rsp - {size} + {rax}], rax
    mov [rsp - {size} + {rdx}], rdx
    mov [rsp - {size} + {rsi}], rsi
    mov [rsp - {size} + {rdi}], rdi
    mov [rsp - {size} + {r8}], r8
    mov [rsp - {size} + {r9}], r9
    mov [rsp - {size} + {r10}], r10
    mov [rsp - {size} + {rbx}], rbx
    mov [rsp - {size} + {rbp}], rbp
    mov [rsp - {size} + {r12}], r12
    mov [rsp - {size} + {r13}], r13
    mov [rsp - {size} + {r14}], r14
    mov [rsp - {size} + {r15}], r15
    mov rcx, gs:[{scratch}]
    mov [rsp - {size} + {rsp}], rcx
    mov rsp, gs:[{stack}]
    mov rsi, rdi
    mov rdi, gs:[{self}]
    mov rdx, rax
    cmp rdx, {last_message}
    jbe 2f
    cmp rdx, {vcpu_run}
    je 3f
    call {kernel_syscall}
    ud2
2:
    call {kernel_message}
    ud2
3:
    call {kernel_vcpu_run}
    ud2

    .global exit_to_user
exit_to_user:
    mov rsp, gs:[{frame_end}]
    cmp dword ptr [rsp - {size} + {vector}], {syscall}
    jne exit_complete
    mov rax, [rsp - {size} + {rax}]
    mov rdx, [rsp - {size} + {rdx}]
    mov rsi, [rsp - {size} + {rsi}]
    mov rdi, [rsp - {size} + {rdi}]
    mov r8, [rsp - {size} + {r8}]
    mov r9, [rsp - {size} + {r9}]
    mov r10, [rsp - {size} + {r10}]
    mov rbx, [rsp - {size} + {rbx}]
    mov rbp, [rsp - {size} + {rbp}]
    mov r12, [rsp - {size} + {r12}]
    mov r13, [rsp - {size} + {r13}]
    mov r14, [rsp - {size} + {r14}]
    mov r15, [rsp - {size} + {r15}]
    mov rcx, [rsp - {size} + {rip}]
    mov r11, [rsp - {size} + {rflags}]
    mov rsp, [rsp - {size} + {rsp}]
    swapgs
    sysretq

exit_complete:
    mov rax, [rsp - {size} + {rax}]
    mov rcx, [rsp - {size} + {rcx}]
    mov rdx, [rsp - {size} + {rdx}]
    mov rsi, [rsp - {size} + {rsi}]
    mov rdi, [rsp - {size} + {rdi}]
    mov r8, [rsp - {size} + {r8}]
    mov r9, [rsp - {size} + {r9}]
    mov r10, [rsp - {size} + {r10}]
    mov r11, [rsp - {size} + {r11}]
    mov rbx, [rsp - {size} + {rbx}]
    mov rbp, [rsp - {size} + {rbp}]
    mov r12, [rsp - {size} + {r12}]
    mov r13, [rsp - {size} + {r13}]
    mov r14, [rsp - {size} + {r14}]
    mov r15, [rsp - {size} + {r15}]
    sub rsp, {size} - {rip}
    swapgs
    iretq

    .p2align 6
interrupt:
    test byte ptr [rsp + 24], 3         /* the mode, in CS */
    jz interrupt_in_kernel
    swapgs
    .global clac_interrupt
clac_interrupt:
    .byte 0x0f, 0x1f, 0x00          /* clac, where there is one */
    cld
    push_registers
    mov rsi, [rsp + {vector}]
    mov rsp, gs:[{stack}]
    mov rdi, gs:[{self}]
    call {kernel_interrupt}
    ud2

interrupt_in_kernel:
    pop qword ptr gs:[{pending}]
    and qword ptr [rsp + 24], ~0x200    /* interrupts off, in the flags that are returned to */
    add rsp, 8
    iretq

    .p2align 6
exception:
    test byte ptr [rsp + 24], 3
    jz fatal
    swapgs
    .global clac_exception
clac_exception:
    .byte 0x0f, 0x1f, 0x00
    cld
    push_registers
    mov rsi, [rsp + {vector}]
    mov rdx, [rsp + {error}]
    mov rsp, gs:[{stack}]
    mov rdi, gs:[{self}]
    call {kernel_exception}
    ud2

    /* It may come anywhere, so it touches nothing else. */
nmi:
    cmp dword ptr [rip + {stopping}], 0
    jne 2f
    lock inc qword ptr [rip + {nmis}]
    iretq
2:  cli
    hlt
    jmp 2b

    /* An INIT, with an error code. Another one before the return would overwrite its frame. */
security:
    lock inc qword ptr [rip + {inits}]
    add rsp, 8
    iretq

fatal:
    cld
    push_registers
    mov rdi, rsp
    and rsp, -16
    call {kernel_fault}
    ud2
    "#,
    first_interrupt = const FIRST_INTERRUPT,
    size = const size_of::<Frame>(),
    syscall = const SYSCALL,
    vector = const offset_of!(Frame, vector),
    error = const offset_of!(Frame, error),
    rip = const offset_of!(Frame, rip),
    rflags = const offset_of!(Frame, rflags),
    rsp = const offset_of!(Frame, rsp),
    rax = const offset_of!(Frame, rax),
    rcx = const offset_of!(Frame, rcx),
    rdx = const offset_of!(Frame, rdx),
    rbx = const offset_of!(Frame, rbx),
    rsi = const offset_of!(Frame, rsi),
    rdi = const offset_of!(Frame, rdi),
    rbp = const offset_of!(Frame, rbp),
    r8 = const offset_of!(Frame, r8),
    r9 = const offset_of!(Frame, r9),
    r10 = const offset_of!(Frame, r10),
    r11 = const offset_of!(Frame, r11),
    r12 = const offset_of!(Frame, r12),
    r13 = const offset_of!(Frame, r13),
    r14 = const offset_of!(Frame, r14),
    r15 = const offset_of!(Frame, r15),
    self = const offset::SELF,
    stack = const offset::STACK,
    scratch = const offset::SCRATCH,
    pending = const offset::PENDING,
    frame_end = const offset::FRAME_END,
    kernel_interrupt = sym contract::kernel_interrupt,
    kernel_exception = sym contract::kernel_exception,
    kernel_syscall = sym contract::kernel_syscall,
    kernel_message = sym contract::kernel_message,
    kernel_vcpu_run = sym contract::kernel_vcpu_run,
    last_message = const Call::ReplyReceive as u64,
    vcpu_run = const Call::VcpuRun as u64,
    kernel_fault = sym kernel_fault,
    stopping = sym power::STOPPING,
    nmis = sym NMIS,
    inits = sym INITS,
);

/// The calls that `kernel_message` gets.
const _: () = assert!(Call::Call as u64 == 0 && Call::ReplyReceive as u64 == 1);

/// The order in which `push_registers` pushes.
const _: () = assert!(
    offset_of!(Frame, rax) == 14 * 8
        && offset_of!(Frame, rcx) == 13 * 8
        && offset_of!(Frame, rdx) == 12 * 8
        && offset_of!(Frame, rsi) == 11 * 8
        && offset_of!(Frame, rdi) == 10 * 8
        && offset_of!(Frame, r8) == 9 * 8
        && offset_of!(Frame, r9) == 8 * 8
        && offset_of!(Frame, r10) == 7 * 8
        && offset_of!(Frame, r11) == 6 * 8
        && offset_of!(Frame, rbx) == 5 * 8
        && offset_of!(Frame, rbp) == 4 * 8
        && offset_of!(Frame, r12) == 3 * 8
        && offset_of!(Frame, r13) == 2 * 8
        && offset_of!(Frame, r14) == 8
        && offset_of!(Frame, r15) == 0
);

/// A descriptor of the IDT.
#[derive(Clone, Copy)]
#[repr(C)]
struct Gate {
    low: u64,
    high: u64,
}

struct Gates(UnsafeCell<[Gate; 256]>);

// SAFETY: written once, by the first CPU at boot; later only the processors read it.
unsafe impl Sync for Gates {}

static GATES: Gates = Gates(UnsafeCell::new([Gate { low: 0, high: 0 }; 256]));

fn gate(vector: u8) -> Gate {
    const BREAKPOINT: u8 = 3;
    let handler = &raw const trap_stubs as u64 + u64::from(vector) * 16;
    let stack = match vector {
        2 => ist::NMI,
        8 => ist::DOUBLE_FAULT,
        MACHINE_CHECK => ist::MACHINE_CHECK,
        30 => ist::SECURITY,
        _ => ist::NONE,
    };
    let user_may: u64 = if vector == BREAKPOINT { 3 << 45 } else { 0 };
    let low = handler & 0xffff
        | u64::from(selector::KERNEL_CODE) << 16
        | u64::from(stack) << 32
        | 0x8e << 40
        | user_may
        | (handler >> 16 & 0xffff) << 48;
    Gate { low, high: handler >> 32 }
}

#[repr(C, packed)]
struct TablePointer {
    limit: u16,
    base: u64,
}

/// Fills and loads the IDT.
///
/// # Safety
/// Called once, at boot, before any other CPU runs.
pub unsafe fn init() {
    // SAFETY: nobody else uses it yet, says the caller.
    let gates = unsafe { &mut *GATES.0.get() };
    for (vector, slot) in (0..=255).zip(gates.iter_mut()) {
        *slot = gate(vector);
    }
    // SAFETY: the gates are filled.
    unsafe { load() };
}

/// Loads the IDT on the running CPU.
///
/// # Safety
/// After [`init`] on the first CPU.
pub unsafe fn load() {
    let pointer = TablePointer { limit: size_of::<Gates>() as u16 - 1, base: GATES.0.get() as u64 };
    // SAFETY: the table is a static whose gates lead to the stubs above.
    unsafe { asm!("lidt [{}]", in(reg) &raw const pointer, options(readonly, nostack, preserves_flags)) };
}

/// Puts `clac` into the entry code if the processor knows it.
///
/// # Safety
/// Called at boot, while the first page tables are in use, under which code can be written, and
/// before anything enters the kernel from user mode.
pub unsafe fn patch() {
    const CLAC: [u8; 3] = [0x0f, 0x01, 0xca];
    if !cpu::has(cpu::SMAP) {
        return;
    }
    for place in [&raw const clac_interrupt, &raw const clac_exception] {
        let code = direct::<[u8; 3]>(physical(place));
        // SAFETY: three bytes of a no-operation of the same length; nobody executes them yet, and
        // they are writable, says the caller.
        unsafe { code.write_volatile(CLAC) };
    }
}

/// Sets up SYSCALL on the running CPU.
///
/// # Safety
/// The GDT of the CPU's structure must be loaded, and GS must lead to that structure.
pub unsafe fn init_syscall() {
    let star = u64::from(selector::SYSRET_BASE) << 48 | u64::from(selector::KERNEL_CODE) << 32;
    // SAFETY: every processor that got past `cpu::init` has these registers; the target is the
    // entry code, the selectors are those of the GDT.
    unsafe {
        msr::write(msr::STAR, star);
        msr::write(msr::LSTAR, syscall_entry as *const () as u64);
        msr::write(msr::CSTAR, 0);
        msr::write(msr::SFMASK, SYSCALL_MASK);
    }
}

/// Exits to user mode, to the frame that the CPU's structure names.
///
/// # Safety
/// [`Cpu::set_frame`] was called, the address space and the FPU are that thread's, and what lies on
/// the stack is not needed any more.
#[inline(always)]
pub unsafe fn exit_to_user() -> ! {
    // SAFETY: GS leads to the structure; the caller vouches for the rest.
    unsafe { asm!("jmp exit_to_user", options(noreturn)) }
}

/// Lets interrupts in for an instant and takes the one that came, if any. This is the kernel's
/// preemption point.
#[inline]
pub fn take_pending_interrupt(cpu: Cpu) -> Option<u8> {
    // SAFETY: the handler writes the pending vector only, which is read below, and turns interrupts
    // off again.
    unsafe { asm!("sti", "nop", "cli") };
    cpu.take_pending()
}

/// Sleeps until an interrupt comes, and takes it. `None` after an NMI or an INIT, which wake the
/// processor too.
#[inline]
pub fn idle_wait(cpu: Cpu) -> Option<u8> {
    // SAFETY: as in `take_pending_interrupt`; nothing comes between `sti` and `hlt`.
    unsafe { asm!("sti", "hlt", "cli") };
    cpu.take_pending()
}

/// Address of the last page fault.
#[inline]
#[must_use]
pub fn fault_address() -> u64 {
    let address: u64;
    // SAFETY: reading CR2 changes nothing.
    unsafe { asm!("mov {}, cr2", out(reg) address, options(nomem, nostack, preserves_flags)) };
    address
}

/// An exception in kernel mode, a double fault or a machine check: logs it and stops.
///
/// # Safety
/// Only the entry code calls it, on the frame that it made.
unsafe extern "C" fn kernel_fault(frame: &Frame) -> ! {
    let f = frame;
    power::stop_others();
    if f.vector == MACHINE_CHECK.into() {
        // Another one would reset the machine before this one has been read.
        machine_check::log_all();
        machine_check::end();
    }
    log!("[kernel] exception {} error {:#x} at {:#x}:{:#x}", f.vector, f.error, f.cs, f.rip);
    log!("[kernel] rsp {:#x} rflags {:#x} cr2 {:#x}", f.rsp, f.rflags, fault_address());
    log!("[kernel] rax {:#x} rbx {:#x} rcx {:#x} rdx {:#x}", f.rax, f.rbx, f.rcx, f.rdx);
    log!("[kernel] rsi {:#x} rdi {:#x} rbp {:#x} r8 {:#x}", f.rsi, f.rdi, f.rbp, f.r8);
    log!("[kernel] r9 {:#x} r10 {:#x} r11 {:#x} r12 {:#x}", f.r9, f.r10, f.r11, f.r12);
    log!("[kernel] r13 {:#x} r14 {:#x} r15 {:#x}", f.r13, f.r14, f.r15);
    power::fatal("exception in the kernel")
}
