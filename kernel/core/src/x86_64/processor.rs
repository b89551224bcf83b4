//! What the kernel asks of a processor, and what it makes of what CPUID says.
//!
//! The kernel asks the processor that it runs on; `pillion-hw` asks any, or what was written down
//! of one, and must come to the same answers.

/// The registers EAX, EBX, ECX and EDX after CPUID.
pub type Leaf = [u32; 4];

/// Most processors that run.
pub const MAX_CPUS: usize = 8;

/// Supervisor-mode execution prevention.
pub const SMEP: u32 = 1;
/// Supervisor-mode access prevention.
pub const SMAP: u32 = 1 << 1;
/// Instructions that read and write the bases of FS and GS.
pub const FSGSBASE: u32 = 1 << 2;
/// User-mode instruction prevention.
pub const UMIP: u32 = 1 << 3;
/// XSAVE.
pub const XSAVE: u32 = 1 << 4;
/// x2APIC.
pub const X2APIC: u32 = 1 << 5;
/// The time-stamp counter runs evenly in all states.
pub const INVARIANT_TSC: u32 = 1 << 6;
/// AMD virtualisation with nested paging.
pub const SVM: u32 = 1 << 7;
/// It is a virtual machine.
pub const HYPERVISOR: u32 = 1 << 8;
/// Pages of 1 GiB.
pub const HUGE_PAGES: u32 = 1 << 9;
/// Machine-check registers.
pub const MACHINE_CHECKS: u32 = 1 << 10;

const BASIC: u32 = 1;
const EXTENDED: u32 = 0x8000_0001;
const EDX: usize = 3;

/// Features without which the kernel stops: name, leaf, register and bit.
const NECESSARY: [(&str, u32, usize, u32); 9] = [
    ("TSC", BASIC, EDX, 4),
    ("MSR", BASIC, EDX, 5),
    ("APIC", BASIC, EDX, 9),
    ("PGE", BASIC, EDX, 13),
    ("PAT", BASIC, EDX, 16),
    ("FXSR", BASIC, EDX, 24),
    ("SSE2", BASIC, EDX, 26),
    ("SYSCALL", EXTENDED, EDX, 11),
    ("NX", EXTENDED, EDX, 20),
];

/// CPUID, with zeros for a leaf that is not there.
pub fn leaf(cpuid: impl Fn(u32, u32) -> Leaf, leaf: u32, subleaf: u32) -> Leaf {
    let [most, ..] = cpuid(leaf & 0xffff_0000, 0);
    if leaf <= most && most & 0xffff_0000 == leaf & 0xffff_0000 { cpuid(leaf, subleaf) } else { [0; 4] }
}

/// What a processor lacks without which the kernel stops. `cpuid` is as [`leaf`].
pub fn missing(cpuid: impl Fn(u32, u32) -> Leaf) -> impl Iterator<Item = &'static str> {
    let is_missing = move |&(_, leaf, register, bit): &(_, _, usize, u32)| cpuid(leaf, 0)[register] >> bit & 1 == 0;
    NECESSARY.into_iter().filter(is_missing).map(|(name, ..)| name)
}

/// The features of a processor. `cpuid` is as [`leaf`].
pub fn detect(cpuid: impl Fn(u32, u32) -> Leaf) -> u32 {
    let [_, _, basic_ecx, basic_edx] = cpuid(BASIC, 0);
    let [_, structured_ebx, structured_ecx, _] = cpuid(7, 0);
    let [_, _, extended_ecx, extended_edx] = cpuid(EXTENDED, 0);
    let [.., power_edx] = cpuid(0x8000_0007, 0);
    let [.., svm_edx] = cpuid(0x8000_000a, 0);
    let mut found = 0;
    for (feature, register, number) in [
        (SMEP, structured_ebx, 7),
        (SMAP, structured_ebx, 20),
        (FSGSBASE, structured_ebx, 0),
        (UMIP, structured_ecx, 2),
        (XSAVE, basic_ecx, 26),
        (X2APIC, basic_ecx, 21),
        (HYPERVISOR, basic_ecx, 31),
        (INVARIANT_TSC, power_edx, 8),
        (SVM, extended_ecx & svm_edx << 2, 2),
        (HUGE_PAGES, extended_edx, 26),
        (MACHINE_CHECKS, basic_edx & basic_edx >> 7, 7),
    ] {
        if register >> number & 1 == 1 {
            found |= feature;
        }
    }
    found
}

/// End of the physical addresses that a processor has, or `None` without pages of 1 GiB: what is
/// above 4 GiB would then take more tables and time to map than it is worth.
pub fn device_reach(cpuid: impl Fn(u32, u32) -> Leaf) -> Option<u64> {
    let [bits, ..] = cpuid(0x8000_0008, 0);
    let has_huge_pages = detect(&cpuid) & HUGE_PAGES != 0;
    has_huge_pages.then(|| 1_u64.checked_shl(bits & 0xff).unwrap_or(u64::MAX))
}

/// The frequency of the time-stamp counter, if a hypervisor or the processor tells it.
pub fn told_tsc_hz(cpuid: impl Fn(u32, u32) -> Leaf) -> Option<u64> {
    let is_virtual = detect(&cpuid) & HYPERVISOR != 0;
    let by_hypervisor = is_virtual.then(|| u64::from(cpuid(0x4000_0010, 0)[0]) * 1000).and_then(plausible_tsc_hz);
    by_hypervisor.or_else(|| {
        let [denominator, numerator, crystal, _] = cpuid(0x15, 0);
        plausible_tsc_hz((u64::from(crystal) * u64::from(numerator)).checked_div(denominator.into())?)
    })
}

/// A frequency, unless no time-stamp counter has it.
#[must_use]
pub fn plausible_tsc_hz(hz: u64) -> Option<u64> {
    (100_000_000..20_000_000_000).contains(&hz).then_some(hz)
}

/// Whether messages of processors and of devices can be addressed to one local APIC. Those of
/// devices have eight bits for its number, in x2APIC mode too, and all of them set name all.
#[must_use]
pub fn reaches(id: u32) -> bool {
    id < 0xff
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A processor with those leaves; others are what the last basic one would be, as on some.
    fn processor(leaves: &[(u32, Leaf)]) -> impl Fn(u32, u32) -> Leaf + Copy {
        move |wanted, _| leaves.iter().find(|(leaf, _)| *leaf == wanted).map_or([u32::MAX; 4], |(_, found)| *found)
    }

    #[test]
    fn leaves_beyond_the_last_are_zeros() {
        let raw = processor(&[(0, [1, 0, 0, 0]), (1, [1, 2, 3, 4]), (0x8000_0000, [0; 4])]);
        assert_eq!(leaf(raw, 1, 0), [1, 2, 3, 4]);
        assert_eq!([leaf(raw, 7, 0), leaf(raw, 0x8000_0001, 0)], [[0; 4]; 2]);
    }

    #[test]
    fn what_is_missing_has_a_name() {
        let all = processor(&[]);
        assert_eq!(missing(all).count(), 0);
        let old = processor(&[(1, [0, 0, 0, !(1 << 16)]), (0x8000_0001, [0; 4])]);
        assert!(missing(old).eq(["PAT", "SYSCALL", "NX"]));
    }

    #[test]
    fn virtualisation_needs_nested_paging() {
        let without = processor(&[(0x8000_000a, [1, 8, 0, !1])]);
        assert_eq!(detect(without) & SVM, 0);
        assert_eq!(detect(processor(&[])), (1 << 11) - 1);
    }

    #[test]
    fn frequencies_must_make_sense() {
        let told =
            |crystal, hypervisor| told_tsc_hz(processor(&[(0x15, crystal), (0x4000_0010, [hypervisor, 0, 0, 0])]));
        assert_eq!(told([2, 200, 24_000_000, 0], 0), Some(2_400_000_000));
        assert_eq!(told([0, 200, 24_000_000, 0], 0), None);
        assert_eq!(told([0; 4], 2_000_000), Some(2_000_000_000));
        assert_eq!(told([1, u32::MAX, u32::MAX, 0], u32::MAX), None);
    }

    #[test]
    fn addresses_end_where_the_processor_says() {
        let with = |bits, edx| device_reach(processor(&[(0x8000_0008, [bits, 0, 0, 0]), (EXTENDED, [0, 0, 0, edx])]));
        assert_eq!([with(40, 1 << 26), with(255, 1 << 26), with(40, 0)], [Some(1 << 40), Some(u64::MAX), None]);
    }
}
