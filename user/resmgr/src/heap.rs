//! Memory for reading the system file: handed out from one end, and taken back only from there.

use core::{
    alloc::{GlobalAlloc, Layout},
    cell::UnsafeCell,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

const SIZE: usize = 2 << 20;

/// The heap.
pub struct Heap {
    memory: UnsafeCell<[u8; SIZE]>,
    used: AtomicUsize,
}

// SAFETY: `memory` is only reached through pointers to pieces that were handed out, each to one owner; `used` is atomic, and the task
// has one thread.
unsafe impl Sync for Heap {}

impl Default for Heap {
    fn default() -> Heap {
        Heap::new()
    }
}

impl Heap {
    /// An empty one.
    #[must_use]
    pub const fn new() -> Heap {
        Heap { memory: UnsafeCell::new([0; SIZE]), used: AtomicUsize::new(0) }
    }

    fn base(&self) -> *mut u8 {
        self.memory.get().cast()
    }

    /// Whether the piece is the last one that was handed out.
    fn is_last(&self, piece: *mut u8, size: usize) -> bool {
        piece.addr() + size == self.base().addr() + self.used.load(Relaxed)
    }
}

// SAFETY: pieces lie within `memory`, aligned as asked, and never overlap, because `used` only falls by the size of the last piece
// when that one is given back.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let base = self.base();
        let Some(start) = (base.addr() + self.used.load(Relaxed)).checked_next_multiple_of(layout.align()) else {
            return core::ptr::null_mut();
        };
        let offset = start - base.addr();
        match offset.checked_add(layout.size()) {
            Some(end) if end <= SIZE => {
                self.used.store(end, Relaxed);
                base.wrapping_add(offset)
            }
            _ => core::ptr::null_mut(),
        }
    }

    unsafe fn dealloc(&self, piece: *mut u8, layout: Layout) {
        if self.is_last(piece, layout.size()) {
            self.used.store(piece.addr() - self.base().addr(), Relaxed);
        }
    }

    unsafe fn realloc(&self, piece: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let start = piece.addr() - self.base().addr();
        if self.is_last(piece, layout.size()) && start.checked_add(size).is_some_and(|end| end <= SIZE) {
            self.used.store(start + size, Relaxed);
            return piece;
        }
        if size <= layout.size() {
            return piece;
        }
        // SAFETY: the caller keeps the contract of `realloc`: the size is not zero and does not overflow with the alignment.
        let new = unsafe { self.alloc(Layout::from_size_align_unchecked(size, layout.align())) };
        if !new.is_null() {
            // SAFETY: both pieces have at least `layout.size()` bytes, the smaller of the two sizes, and do not overlap.
            unsafe { core::ptr::copy_nonoverlapping(piece, new, layout.size()) };
        }
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static HEAP: Heap = Heap::new();

    #[test]
    fn the_last_piece_grows_in_place_and_comes_back() {
        let heap = &HEAP;
        let layout = Layout::from_size_align(24, 8).unwrap();
        // SAFETY: every piece is given back, or grown, with the layout that it has.
        unsafe {
            let first = heap.alloc(layout);
            let second = heap.alloc(layout);
            first.write_bytes(7, 24);
            assert_eq!(heap.realloc(second, layout, 100), second);
            let moved = heap.realloc(first, layout, 48);
            assert!(moved > second && *moved.add(23) == 7);
            heap.dealloc(moved, Layout::from_size_align(48, 8).unwrap());
            assert_eq!(heap.alloc(layout), moved);
            assert!(heap.alloc(Layout::from_size_align(SIZE, 1).unwrap()).is_null());
            assert_eq!(heap.alloc(Layout::from_size_align(1, 4096).unwrap()).addr() % 4096, 0);
        }
    }
}
