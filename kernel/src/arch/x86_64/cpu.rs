//! What the processor can do, and how the kernel sets it up.

use core::arch::asm;
use core::arch::x86_64::{__cpuid_count, CpuidResult};
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use pillion_abi::boot::feature;
use pillion_core::x86_64::processor::{self, Leaf, UMIP};
pub use pillion_core::x86_64::processor::{FSGSBASE, HYPERVISOR, MACHINE_CHECKS, SMAP, SMEP, SVM, X2APIC, XSAVE};

use super::{fatal, layout::ALWAYS_MAPPED, log, msr};

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

/// End of the physical addresses at which devices may answer.
#[must_use]
pub fn device_reach() -> u64 {
    processor::device_reach(leaf).unwrap_or(ALWAYS_MAPPED)
}

/// CPUID, with zeros for a leaf that is not there.
#[must_use]
pub fn cpuid(number: u32, subleaf: u32) -> CpuidResult {
    let [eax, ebx, ecx, edx] = leaf(number, subleaf);
    CpuidResult { eax, ebx, ecx, edx }
}

/// The same as an array.
#[must_use]
pub fn leaf(number: u32, subleaf: u32) -> Leaf {
    let raw = |number, subleaf| {
        let CpuidResult { eax, ebx, ecx, edx } = __cpuid_count(number, subleaf);
        [eax, ebx, ecx, edx]
    };
    processor::leaf(raw, number, subleaf)
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
    if let Some(name) = processor::missing(leaf).next() {
        log!("[boot] this processor lacks {name}");
        fatal("the processor does not suffice");
    }
}

/// The features of the running CPU.
fn detect() -> u32 {
    processor::detect(leaf)
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
