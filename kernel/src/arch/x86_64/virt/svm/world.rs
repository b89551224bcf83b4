//! The world switch.

use core::arch::naked_asm;
use core::mem::offset_of;

/// What the world switch needs to know besides the general registers.
#[derive(Debug)]
#[repr(C)]
pub struct World {
    /// Physical address of the VMCB.
    pub vmcb: u64,
    /// Physical address of the page for the part of the host's state that VMRUN does not save.
    pub host: u64,
    /// XCR0 while the guest runs.
    pub guest_xcr0: u64,
    /// XCR0 of the host; 0 when XSAVE is not in use.
    pub host_xcr0: u64,
}

/// Loads the guest's registers, runs it, and saves them.
///
/// Physical interrupts stay masked by the global interrupt flag up to VMRUN, which sets it; the
/// host's IF is 1 by then, so that with V_INTR_MASKING an interrupt ends the guest's run whatever
/// the guest's IF is (15.21.1). The exit clears the global flag; `cli` precedes the `stgi` that
/// sets it, so that only an NMI comes in here. By then the host's TR and GS are back.
///
/// The guest's XCR0 is read back, since not every emulator intercepts XSETBV. Only its low word is
/// compared: no feature that the host enables has its bit in the high one.
///
/// 71 instructions when both worlds have the same XCR0.
///
/// # Safety
/// Interrupts are off, SVM is on, `gpr` has 16 words, and `world` names a VMCB that keeps the guest
/// away from what the host relies on, and a host page.
#[unsafe(naked)]
pub unsafe extern "sysv64" fn switch(gpr: *mut u64, world: *mut World) {
    naked_asm!(
        "push rbx",
        "push rbp",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "push rdi",
        "push rsi",
        // The guest's XCR0, where it differs.
        "mov rax, [rsi + {guest_xcr0}]",
        "cmp rax, [rsi + {host_xcr0}]",
        "jne 4f",
        // The guest's registers; rax and rsp are in the VMCB.
        "2:",
        "mov rax, [rsi + {host}]",
        "clgi",
        "vmsave rax",
        "mov rax, [rsi + {vmcb}]",
        "mov rcx, [rdi + 8]",
        "mov rdx, [rdi + 16]",
        "mov rbx, [rdi + 24]",
        "mov rbp, [rdi + 40]",
        "mov rsi, [rdi + 48]",
        "mov r8, [rdi + 64]",
        "mov r9, [rdi + 72]",
        "mov r10, [rdi + 80]",
        "mov r11, [rdi + 88]",
        "mov r12, [rdi + 96]",
        "mov r13, [rdi + 104]",
        "mov r14, [rdi + 112]",
        "mov r15, [rdi + 120]",
        "mov rdi, [rdi + 56]",
        "sti",
        "vmload rax",
        "vmrun rax",
        "vmsave rax",
        "cli",
        // rax and rsp are the host's again, everything else is the guest's.
        "mov rax, [rsp]",
        "mov rax, [rax + {host}]",
        "vmload rax",
        "stgi",
        "mov rax, [rsp + 8]",
        "mov [rax + 8], rcx",
        "mov [rax + 16], rdx",
        "mov [rax + 24], rbx",
        "mov [rax + 40], rbp",
        "mov [rax + 48], rsi",
        "mov [rax + 56], rdi",
        "mov [rax + 64], r8",
        "mov [rax + 72], r9",
        "mov [rax + 80], r10",
        "mov [rax + 88], r11",
        "mov [rax + 96], r12",
        "mov [rax + 104], r13",
        "mov [rax + 112], r14",
        "mov [rax + 120], r15",
        "pop rsi",
        "pop rdi",
        // The host's XCR0.
        "mov r8, [rsi + {host_xcr0}]",
        "test r8, r8",
        "jz 3f",
        "xor ecx, ecx",
        "xgetbv",
        "mov [rsi + {guest_xcr0}], eax",
        "mov [rsi + {guest_xcr0} + 4], edx",
        "cmp eax, r8d",
        "jne 5f",
        "3:",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbp",
        "pop rbx",
        "ret",
        "4:",
        "mov rdx, rax",
        "shr rdx, 32",
        "xor ecx, ecx",
        "xsetbv",
        "jmp 2b",
        "5:",
        "mov rax, r8",
        "mov rdx, r8",
        "shr rdx, 32",
        "xsetbv",
        "jmp 3b",
        vmcb = const offset_of!(World, vmcb),
        host = const offset_of!(World, host),
        guest_xcr0 = const offset_of!(World, guest_xcr0),
        host_xcr0 = const offset_of!(World, host_xcr0),
    )
}
