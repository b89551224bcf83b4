//! Changing the kernel's own code: trace points are switched between a no-operation and a jump.

use core::arch::asm;

use super::cpu;
use super::layout::{direct, physical};

/// A trace point: address of its instruction, and where it jumps to when it is on.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Site {
    at: u64,
    target: u64,
}

const LENGTH: usize = 5;
const NO_OPERATION: [u8; LENGTH] = [0x0f, 0x1f, 0x44, 0, 0];

unsafe extern "C" {
    static __trace_sites: Site;
    static __trace_sites_end: Site;
}

/// All trace points.
pub fn trace_sites() -> &'static [Site] {
    let (start, end) = (&raw const __trace_sites, &raw const __trace_sites_end);
    // SAFETY: the linker script puts the two symbols around a table of such entries.
    unsafe { core::slice::from_raw_parts(start, end.offset_from_unsigned(start)) }
}

/// Makes a trace point a jump or a no-operation.
///
/// # Safety
/// Interrupts are off and one CPU runs, so that nothing executes it meanwhile.
pub unsafe fn set_jump(site: &Site, on: bool) {
    let mut bytes = NO_OPERATION;
    if on {
        let distance = site.target.wrapping_sub(site.at + LENGTH as u64) as i32;
        bytes[0] = 0xe9;
        bytes[1..].copy_from_slice(&distance.to_le_bytes());
    }
    let code = direct::<[u8; LENGTH]>(physical(site.at as *const u8));
    // SAFETY: nothing executes the code meanwhile, says the caller. CR0 as it always is, without
    // write protection for the one store; the site is one of the linker's table; the bytes are a
    // whole instruction of the same length. The processor sees the change at the next serialising
    // instruction, which the write of CR0 is.
    unsafe {
        let cr0 = cpu::cr0();
        asm!("mov cr0, {}", in(reg) cr0 & !cpu::bit::CR0_WP, options(nostack, preserves_flags));
        code.write_volatile(bytes);
        asm!("mov cr0, {}", in(reg) cr0, options(nostack, preserves_flags));
    }
}
