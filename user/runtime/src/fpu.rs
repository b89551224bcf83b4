//! The floating-point and vector registers of the calling thread.

use core::arch::{asm, x86_64::__cpuid};

/// The parts of the state that are read: what FXSAVE writes, and the header after it, which says
/// that every component has its initial value.
#[repr(C, align(64))]
struct Initial([u8; 576]);

static INITIAL: Initial = Initial({
    let mut bytes = [0; 576];
    // The control words, of x87 and of SSE: all exceptions masked.
    [bytes[0], bytes[1]] = 0x037f_u16.to_le_bytes();
    [bytes[24], bytes[25], ..] = 0x1f80_u32.to_le_bytes();
    bytes
});

/// Sets all components to their initial values.
///
/// # Safety
/// No code of this thread relies on these registers, as where it is built without them; the thread
/// has the flag [`pillion_abi::call::thread::FPU`], without which this is a fault.
pub unsafe fn reset() {
    const OSXSAVE: u32 = 1 << 27;
    let area = &raw const INITIAL;
    // SAFETY: the state is aligned and valid; the caller vouches that nobody notices.
    unsafe {
        if __cpuid(1).ecx & OSXSAVE == 0 {
            asm!("fxrstor64 [{}]", in(reg) area, options(nostack, preserves_flags, readonly));
        } else {
            // All components: those that are not switched on are left out.
            asm!("xrstor64 [{}]", in(reg) area, in("eax") u32::MAX, in("edx") u32::MAX, options(nostack, preserves_flags, readonly));
        }
    }
}
