//! Topology: one logical processor, in one core, in one package.

use super::Registers;

/// Leaves 4 and 0x8000_001d: the caches as they are, but not shared. Bits 14 to 25 of `eax` hold
/// the number of sharing processors, and on Intel bits 26 to 31 the cores of the package, both less
/// one.
pub(super) const fn cache(host: Registers) -> Registers {
    let [eax, ebx, ecx, edx] = host;
    [eax & 0x3fff, ebx, ecx, edx]
}

/// Leaf 0xb: one level of threads and one of cores, with one of each; the x2APIC ID is 0.
pub(super) const fn extended(subleaf: u32) -> Registers {
    match subleaf {
        0 => [0, 1, 1 << 8, 0],
        1 => [0, 1, 2 << 8 | 1, 0],
        _ => [0, 0, subleaf & 0xff, 0],
    }
}
