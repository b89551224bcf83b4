//! Memory for reading the system file: a bump allocator that takes back only the last piece.

use core::alloc::{GlobalAlloc, Layout};
use core::cell::UnsafeCell;
use core::sync::atomic::AtomicUsize;
use core::sync::atomic::Ordering::{AcqRel, Relaxed};

const SIZE: usize = 2 << 20;

/// The heap.
pub struct Heap {
    memory: UnsafeCell<[u8; SIZE]>,
    used: AtomicUsize,
}

// SAFETY: `memory` is only reached through pointers to pieces that were handed out, each to one
// owner; `used` goes up and down by one atomic step at a time.
unsafe impl Sync for Heap {}

impl Default for Heap {
    fn default() -> Heap {
        Heap::new()
    }
}

impl Heap {
    /// An empty heap.
    pub const fn new() -> Heap {
        Heap { memory: UnsafeCell::new([0; SIZE]), used: AtomicUsize::new(0) }
    }

    fn base(&self) -> *mut u8 {
        self.memory.get().cast()
    }

    /// Where a piece begins.
    fn start(&self, piece: *mut u8) -> usize {
        piece.addr() - self.base().addr()
    }

    /// The first offset from `used` on with that alignment.
    fn aligned(&self, used: usize, align: usize) -> Option<usize> {
        Some((self.base().addr() + used).checked_next_multiple_of(align)? - self.base().addr())
    }

    /// Moves the end of the last piece, which is at `end`. False if the piece is not the last one,
    /// or there is no room.
    fn move_end(&self, end: usize, to: Option<usize>) -> bool {
        to.is_some_and(|to| to <= SIZE && self.used.compare_exchange(end, to, AcqRel, Relaxed).is_ok())
    }
}

// SAFETY: pieces lie within `memory`, aligned as asked, and never overlap, because `used` only
// falls by the size of the last piece when that one is given back.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let start = |used| self.aligned(used, layout.align());
        let end = |used| start(used)?.checked_add(layout.size()).filter(|end| *end <= SIZE);
        let taken = self.used.fetch_update(AcqRel, Relaxed, end).ok();
        taken.and_then(start).map_or(core::ptr::null_mut(), |start| self.base().wrapping_add(start))
    }

    unsafe fn dealloc(&self, piece: *mut u8, layout: Layout) {
        let start = self.start(piece);
        self.move_end(start + layout.size(), Some(start));
    }

    unsafe fn realloc(&self, piece: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let start = self.start(piece);
        if self.move_end(start + layout.size(), start.checked_add(size)) || size <= layout.size() {
            return piece;
        }
        // SAFETY: the caller keeps the contract of `realloc`: the size is not zero and does not
        // overflow with the alignment.
        let new = unsafe { self.alloc(Layout::from_size_align_unchecked(size, layout.align())) };
        if !new.is_null() {
            // SAFETY: both pieces have at least `layout.size()` bytes, the smaller of the two
            // sizes, and do not overlap.
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
    /// The manager and its warden are two threads: each gets memory of its own.
    #[test]
    fn two_threads_get_pieces_that_lie_apart() {
        extern crate std;
        static HEAP: Heap = Heap::new();
        let layout = Layout::from_size_align(8, 8).unwrap();
        let is_own = |mark: u64| {
            // SAFETY: the piece is this thread's until it is given back.
            unsafe {
                let piece = HEAP.alloc(layout).cast::<u64>();
                piece.write_volatile(mark);
                let is_own = (0..10).all(|_| piece.read_volatile() == mark);
                HEAP.dealloc(piece.cast(), layout);
                is_own
            }
        };
        let all_are = |mark| (0..100_000).all(|_| is_own(mark));
        std::thread::scope(|scope| {
            let other = scope.spawn(|| all_are(1));
            assert!(all_are(2) && other.join().unwrap());
        });
    }
}
