//! Numbers of I/O control commands that say what data they carry.

/// Data that a command carries.
#[must_use]
pub const fn size(command: u32) -> usize {
    let direction = command >> 30;
    if direction == 0 { 0 } else { (command >> 16 & 0x3fff) as usize }
}
