//! Model-specific registers.

use core::arch::asm;

/// Base address and state of the local APIC.
pub const APIC_BASE: u32 = 0x1b;
/// Page attribute table.
pub const PAT: u32 = 0x277;
/// Extended features.
pub const EFER: u32 = 0xc000_0080;
/// Segments of SYSCALL and SYSRET.
pub const STAR: u32 = 0xc000_0081;
/// Target of SYSCALL.
pub const LSTAR: u32 = 0xc000_0082;
/// Target of SYSCALL from 32-bit code.
pub const CSTAR: u32 = 0xc000_0083;
/// Flags that SYSCALL clears.
pub const SFMASK: u32 = 0xc000_0084;
/// Base of FS.
pub const FS_BASE: u32 = 0xc000_0100;
/// Base of GS.
pub const GS_BASE: u32 = 0xc000_0101;
/// What SWAPGS swaps in: while the kernel runs, the user's GS base.
pub const KERNEL_GS_BASE: u32 = 0xc000_0102;

/// Reads a register.
///
/// # Safety
/// The processor must have the register.
#[inline]
#[must_use]
pub unsafe fn read(register: u32) -> u64 {
    let (low, high): (u32, u32);
    // SAFETY: the caller vouches for the register.
    unsafe {
        asm!("rdmsr", in("ecx") register, out("eax") low, out("edx") high, options(nomem, nostack, preserves_flags));
    }
    u64::from(high) << 32 | u64::from(low)
}

/// Writes a register.
///
/// # Safety
/// The processor must have the register and accept the value, and the change must not break what
/// Rust relies on.
#[inline]
pub unsafe fn write(register: u32, value: u64) {
    // SAFETY: the caller vouches for register and value.
    unsafe {
        asm!("wrmsr", in("ecx") register, in("eax") value as u32, in("edx") (value >> 32) as u32,
            options(nostack, preserves_flags));
    }
}
