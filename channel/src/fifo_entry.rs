//! A FIFO's [`FifoEntry`], in which its owner describes it to Linux, which cannot write it.
//!
//! Linux reads the size first and last: the values that it read in between are consistent if the
//! size is not 0 and the generation is unchanged.

use crate::sync::{AtomicU32, AtomicU64, Ordering};
use core::{mem::offset_of, num::NonZeroU32, ptr::NonNull};
use pillion_abi::channel::{FifoControl, FifoEntry, Share};

/// Default offset in a share of a FIFO's control words.
const fn control(number: u32) -> u64 {
    offset_of!(Share, fifos) as u64 + number as u64 * size_of::<FifoControl>() as u64
}

/// The entry of a FIFO. Only one thread may use it at a time.
#[derive(Debug)]
pub struct Entry(NonNull<FifoEntry>);

// SAFETY: the memory is valid in all threads of the task; methods that change it take `&mut`.
unsafe impl Send for Entry {}

impl Entry {
    /// The entry at this address.
    ///
    /// # Safety
    /// As long as the entry is in use, its memory is readable and writable, there are no references
    /// to it, and nobody else writes it.
    #[must_use]
    pub unsafe fn new(entry: NonNull<FifoEntry>) -> Entry {
        Entry(entry)
    }

    /// Publishes a new FIFO: `to_linux` and `to_task` are the offsets of its rings in the task's
    /// share. Open files of an older FIFO with this number are stale.
    pub fn show(&mut self, number: u32, size: NonZeroU32, to_linux: u64, to_task: u64) {
        self.show_at(control(number), number, size, to_linux, to_task);
    }

    /// Like [`Entry::show`], with the control words at offset `control` of the share.
    pub fn show_at(&mut self, control: u64, number: u32, size: NonZeroU32, to_linux: u64, to_task: u64) {
        self.hide();
        let words = self.words();
        words.control.store(control, Ordering::Relaxed);
        words.to_linux.store(to_linux, Ordering::Relaxed);
        words.to_task.store(to_task, Ordering::Relaxed);
        words.flags.store(0, Ordering::Relaxed);
        words.read_from.store(number, Ordering::Relaxed);
        words.damaged.store(0, Ordering::Relaxed);
        let generation = words.generation.load(Ordering::Relaxed).wrapping_add(1);
        words.generation.store(generation, Ordering::Release);
        words.size.store(size.get(), Ordering::Release);
    }

    /// Publishes new rings, of another size and elsewhere, for a FIFO that is now empty. Open files
    /// remain valid.
    pub fn resize(&mut self, size: NonZeroU32, to_linux: u64, to_task: u64) {
        self.hide();
        let words = self.words();
        words.to_linux.store(to_linux, Ordering::Relaxed);
        words.to_task.store(to_task, Ordering::Relaxed);
        words.damaged.store(0, Ordering::Relaxed);
        words.size.store(size.get(), Ordering::Release);
    }

    /// Withdraws the FIFO and returns its size. The caller then raises Linux's event: processes may
    /// sleep on the FIFO.
    ///
    /// Before the memory of its rings is reused, the caller must check [`crate::Fifo::is_entered`].
    /// Linux announces an access before it checks whether the FIFO still exists, so at least one
    /// side sees the other.
    pub fn hide(&mut self) -> u32 {
        self.words().size.swap(0, Ordering::SeqCst)
    }

    /// Undoes [`Entry::hide`], which returned this size.
    pub fn put_back(&mut self, size: u32) {
        self.words().size.store(size, Ordering::Release);
    }

    /// Sets the flags ([`pillion_abi::channel::fifo_flag`]).
    pub fn set_flags(&mut self, flags: u32) {
        self.words().flags.store(flags, Ordering::Release);
    }

    /// Redirects Linux's reads to the FIFO with this number.
    pub fn set_read_from(&mut self, fifo: u32) {
        self.words().read_from.store(fifo, Ordering::Release);
    }

    /// Publishes how often the FIFO was repaired.
    #[inline]
    pub fn set_damaged(&mut self, count: u64) {
        self.words().damaged.store(count, Ordering::Relaxed);
    }

    #[inline]
    fn words(&self) -> Words<'static> {
        let e = self.0.as_ptr();
        // SAFETY: valid as promised to `new`, aligned, and all accesses are atomic.
        unsafe {
            Words {
                size: AtomicU32::from_ptr(&raw mut (*e).size),
                generation: AtomicU32::from_ptr(&raw mut (*e).generation),
                flags: AtomicU32::from_ptr(&raw mut (*e).flags),
                read_from: AtomicU32::from_ptr(&raw mut (*e).read_from),
                to_linux: AtomicU64::from_ptr(&raw mut (*e).to_linux),
                to_task: AtomicU64::from_ptr(&raw mut (*e).to_task),
                damaged: AtomicU64::from_ptr(&raw mut (*e).damaged),
                control: AtomicU64::from_ptr(&raw mut (*e).control),
            }
        }
    }
}

struct Words<'a> {
    size: &'a AtomicU32,
    generation: &'a AtomicU32,
    flags: &'a AtomicU32,
    read_from: &'a AtomicU32,
    to_linux: &'a AtomicU64,
    to_task: &'a AtomicU64,
    damaged: &'a AtomicU64,
    control: &'a AtomicU64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_one_is_of_a_new_generation() {
        let mut place = FifoEntry::default();
        let at = NonNull::from(&mut place);
        // SAFETY: the memory is read below only while nobody uses the entry.
        let mut entry = unsafe { Entry::new(at) };
        entry.show(7, NonZeroU32::MIN, 64, 128);
        entry.set_flags(3);
        entry.set_read_from(9);
        entry.set_damaged(5);
        // SAFETY: as above.
        let seen = unsafe { at.read() };
        assert_eq!((seen.size, seen.generation, seen.to_linux, seen.to_task), (1, 1, 64, 128));
        assert_eq!((seen.flags, seen.read_from, seen.damaged), (3, 9, 5));
        assert_eq!(seen.control, (offset_of!(Share, fifos) + 7 * size_of::<FifoControl>()) as u64);
        entry.resize(NonZeroU32::MAX, 256, 512);
        // SAFETY: as above.
        let seen = unsafe { at.read() };
        assert_eq!((seen.size, seen.generation, seen.to_linux, seen.to_task), (u32::MAX, 1, 256, 512));
        assert_eq!((seen.flags, seen.read_from, seen.damaged), (3, 9, 0));
        assert_eq!(entry.hide(), u32::MAX);
        // SAFETY: as above.
        assert_eq!(unsafe { at.read() }.size, 0);
        entry.put_back(u32::MAX);
        // SAFETY: as above.
        assert_eq!(unsafe { at.read() }, seen);
        entry.hide();
        entry.show(7, NonZeroU32::MAX, 0, 0);
        // SAFETY: as above.
        let seen = unsafe { at.read() };
        assert_eq!((seen.size, seen.generation, seen.flags, seen.read_from, seen.damaged), (u32::MAX, 2, 0, 7, 0));
        entry.show_at(4096, 7, NonZeroU32::MIN, 0, 0);
        // SAFETY: as above.
        let seen = unsafe { at.read() };
        assert_eq!((seen.control, seen.generation), (4096, 3));
    }
}
