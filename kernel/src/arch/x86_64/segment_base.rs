//! The bases of FS and GS, which user code can set itself if the processor has the instructions for
//! it. They belong to a thread and are switched with it.

use core::arch::asm;

use super::{cpu, msr};

/// Bases of a thread.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct SegmentBases {
    /// Base of FS.
    pub fs: u64,
    /// Base of GS.
    pub gs: u64,
}

/// Saves the bases of the thread that ran last and loads those of the next.
///
/// # Safety
/// The new bases are what this function saved, or addresses below [`pillion_abi::USER_END`].
#[inline(always)]
pub unsafe fn switch(old: &mut SegmentBases, new: &SegmentBases) {
    if cpu::has(cpu::FSGSBASE) {
        // SAFETY: the kernel uses no FS, and between the two `swapgs` nothing goes through GS;
        // interrupts are off and NMIs do not look at it. The values are canonical: a processor only
        // holds such, and below `USER_END` all are.
        unsafe {
            asm!(
                "rdfsbase {old_fs}", "wrfsbase {new_fs}",
                "swapgs", "rdgsbase {old_gs}", "wrgsbase {new_gs}", "swapgs",
                old_fs = out(reg) old.fs, old_gs = out(reg) old.gs, new_fs = in(reg) new.fs, new_gs = in(reg) new.gs,
                options(nostack, preserves_flags),
            );
        }
    } else {
        // SAFETY: without the instructions user code cannot choose a base; the values are canonical
        // as above.
        unsafe {
            msr::write(msr::FS_BASE, new.fs);
            msr::write(msr::KERNEL_GS_BASE, new.gs);
        }
    }
}
