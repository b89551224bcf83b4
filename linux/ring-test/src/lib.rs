// SPDX-License-Identifier: GPL-2.0-only
//! Linux's side of the FIFO rings, `linux/module/ring.h`, compiled for the host. The tests run it
//! against the real-time side's own code, on the same memory.

use std::sync::atomic::AtomicU64;

/// `struct ring`.
#[derive(Debug)]
#[repr(C)]
pub struct Ring {
    /// First byte.
    pub data: *mut u8,
    /// Size of the data in bytes; not 0.
    pub size: u64,
    /// Bytes put in.
    pub written: *const AtomicU64,
    /// Bytes taken out.
    pub read: *const AtomicU64,
}

// SAFETY: the C code makes atomic accesses to the counters; a test may see torn bytes, but does not
// rely on them before the counters say so.
unsafe impl Send for Ring {}

/// Result of [`take`] and [`put`] if a span did not lie within the ring.
pub const OUTSIDE: i64 = -1;

unsafe extern "C" {
    fn test_take(ring: *const Ring, buffer: *mut u8, count: u64) -> i64;
    fn test_put(ring: *const Ring, buffer: *const u8, count: u64) -> i64;
    fn test_used(ring: *const Ring) -> u64;
    fn test_room(ring: *const Ring) -> u64;
}

/// Takes bytes out like a read in the module; returns their number, or [`OUTSIDE`].
///
/// # Safety
/// The ring's pointers are valid, for `size` bytes and as counters.
pub unsafe fn take(ring: &Ring, buffer: &mut [u8]) -> i64 {
    // SAFETY: the caller's promise, and the slice is writable.
    unsafe { test_take(ring, buffer.as_mut_ptr(), buffer.len() as u64) }
}

/// Puts bytes in like a write in the module; returns their number, or [`OUTSIDE`].
///
/// # Safety
/// As for [`take`].
pub unsafe fn put(ring: &Ring, buffer: &[u8]) -> i64 {
    // SAFETY: the caller's promise, and the slice is readable.
    unsafe { test_put(ring, buffer.as_ptr(), buffer.len() as u64) }
}

/// Bytes in the ring, and room in it, as the module sees them.
///
/// # Safety
/// As for [`take`].
pub unsafe fn fill(ring: &Ring) -> (u64, u64) {
    // SAFETY: the caller's promise.
    unsafe { (test_used(ring), test_room(ring)) }
}
