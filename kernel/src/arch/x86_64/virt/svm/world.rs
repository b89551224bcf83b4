//! The world switch.

use core::arch::asm;

/// What the world switch needs to know besides the general registers.
#[derive(Debug)]
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

impl World {
    /// Loads the guest's XCR0, where it differs.
    #[inline(always)]
    pub fn load_xcr0(&self) {
        if self.guest_xcr0 != self.host_xcr0 {
            // SAFETY: the processor accepted the guest's value when the guest set it, or
            // `xcr0_is_valid` did; without XSAVE both are 0.
            unsafe { write_xcr0(self.guest_xcr0) };
        }
    }

    /// Reads the guest's XCR0 back, since not every emulator intercepts XSETBV, and restores the
    /// host's. Only the low word is compared: no feature that the host enables has its bit in the
    /// high one.
    #[inline(always)]
    pub fn restore_xcr0(&mut self) {
        if self.host_xcr0 == 0 {
            return;
        }
        // SAFETY: the host has a value.
        self.guest_xcr0 = unsafe { read_xcr0() };
        if self.guest_xcr0 as u32 != self.host_xcr0 as u32 {
            // SAFETY: it was read from the register.
            unsafe { write_xcr0(self.host_xcr0) };
        }
    }
}

/// Loads the guest's registers, runs it, and saves them. XCR0 is the caller's to switch.
///
/// Physical interrupts stay masked by the global interrupt flag up to VMRUN, which sets it; the
/// host's IF is 1 by then, so that with V_INTR_MASKING an interrupt ends the guest's run whatever
/// the guest's IF is (15.21.1). The exit clears the global flag; `cli` precedes the `stgi` that
/// sets it, so that only an NMI comes in here. By then the host's TR and GS are back.
///
/// 50 instructions. In line, since the guest's registers leave nothing for a function to preserve.
///
/// # Safety
/// Interrupts are off, SVM is on, `gpr` has 16 words, and `world` names a VMCB that keeps the guest
/// away from what the host relies on, and a host page.
#[inline(always)]
pub unsafe fn switch(gpr: *mut u64, world: &World) {
    // SAFETY: the caller vouches for the processor's state and for the pages. Of the registers that
    // the guest changes, the exit restores RAX, RSP and the flags, and the compiler knows of the
    // others or finds them as they were; the kernel is built without vector registers.
    unsafe {
        asm!(
            "push rbx",
            "push rbp",
            "push rdi",
            "push rdx",
            // The guest's registers; rax and rsp are in the VMCB.
            "mov rax, rdx",
            "clgi",
            "vmsave rax",
            "mov rax, rsi",
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
            "pop rax",
            "vmload rax",
            "stgi",
            "pop rax",
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
            "pop rbp",
            "pop rbx",
            inlateout("rdi") gpr => _,
            inlateout("rsi") world.vmcb => _,
            inlateout("rdx") world.host => _,
            lateout("rax") _,
            lateout("rcx") _,
            lateout("r8") _,
            lateout("r9") _,
            lateout("r10") _,
            lateout("r11") _,
            lateout("r12") _,
            lateout("r13") _,
            lateout("r14") _,
            lateout("r15") _,
        );
    }
}

/// # Safety
/// The host uses XSAVE.
#[inline(always)]
pub(super) unsafe fn read_xcr0() -> u64 {
    let (low, high): (u32, u32);
    // SAFETY: as the caller says.
    unsafe { asm!("xgetbv", in("ecx") 0, out("eax") low, out("edx") high, options(nomem, nostack, preserves_flags)) };
    u64::from(high) << 32 | u64::from(low)
}

/// # Safety
/// The host uses XSAVE, and the processor accepts the value.
#[inline(always)]
unsafe fn write_xcr0(value: u64) {
    // SAFETY: as the caller says. The kernel itself uses none of the registers.
    unsafe {
        asm!(
            "xsetbv", in("ecx") 0, in("eax") value as u32, in("edx") (value >> 32) as u32,
            options(nomem, nostack, preserves_flags),
        );
    }
}
