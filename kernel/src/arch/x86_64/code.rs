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

/// The instruction of a trace point: opcode and operand.
#[derive(Clone, Copy)]
#[repr(C, packed)]
struct Instruction(u8, u32);

const NO_OPERATION: Instruction = Instruction(0x0f, u32::from_le_bytes([0x1f, 0x44, 0, 0]));
const JUMP: u8 = 0xe9;

unsafe extern "C" {
    static __trace_sites: Site;
    static __trace_sites_end: Site;
}

/// All trace points.
fn trace_sites() -> &'static [Site] {
    let (start, end) = (&raw const __trace_sites, &raw const __trace_sites_end);
    // SAFETY: the linker script puts the two symbols around a table of such entries.
    unsafe { core::slice::from_raw_parts(start, end.offset_from_unsigned(start)) }
}

/// Makes all trace points jumps or no-operations.
///
/// # Safety
/// Interrupts are off and one CPU runs, so that nothing executes them meanwhile.
pub unsafe fn switch_trace_points(on: bool) {
    // SAFETY: nothing executes the code meanwhile, says the caller. CR0 as it always is, without
    // write protection for the stores; the sites are the linker's table; the bytes are a whole
    // instruction of the same length. The processor sees the changes at the next serialising
    // instruction, which the write of CR0 is.
    unsafe {
        let cr0 = cpu::cr0();
        asm!("mov cr0, {}", in(reg) cr0 & !cpu::bit::CR0_WP, options(nostack, preserves_flags));
        for site in trace_sites() {
            let code = direct::<Instruction>(physical(site.at as *const u8));
            code.write(if on { site.jump() } else { NO_OPERATION });
        }
        asm!("mov cr0, {}", in(reg) cr0, options(nostack, preserves_flags));
    }
}

impl Site {
    /// The jump to its target.
    fn jump(&self) -> Instruction {
        let next = self.at + size_of::<Instruction>() as u64;
        Instruction(JUMP, self.target.wrapping_sub(next) as u32)
    }
}
