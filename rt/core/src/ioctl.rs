//! I/O control command numbers that encode the data they carry.

/// Bytes of data that a command carries.
#[must_use]
pub const fn size(command: u32) -> usize {
    let direction = command >> 30;
    if direction == 0 { 0 } else { (command >> 16 & 0x3fff) as usize }
}
