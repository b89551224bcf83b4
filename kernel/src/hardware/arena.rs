//! The memory of the first task: its objects, its image, its stack.

use crate::arch::physical;
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Its size in bytes.
pub const SIZE: usize = 5 << 20;

#[repr(C, align(4096))]
struct Arena(UnsafeCell<[u8; SIZE]>);

// SAFETY: [`take`] hands it out once.
unsafe impl Sync for Arena {}

static MEMORY: Arena = Arena(UnsafeCell::new([0; SIZE]));

static TAKEN: AtomicBool = AtomicBool::new(false);

/// Its physical address, and its size in bytes. `None` from the second time on.
pub fn take() -> Option<[u64; 2]> {
    (!TAKEN.swap(true, Relaxed)).then(|| [physical(MEMORY.0.get()), SIZE as u64])
}
