//! Topology: Linux's processors are cores of one package, with one logical processor each.

use super::Registers;

/// Leaves 4 and 0x8000_001d: the caches as they are, but not shared. Bits 14 to 25 of `eax` hold
/// the number of sharing processors, and on Intel bits 26 to 31 the cores of the package, both less
/// one.
pub(super) const fn cache(host: Registers) -> Registers {
    let [eax, ebx, ecx, edx] = host;
    [eax & 0x3fff, ebx, ecx, edx]
}

/// Where a processor is among Linux's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Topology {
    /// Its local APIC's ID.
    pub(super) apic_id: u32,
    /// Number of Linux's processors.
    count: u32,
    /// Bits of an ID below the package's number.
    bits: u32,
}

impl Topology {
    /// The place of the processor with that ID of its local APIC, among those with the IDs in
    /// `all`.
    #[must_use]
    pub fn new(apic_id: u32, all: &[u32]) -> Topology {
        let largest = all.iter().copied().fold(apic_id, u32::max);
        Topology { apic_id, count: (all.len() as u32).max(1), bits: u32::BITS - largest.leading_zeros() }
    }

    /// Whether Linux has other processors.
    pub(super) const fn has_others(self) -> bool {
        self.count > 1
    }

    /// `ecx` of leaf 0x8000_0008: the cores of the package, less one, and the bits of an ID below
    /// the package's number.
    pub(super) const fn cores(self) -> u32 {
        let bits = if self.bits > 0xf { 0xf } else { self.bits };
        if self.has_others() { bits << 12 | (self.count - 1) & 0xff } else { 0 }
    }

    /// Leaf 0xb: a level of threads, one in each core, and a level of cores.
    pub(super) const fn extended(self, subleaf: u32) -> Registers {
        match subleaf {
            0 => [0, 1, 1 << 8, self.apic_id],
            // The field for the number of cores has 16 bits.
            1 => [self.bits, self.count & 0xffff, 2 << 8 | 1, self.apic_id],
            _ => [0, 0, subleaf & 0xff, self.apic_id],
        }
    }
}
