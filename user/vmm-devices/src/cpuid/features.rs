//! Feature words: what is taken away and what is added.

use super::Registers;

/// A set of bits.
const fn bits<const N: usize>(numbers: [u32; N]) -> u32 {
    let mut set = 0;
    let mut i = 0;
    while i < N {
        set |= 1 << numbers[i];
        i += 1;
    }
    set
}

pub(super) const ARAT: u32 = bits([2]);
pub(super) const INVARIANT_TSC: u32 = bits([8]);
/// CLZERO, error pointers always restored, WBNOINVD.
pub(super) const EXTENDED_8_EBX: u32 = bits([0, 2, 9]);
/// No nested data breakpoints, LFENCE serialising, null selector clears base.
pub(super) const EXTENDED_21_EAX: u32 = bits([0, 2, 6]);

const CR4_OSXSAVE: u64 = 1 << 18;

/// DTES64, MONITOR, DS-CPL, VMX, SMX, EIST, TM2, CNXT-ID, SDBG, xTPR, PDCM, DCA, OSXSAVE.
const ONE_ECX_WITHHELD: u32 = bits([2, 3, 4, 5, 6, 7, 8, 10, 11, 14, 15, 18, 27]);
/// x2APIC, TSC deadline, hypervisor.
const ONE_ECX_ADDED: u32 = bits([21, 24, 31]);
const ONE_ECX_XSAVE: u32 = bits([26]);
const ONE_ECX_OSXSAVE: u32 = bits([27]);
/// DS, ACPI, HTT, TM, PBE. Machine checks stay: the guest has one bank, which never has anything to tell.
const ONE_EDX_WITHHELD: u32 = bits([21, 22, 28, 29, 31]);
const ONE_EDX_APIC: u32 = bits([9]);

pub(super) fn leaf_1(host: Registers, cr4: u64) -> Registers {
    let [eax, ebx, ecx, edx] = host;
    let mut ecx = ecx & !ONE_ECX_WITHHELD | ONE_ECX_ADDED;
    if ecx & ONE_ECX_XSAVE != 0 && cr4 & CR4_OSXSAVE != 0 {
        ecx |= ONE_ECX_OSXSAVE;
    }
    // Brand index and CLFLUSH size stay; one logical processor, APIC ID 0.
    let ebx = ebx & 0xffff | 1 << 16;
    [eax, ebx, ecx, edx & !ONE_EDX_WITHHELD | ONE_EDX_APIC]
}

/// TSC_ADJUST, SGX, HLE, RTM, PQM, PQE, processor trace.
const SEVEN_EBX_WITHHELD: u32 = bits([1, 2, 4, 11, 12, 15, 25]);
/// PKU, OSPKE, WAITPKG, CET_SS, TME, LA57, KL, bus-lock, ENQCMD, SGX_LC, PKS.
const SEVEN_ECX_WITHHELD: u32 = bits([3, 4, 5, 7, 13, 16, 23, 24, 29, 30, 31]);
/// User interrupts, PCONFIG, architectural LBR, CET_IBT, AMX, speculation control and its kin.
const SEVEN_EDX_WITHHELD: u32 = bits([5, 18, 19, 20, 22, 24, 25, 26, 27, 28, 29, 30, 31]);

pub(super) fn leaf_7(host: Registers, subleaf: u32) -> Registers {
    let [_, ebx, ecx, edx] = host;
    match subleaf {
        0 => [0, ebx & !SEVEN_EBX_WITHHELD, ecx & !SEVEN_ECX_WITHHELD, edx & !SEVEN_EDX_WITHHELD],
        _ => [0; 4],
    }
}

/// CmpLegacy, SVM, ExtApicSpace, OSVW, IBS, SKINIT, WDT, LWP, NodeId, core and northbridge counters, breakpoint
/// extensions, PTSC, cache counters, MONITORX, address-mask extension.
const EXTENDED_ONE_ECX_WITHHELD: u32 = bits([1, 2, 3, 9, 10, 12, 13, 15, 19, 23, 24, 26, 27, 28, 29, 30]);
pub(super) fn leaf_extended_1(host: Registers) -> Registers {
    let [eax, ebx, ecx, edx] = host;
    [eax, ebx, ecx & !EXTENDED_ONE_ECX_WITHHELD, edx]
}
