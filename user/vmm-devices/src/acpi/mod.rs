//! ACPI tables (ACPI 6.4, 5.2): found from the root pointer, and copied for Linux without what
//! Linux must not use.
//!
//! The tables are the firmware's, and lie where Linux can write, so they are read once, before
//! Linux first runs. Every table is bounded, and its checksum must be right.

mod copy;
mod madt;
mod walk;

pub use copy::{Copy, SIZE};
pub use madt::Processor;
pub use walk::{Error, RootPointer, Table, Tables, io_mmu_functions};

/// Bytes of a table's header.
pub const HEADER: usize = 36;

pub(crate) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|b| u16::from_le_bytes(*b))
}

pub(crate) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|b| u32::from_le_bytes(*b))
}

pub(crate) fn sum(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0, |total, byte| total.wrapping_add(*byte))
}

/// Sets the byte at `at` so that all bytes sum up to zero.
fn seal(bytes: &mut [u8], at: usize) {
    let total = sum(bytes);
    if let Some(check) = bytes.get_mut(at) {
        *check = check.wrapping_sub(total);
    }
}
