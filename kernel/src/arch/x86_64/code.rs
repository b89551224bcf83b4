//! Changing the kernel's own code: no-operations become jumps, and no-operations again.
//!
//! There are two kinds of such places. Trace points are switched whenever somebody asks for it.
//! What only several processors need is switched once, before the second one runs, and stays.

use core::arch::asm;

use super::cpu;
use super::layout::{Image, direct, physical};

/// A place in the code: address of its instruction, and where that jumps to when it is on.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Site {
    at: u64,
    target: u64,
}

/// The instruction of such a place: opcode and operand.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(C, packed)]
struct Instruction(u8, u32);

const NO_OPERATION: Instruction = Instruction(0x0f, u32::from_le_bytes([0x1f, 0x44, 0, 0]));
const JUMP: u8 = 0xe9;

unsafe extern "C" {
    static __trace_sites: Site;
    static __trace_sites_end: Site;
    static __several_sites: Site;
    static __several_sites_end: Site;
}

/// Runs code if several processors run. With one it is a no-operation of five bytes.
macro_rules! several {
    ($($code:tt)*) => {
        // SAFETY: a no-operation, or, if several processors run, a jump to the block.
        unsafe {
            core::arch::asm!(
                "2: .byte 0x0f, 0x1f, 0x44, 0x00, 0x00",
                ".pushsection .several_sites, \"a\"",
                ".balign 8",
                ".quad 2b, {target}",
                ".popsection",
                target = label { $($code)* },
                options(nostack, preserves_flags),
            );
        }
    };
}
pub(crate) use several;

/// The sites between two symbols of the linker script.
fn table(start: *const Site, end: *const Site) -> &'static [Site] {
    // SAFETY: this module's two callers name the symbols around a table of such entries.
    unsafe { core::slice::from_raw_parts(start, end.offset_from_unsigned(start)) }
}

/// All trace points.
fn trace_sites() -> &'static [Site] {
    table(&raw const __trace_sites, &raw const __trace_sites_end)
}

/// All places at which several processors do more than one.
fn several_sites() -> &'static [Site] {
    table(&raw const __several_sites, &raw const __several_sites_end)
}

/// Whether each place and its target are code.
#[must_use]
pub fn sites_are_code(image: &Image) -> bool {
    let is_code = |address| (image.start..image.text_end).contains(&physical(address as *const u8));
    trace_sites().iter().chain(several_sites()).all(|site| is_code(site.at) && is_code(site.target))
}

/// Makes all trace points jumps or no-operations.
///
/// # Safety
/// Interrupts are off, and nothing executes them meanwhile: no other processor runs, or all others
/// wait elsewhere.
pub unsafe fn switch_trace_points(on: bool) {
    // SAFETY: as the caller says.
    unsafe { switch(trace_sites(), on) };
}

/// Makes the places at which several processors do more than one jumps.
///
/// # Safety
/// Called once, by the first processor, before another one executes any of them.
pub unsafe fn switch_several() {
    // SAFETY: as the caller says.
    unsafe { switch(several_sites(), true) };
}

/// # Safety
/// Nothing executes the sites meanwhile, and interrupts are off.
unsafe fn switch(sites: &[Site], on: bool) {
    // SAFETY: nothing executes the code meanwhile, says the caller. CR0 as it always is, without
    // write protection for the stores; the sites are the linker's tables; the bytes are a whole
    // instruction of the same length. The processor sees the changes at the next serialising
    // instruction, which the write of CR0 is.
    unsafe {
        let cr0 = cpu::cr0();
        asm!("mov cr0, {}", in(reg) cr0 & !cpu::bit::CR0_WP, options(nostack, preserves_flags));
        for site in sites {
            let code = direct::<Instruction>(physical(site.at as *const u8));
            let (from, to) = if on { (NO_OPERATION, site.jump()) } else { (site.jump(), NO_OPERATION) };
            // A trace point may have been put to another use for good, with several processors.
            if code.read() == from {
                code.write(to);
            }
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
