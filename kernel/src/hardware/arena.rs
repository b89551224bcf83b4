//! The memory of the first task: its objects, its image, its stack.

use crate::arch::physical;
use core::cell::UnsafeCell;

/// Bytes.
pub const SIZE: usize = 4 << 20;

#[repr(C, align(4096))]
struct Arena(UnsafeCell<[u8; SIZE]>);

// SAFETY: handed to the allocation of the first task's objects, once.
unsafe impl Sync for Arena {}

static MEMORY: Arena = Arena(UnsafeCell::new([0; SIZE]));

/// Where it lies, and how many bytes there are.
pub fn range() -> [u64; 2] {
    [physical(MEMORY.0.get()), SIZE as u64]
}
