//! What the processor can do, and how the kernel sets it up.

use core::arch::asm;
use core::arch::x86_64::{__cpuid, __cpuid_count, CpuidResult};
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use pillion_abi::boot::feature;

use super::{fatal, layout::ALWAYS_MAPPED, log, msr};

/// Supervisor-mode execution prevention.
pub const SMEP: u32 = 1;
/// Supervisor-mode access prevention.
pub const SMAP: u32 = 1 << 1;
/// Instructions that read and write the bases of FS and GS.
pub const FSGSBASE: u32 = 1 << 2;
/// User-mode instruction prevention.
const UMIP: u32 = 1 << 3;
/// XSAVE.
pub const XSAVE: u32 = 1 << 4;
/// x2APIC.
pub const X2APIC: u32 = 1 << 5;
/// The time-stamp counter runs evenly in all states.
const INVARIANT_TSC: u32 = 1 << 6;
/// AMD virtualisation with nested paging.
pub const SVM: u32 = 1 << 7;
/// It is a virtual machine.
pub const HYPERVISOR: u32 = 1 << 8;
/// Pages of 1 GiB.
const HUGE_PAGES: u32 = 1 << 9;
/// Machine-check registers.
pub const MACHINE_CHECKS: u32 = 1 << 10;

static FEATURES: AtomicU32 = AtomicU32::new(0);

/// Bits of the control registers.
pub mod bit {
    #![allow(missing_docs, reason = "the names of the bits")]
    pub const CR0_PE: u64 = 1;
    pub const CR0_MP: u64 = 1 << 1;
    pub const CR0_TS: u64 = 1 << 3;
    pub const CR0_ET: u64 = 1 << 4;
    pub const CR0_NE: u64 = 1 << 5;
    pub const CR0_WP: u64 = 1 << 16;
    pub const CR0_PG: u64 = 1 << 31;
    pub const CR4_PAE: u64 = 1 << 5;
    pub const CR4_MCE: u64 = 1 << 6;
    pub const CR4_PGE: u64 = 1 << 7;
    pub const CR4_OSFXSR: u64 = 1 << 9;
    pub const CR4_OSXMMEXCPT: u64 = 1 << 10;
    pub const CR4_UMIP: u64 = 1 << 11;
    pub const CR4_FSGSBASE: u64 = 1 << 16;
    pub const CR4_OSXSAVE: u64 = 1 << 18;
    pub const CR4_SMEP: u64 = 1 << 20;
    pub const CR4_SMAP: u64 = 1 << 21;
    pub const EFER_SCE: u64 = 1;
    pub const EFER_NXE: u64 = 1 << 11;
}

/// CR0 while the kernel runs, except the TS bit.
pub const CR0: u64 = bit::CR0_PE | bit::CR0_MP | bit::CR0_ET | bit::CR0_NE | bit::CR0_WP | bit::CR0_PG;

/// The power-on value: write-back, write-through, uncached-minus, uncached, twice.
const PAT: u64 = 0x0007_0406_0007_0406;

/// Whether the processor has all of the features.
#[inline]
#[must_use]
pub fn has(features: u32) -> bool {
    FEATURES.load(Relaxed) & features == features
}

/// Features as reported to user code; see [`pillion_abi::boot::feature`].
#[must_use]
pub fn features() -> u64 {
    if has(SVM) { feature::SVM } else { 0 }
}

/// End of the physical addresses at which devices may answer. Without pages of 1 GiB it is 4 GiB:
/// what is above would take more tables and time to map than it is worth.
#[must_use]
pub fn device_reach() -> u64 {
    let bits = cpuid(0x8000_0008, 0).eax & 0xff;
    if has(HUGE_PAGES) { 1_u64.checked_shl(bits).unwrap_or(u64::MAX) } else { ALWAYS_MAPPED }
}

/// CPUID, with zeros for a leaf that is not there.
#[must_use]
pub fn cpuid(leaf: u32, subleaf: u32) -> CpuidResult {
    let most = __cpuid(leaf & 0xffff_0000).eax;
    if leaf <= most && most & 0xffff_0000 == leaf & 0xffff_0000 {
        __cpuid_count(leaf, subleaf)
    } else {
        CpuidResult { eax: 0, ebx: 0, ecx: 0, edx: 0 }
    }
}

/// Detects what the processor can do, stops if something necessary is missing, and sets up the
/// running CPU.
pub fn init() {
    require_all();
    FEATURES.store(detect(), Relaxed);
    setup();
}

/// Whether the running CPU has every feature that was found on the first one.
#[must_use]
pub fn is_like_the_first() -> bool {
    let found = FEATURES.load(Relaxed);
    detect() & found == found
}

fn require_all() {
    let basic = cpuid(1, 0);
    let extended = cpuid(0x8000_0001, 0);
    require("TSC", basic.edx, 4);
    require("MSR", basic.edx, 5);
    require("APIC", basic.edx, 9);
    require("PGE", basic.edx, 13);
    require("PAT", basic.edx, 16);
    require("FXSR", basic.edx, 24);
    require("SSE2", basic.edx, 26);
    require("SYSCALL", extended.edx, 11);
    require("NX", extended.edx, 20);
}

/// The features of the running CPU.
fn detect() -> u32 {
    let basic = cpuid(1, 0);
    let structured = cpuid(7, 0);
    let extended = cpuid(0x8000_0001, 0);
    let power = cpuid(0x8000_0007, 0);
    let svm = cpuid(0x8000_000a, 0);
    let mut found = 0;
    for (feature, register, number) in [
        (SMEP, structured.ebx, 7),
        (SMAP, structured.ebx, 20),
        (FSGSBASE, structured.ebx, 0),
        (UMIP, structured.ecx, 2),
        (XSAVE, basic.ecx, 26),
        (X2APIC, basic.ecx, 21),
        (HYPERVISOR, basic.ecx, 31),
        (INVARIANT_TSC, power.edx, 8),
        (SVM, extended.ecx & svm.edx << 2, 2),
        (HUGE_PAGES, extended.edx, 26),
        (MACHINE_CHECKS, basic.edx & basic.edx >> 7, 7),
    ] {
        if register >> number & 1 == 1 {
            found |= feature;
        }
    }
    found
}

fn require(name: &str, register: u32, number: u32) {
    if register >> number & 1 == 0 {
        log!("[boot] this processor lacks {name}");
        fatal("the processor does not suffice");
    }
}

/// Writes the control registers of the running CPU.
pub fn setup() {
    let mut cr4 = bit::CR4_PAE | bit::CR4_MCE | bit::CR4_PGE | bit::CR4_OSFXSR | bit::CR4_OSXMMEXCPT;
    for (feature, flag) in [
        (SMEP, bit::CR4_SMEP),
        (SMAP, bit::CR4_SMAP),
        (FSGSBASE, bit::CR4_FSGSBASE),
        (UMIP, bit::CR4_UMIP),
        (XSAVE, bit::CR4_OSXSAVE),
    ] {
        if has(feature) {
            cr4 |= flag;
        }
    }
    // SAFETY: the processor has what is switched on; the page tables have no entry that NX, WP,
    // SMEP or SMAP forbid the kernel.
    unsafe {
        asm!("mov cr0, {}", in(reg) CR0, options(nostack));
        asm!("mov cr4, {}", in(reg) cr4, options(nostack));
        asm!("mov dr7, {}", in(reg) 0x400u64, options(nomem, nostack));
        msr::write(msr::EFER, msr::read(msr::EFER) | bit::EFER_NXE | bit::EFER_SCE);
        msr::write(msr::PAT, PAT);
    }
}

/// CR0.
#[must_use]
pub fn cr0() -> u64 {
    let value: u64;
    // SAFETY: reading changes nothing.
    unsafe { asm!("mov {}, cr0", out(reg) value, options(nomem, nostack, preserves_flags)) };
    value
}

/// CR3.
#[must_use]
pub fn cr3() -> u64 {
    let value: u64;
    // SAFETY: reading changes nothing.
    unsafe { asm!("mov {}, cr3", out(reg) value, options(nomem, nostack, preserves_flags)) };
    value
}

/// CR4.
#[must_use]
pub fn cr4() -> u64 {
    let value: u64;
    // SAFETY: reading changes nothing.
    unsafe { asm!("mov {}, cr4", out(reg) value, options(nomem, nostack, preserves_flags)) };
    value
}
