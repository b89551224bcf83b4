//! The memory of the first task: its objects, its image, its stack.

use crate::arch::physical;
use core::cell::UnsafeCell;

/// Its size in bytes.
pub const SIZE: usize = 4 << 20;

#[repr(C, align(4096))]
struct Arena(UnsafeCell<[u8; SIZE]>);

// SAFETY: handed out once, for the first task's objects.
unsafe impl Sync for Arena {}

static MEMORY: Arena = Arena(UnsafeCell::new([0; SIZE]));

/// Its physical address, and its size in bytes.
pub fn range() -> [u64; 2] {
    [physical(MEMORY.0.get()), SIZE as u64]
}
