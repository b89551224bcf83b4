//! Feature words: what is withheld and what is added.

use super::Registers;
use crate::withheld::bits;

pub(super) const ARAT: u32 = 1 << 2;
pub(super) const INVARIANT_TSC: u32 = 1 << 8;

const CR4_OSXSAVE: u64 = 1 << 18;

/// x2APIC, TSC deadline, hypervisor.
const ADDED_ECX: u32 = 1 << 21 | 1 << 24 | 1 << 31;
const XSAVE: u32 = 1 << 26;
const OSXSAVE: u32 = 1 << 27;
/// The local APIC.
const ADDED_EDX: u32 = 1 << 9;

/// The machine's answer less the bits in [`crate::withheld::LEAVES`] for that leaf.
pub(super) fn less(host: Registers, withheld: Registers) -> Registers {
    core::array::from_fn(|i| host[i] & !withheld[i])
}

pub(super) fn leaf_1(host: Registers, cr4: u64, apic_id: u32) -> Registers {
    let [eax, ebx, ecx, edx] = less(host, const { bits(1) });
    let mut ecx = ecx | ADDED_ECX;
    if ecx & XSAVE != 0 && cr4 & CR4_OSXSAVE != 0 {
        ecx |= OSXSAVE;
    }
    // Brand index and CLFLUSH size stay; one logical processor in a core; the ID's lowest byte.
    [eax, ebx & 0xffff | 1 << 16 | apic_id << 24, ecx, edx | ADDED_EDX]
}

pub(super) fn leaf_7(host: Registers, subleaf: u32) -> Registers {
    // Only subleaf 0 exists.
    let [_, ebx, ecx, edx] = less(host, const { bits(7) });
    if subleaf == 0 { [0, ebx, ecx, edx] } else { [0; 4] }
}
