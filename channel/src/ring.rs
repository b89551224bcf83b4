//! Counting bytes in and out of a ring of which Linux can write all: bytes and counts.
//!
//! Byte `n` stands at `n % size`. `written` says how many were put in and `read` how many were
//! taken out; both wrap. The side that puts keeps `written` for itself ([`Producer`]) and only
//! shows it; `read` moves by compare-and-swap, because both sides take. Here are the counts only:
//! where bytes are to be moved, a closure is told so with [`Piece`]s, which lie inside the ring
//! whatever the counts are.

#![forbid(unsafe_code)]

use crate::sync::{AtomicU64, Ordering};
use core::num::NonZeroU64;

/// How often a taker tries again when others take at the same time. Linux cannot run between the
/// steps of a thread on the same CPU; on another one it can.
pub const TRIES: u32 = 4;

/// The two counts of a ring.
#[derive(Clone, Copy, Debug)]
pub struct Counters<'a> {
    /// Bytes put in.
    pub written: &'a AtomicU64,
    /// Bytes taken out.
    pub read: &'a AtomicU64,
}

/// Bytes to be moved: `len` bytes at `at` in the ring are those at `data` in the caller's memory.
/// `at + len` is at most the ring's size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Offset in the ring.
    pub at: usize,
    /// Offset in what is put or taken.
    pub data: usize,
    /// Bytes; may be 0.
    pub len: usize,
}

/// What is in a ring, and whether its counts had to be repaired to say so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Bytes that are there, or were taken.
    pub bytes: usize,
    /// The counts were impossible; the contents were dropped.
    pub repaired: bool,
}

/// There is no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoRoom {
    /// As in [`Count`].
    pub repaired: bool,
}

/// The side that puts.
#[derive(Debug, Default)]
pub struct Producer {
    written: u64,
}

impl Producer {
    /// That of an empty ring whose `written` is at this count. Zero when it is made.
    #[must_use]
    pub const fn new(written: u64) -> Producer {
        Producer { written }
    }

    /// How many bytes were put so far.
    #[inline]
    #[must_use]
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Puts `len` bytes, or none. Returns whether the counts had to be repaired. Work: the bytes,
    /// in at most two pieces.
    ///
    /// `read` is acquired, which pairs with its release in [`take`]: who took a byte has read it
    /// before it is written over here. `written` is released, which pairs with the acquisition of
    /// who takes: it sees the bytes.
    #[inline]
    pub fn put(
        &mut self,
        counters: Counters<'_>,
        size: NonZeroU64,
        len: usize,
        move_piece: impl FnMut(Piece),
    ) -> Result<bool, NoRoom> {
        let read = counters.read.load(Ordering::Acquire);
        let (used, repaired) = check(counters, self.written, read, size);
        if len as u64 > size.get() - used {
            return Err(NoRoom { repaired });
        }
        move_pieces(self.written, size, len, move_piece);
        self.written = self.written.wrapping_add(len as u64);
        counters.written.store(self.written, Ordering::Release);
        Ok(repaired)
    }
}

/// Takes up to `most` bytes out of what was written before `written`. Work: [`TRIES`] times the
/// bytes.
///
/// `written` is the taker's one look at that count, acquired if it is the other side's. When others
/// were faster each time, nothing is taken.
#[inline]
pub fn take(
    counters: Counters<'_>,
    written: u64,
    size: NonZeroU64,
    most: usize,
    mut move_piece: impl FnMut(Piece),
) -> Count {
    let mut read = counters.read.load(Ordering::Acquire);
    for _ in 0..TRIES {
        let (used, repaired) = check(counters, written, read, size);
        let bytes = (used as usize).min(most);
        if bytes == 0 {
            return Count { bytes, repaired };
        }
        move_pieces(read, size, bytes, &mut move_piece);
        let after = read.wrapping_add(bytes as u64);
        // Released: the bytes have been read when the other side sees the room.
        match counters.read.compare_exchange(read, after, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => return Count { bytes, repaired },
            Err(now) => read = now,
        }
    }
    Count::default()
}

/// What is there now, without taking it.
#[inline]
#[must_use]
pub fn count(counters: Counters<'_>, written: u64, size: NonZeroU64) -> Count {
    let (used, repaired) = check(counters, written, counters.read.load(Ordering::Relaxed), size);
    Count { bytes: used as usize, repaired }
}

/// Bytes in the ring, by counts that were looked at once: at most `size`. Impossible ones are
/// repaired by dropping the contents.
#[inline]
fn check(counters: Counters<'_>, written: u64, read: u64, size: NonZeroU64) -> (u64, bool) {
    let used = written.wrapping_sub(read);
    if used <= size.get() {
        return (used, false);
    }
    counters.read.store(written, Ordering::Release);
    counters.written.store(written, Ordering::Release);
    (0, true)
}

/// Moves `len` bytes, at most `size`, from a count on: in one piece, or in two where the ring ends.
#[inline]
fn move_pieces(count: u64, size: NonZeroU64, len: usize, mut move_piece: impl FnMut(Piece)) {
    let at = (count % size) as usize;
    let first = size.get() as usize - at;
    if len <= first {
        move_piece(Piece { at, data: 0, len });
    } else {
        move_two(at, first, len, move_piece);
    }
}

/// Moves the pieces before and behind the ring's end: rare, and kept apart so that the other case
/// is short.
#[cold]
fn move_two(at: usize, first: usize, len: usize, mut move_piece: impl FnMut(Piece)) {
    move_piece(Piece { at, data: 0, len: first });
    move_piece(Piece { at: 0, data: first, len: len - first });
}
