//! Checked reading of tables that the boot loader and the firmware wrote.

/// Physical memory as something to read from.
pub trait Memory {
    /// The bytes at a physical address, or `None` where there may be no memory.
    fn bytes(&self, physical: u64, length: usize) -> Option<&[u8]>;
}

/// A 16-bit number at an offset.
#[must_use]
pub fn u16_at(bytes: &[u8], offset: usize) -> Option<u16> {
    bytes.get(offset..offset.checked_add(2)?)?.try_into().ok().map(u16::from_le_bytes)
}

/// A 32-bit number at an offset.
#[must_use]
pub fn u32_at(bytes: &[u8], offset: usize) -> Option<u32> {
    bytes.get(offset..offset.checked_add(4)?)?.try_into().ok().map(u32::from_le_bytes)
}

/// A 64-bit number at an offset.
#[must_use]
pub fn u64_at(bytes: &[u8], offset: usize) -> Option<u64> {
    bytes.get(offset..offset.checked_add(8)?)?.try_into().ok().map(u64::from_le_bytes)
}

/// The part of `bytes` before the first zero.
#[must_use]
pub fn until_zero(bytes: &[u8]) -> &[u8] {
    bytes.split(|b| *b == 0).next().unwrap_or(&[])
}

/// Whether the bytes sum up to zero, as those of ACPI tables do.
#[must_use]
pub fn sums_to_zero(bytes: &[u8]) -> bool {
    bytes.iter().fold(0u8, |sum, b| sum.wrapping_add(*b)) == 0
}
