//! The state of a user vCPU that runs a process of Linux in 64-bit mode.

use pillion_abi::vcpu::{Segment, State, dirty};

/// Bits of CR4 that concern user mode: PAE, PGE, OSFXSR, OSXMMEXCPT, LA57, FSGSBASE, OSXSAVE, and
/// TSD.
pub const CR4: u64 = PAE | 1 << 7 | 1 << 9 | 1 << 10 | 1 << 12 | 1 << 16 | 1 << 18 | 1 << 2;
const PAE: u64 = 1 << 5;
/// Paging, alignment checks, write protection, and what the FPU needs.
const CR0: u64 = 0x8005_0033;
/// Long mode, no-execute pages.
const EFER: u64 = 0xd00;
/// Bits of CR3 that hold the address of a table.
const ROOT: u64 = 0x000f_ffff_ffff_f000;
/// Selectors of Linux's segments for processes.
const CODE: u16 = 0x33;
/// See [`CODE`].
pub const DATA: u16 = 0x2b;

/// What differs from process to process.
#[derive(Clone, Copy, Debug)]
pub struct Process {
    /// Page tables.
    pub cr3: u64,
    /// CR4, with bits that concern user mode only.
    pub cr4: u64,
    /// Base of FS.
    pub fs_base: u64,
    /// Base of GS.
    pub gs_base: u64,
    /// Selector of DS, ES, FS and GS.
    pub data: u16,
}

/// Sets all of the state but the general registers, the instruction pointer and the flags.
pub fn set(state: &State, process: &Process) {
    let code = Segment { selector: CODE, attributes: 0xafb, limit: u32::MAX, base: 0 };
    let data = Segment { selector: process.data, attributes: 0xcf3, limit: u32::MAX, base: 0 };
    let none = Segment::default();
    state.cr0.set(CR0);
    state.cr2.set(0);
    state.cr3.set(process.cr3 & ROOT);
    state.cr4.set(process.cr4 | PAE);
    state.efer.set(EFER);
    state.dr6.set(0xffff_0ff0);
    state.dr7.set(0x400);
    state.pat.set(0x0007_0406_0007_0406);
    state.cs.set(code);
    state.ss.set(Segment { selector: DATA, ..data });
    state.fs.set(Segment { base: process.fs_base, ..data });
    state.gs.set(Segment { base: process.gs_base, ..data });
    [&state.ds, &state.es].into_iter().for_each(|segment| segment.set(data));
    [&state.tr, &state.ldtr, &state.gdtr, &state.idtr].into_iter().for_each(|segment| segment.set(none));
    state.dirty.set(dirty::CORE | dirty::SYSTEM);
}
