//! The virtual machine control block (AMD APM vol. 2, appendix B).

use core::mem::offset_of;
use pillion_abi::vcpu::Segment;

/// Intercepts, word 3 of the control area.
pub mod intercept1 {
    #![allow(missing_docs, reason = "the names of the manual")]
    pub const INTR: u32 = 1;
    pub const NMI: u32 = 1 << 1;
    pub const INIT: u32 = 1 << 3;
    pub const IDTR_READ: u32 = 1 << 6;
    pub const GDTR_READ: u32 = 1 << 7;
    pub const LDTR_READ: u32 = 1 << 8;
    pub const TR_READ: u32 = 1 << 9;
    pub const RDPMC: u32 = 1 << 15;
    pub const POPF: u32 = 1 << 17;
    pub const CPUID: u32 = 1 << 18;
    pub const IRET: u32 = 1 << 20;
    pub const INVD: u32 = 1 << 22;
    pub const HLT: u32 = 1 << 24;
    pub const INVLPGA: u32 = 1 << 26;
    pub const IOIO: u32 = 1 << 27;
    pub const MSR: u32 = 1 << 28;
    pub const FERR_FREEZE: u32 = 1 << 30;
    pub const SHUTDOWN: u32 = 1 << 31;
}

/// Intercepts, word 4 of the control area.
pub mod intercept2 {
    #![allow(missing_docs, reason = "the names of the manual")]
    /// VMRUN, VMMCALL, VMLOAD, VMSAVE, STGI, CLGI, SKINIT.
    pub const SVM: u32 = 0x7f;
    pub const ICEBP: u32 = 1 << 8;
    pub const WBINVD: u32 = 1 << 9;
    pub const MONITOR: u32 = 1 << 10;
    pub const MWAIT: u32 = 1 << 11;
    pub const MWAIT_ARMED: u32 = 1 << 12;
    pub const XSETBV: u32 = 1 << 13;
    pub const RDPRU: u32 = 1 << 14;
}

/// Bits of [`Control::virtual_interrupt`] (15.21.4).
pub mod vintr {
    /// Priority that CR8 is compared with, and CR8 itself.
    pub const TPR: u64 = 0xff;
    /// A virtual interrupt is pending.
    pub const PENDING: u64 = 1 << 8;
    /// Its priority: the highest.
    pub const PRIORITY: u64 = 0xf << 16;
    /// CR8 does not hold it back.
    pub const IGNORE_TPR: u64 = 1 << 20;
    /// The guest's interrupt flag does not mask physical interrupts.
    pub const MASKING: u64 = 1 << 24;
    /// Position of the vector.
    pub const VECTOR_SHIFT: u32 = 32;
}

/// Values of [`Control::tlb_control`] (15.16.1).
pub mod tlb {
    /// Drop nothing.
    pub const KEEP: u32 = 0;
    /// Drop the translations of all address-space numbers.
    pub const ALL: u32 = 1;
    /// Drop those of the guest.
    pub const GUEST: u32 = 3;
}

/// The control area.
#[repr(C)]
pub struct Control {
    pub intercept_cr: u32,
    pub intercept_dr: u32,
    pub intercept_exceptions: u32,
    pub intercept1: u32,
    pub intercept2: u32,
    pub intercept3: u32,
    reserved1: [u8; 0x40 - 0x18],
    pub io_map: u64,
    pub msr_map: u64,
    pub tsc_offset: u64,
    pub asid: u32,
    pub tlb_control: u32,
    pub virtual_interrupt: u64,
    /// Bit 0: the guest is in an interrupt shadow.
    pub shadow: u64,
    pub exit_code: u64,
    pub exit_info1: u64,
    pub exit_info2: u64,
    pub exit_event: u64,
    /// Bit 0: nested paging.
    pub nested: u64,
    reserved2: [u64; 2],
    pub event: u64,
    pub nested_root: u64,
    pub lbr: u64,
    pub clean: u64,
    pub next_rip: u64,
    reserved3: [u8; 0x400 - 0xd0],
}

/// The state save area. [`Segment`] has the processor's format.
#[repr(C)]
pub struct Save {
    pub es: Segment,
    pub cs: Segment,
    pub ss: Segment,
    pub ds: Segment,
    pub fs: Segment,
    pub gs: Segment,
    pub gdtr: Segment,
    pub ldtr: Segment,
    pub idtr: Segment,
    pub tr: Segment,
    reserved1: [u8; 0xcb - 0xa0],
    pub cpl: u8,
    reserved2: [u8; 4],
    pub efer: u64,
    reserved3: [u8; 0x148 - 0xd8],
    pub cr4: u64,
    pub cr3: u64,
    pub cr0: u64,
    pub dr7: u64,
    pub dr6: u64,
    pub rflags: u64,
    pub rip: u64,
    reserved4: [u8; 0x1d8 - 0x180],
    pub rsp: u64,
    reserved5: [u8; 0x1f8 - 0x1e0],
    pub rax: u64,
    /// STAR, LSTAR, CSTAR, SFMASK, the kernel's GS base, SYSENTER.
    pub system: [u64; 8],
    pub cr2: u64,
    reserved6: [u8; 0x268 - 0x248],
    pub pat: u64,
    reserved7: [u8; 0xc00 - 0x270],
}

/// The whole block: one page.
#[repr(C, align(4096))]
pub struct Vmcb {
    pub control: Control,
    pub save: Save,
}

const _: () = {
    assert!(size_of::<Segment>() == 16);
    assert!(offset_of!(Control, io_map) == 0x40);
    assert!(offset_of!(Control, tlb_control) == 0x5c);
    assert!(offset_of!(Control, exit_code) == 0x70);
    assert!(offset_of!(Control, nested) == 0x90);
    assert!(offset_of!(Control, event) == 0xa8);
    assert!(offset_of!(Control, nested_root) == 0xb0);
    assert!(offset_of!(Control, next_rip) == 0xc8);
    assert!(offset_of!(Vmcb, save) == 0x400);
    assert!(offset_of!(Save, tr) == 0x90);
    assert!(offset_of!(Save, cpl) == 0xcb);
    assert!(offset_of!(Save, efer) == 0xd0);
    assert!(offset_of!(Save, cr4) == 0x148);
    assert!(offset_of!(Save, rip) == 0x178);
    assert!(offset_of!(Save, rsp) == 0x1d8);
    assert!(offset_of!(Save, rax) == 0x1f8);
    assert!(offset_of!(Save, cr2) == 0x240);
    assert!(offset_of!(Save, pat) == 0x268);
    assert!(size_of::<Vmcb>() == 4096);
};
