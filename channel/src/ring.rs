//! The counts of a ring whose bytes and counts Linux can write.
//!
//! Byte `n` is at `n % size`. `written` counts the bytes put in and `read` those taken out; both
//! wrap. The producer keeps its own copy of `written` ([`Producer`]) and only publishes it; `read`
//! moves by compare-and-swap, because both sides take. This module handles the counts only: the
//! caller's closure moves the bytes, and gets [`Piece`]s that lie inside the ring whatever the
//! counts are.

#![forbid(unsafe_code)]

use crate::sync::{AtomicU64, Ordering};
use core::num::NonZeroU64;

/// How often counts are looked at, and bytes are taken, when others are faster. On the same
/// processor, Linux cannot run between the steps of a thread; on another processor it can.
pub const TRIES: u32 = 4;

/// The two counts of a ring.
#[derive(Clone, Copy, Debug)]
pub struct Counters<'a> {
    /// Bytes put in.
    pub written: &'a AtomicU64,
    /// Bytes taken out.
    pub read: &'a AtomicU64,
}

impl Counters<'_> {
    /// Bytes that the other side put in; what it put is seen, too.
    #[inline]
    #[must_use]
    pub fn theirs(self) -> u64 {
        self.written.load(Ordering::Acquire)
    }
}

/// Bytes to move between offset `at` of the ring and offset `data` of the caller's memory.
/// `at + len` is at most the ring's size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Offset in the ring.
    pub at: usize,
    /// Offset in the caller's memory.
    pub data: usize,
    /// Bytes; may be 0.
    pub len: usize,
}

/// How much is in a ring or was taken, and whether its counts had to be repaired.
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

/// The side that puts bytes in.
#[derive(Debug, Default)]
pub struct Producer {
    written: u64,
}

impl Producer {
    /// The producer of an empty ring whose `written` has this value; a new ring starts at 0.
    #[must_use]
    pub const fn new(written: u64) -> Producer {
        Producer { written }
    }

    /// Bytes put so far.
    #[inline]
    #[must_use]
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Puts `len` bytes, or none. Returns whether the counts had to be repaired. Work: the bytes,
    /// in at most two pieces.
    ///
    /// The acquire of `read` pairs with its release in [`take`]: a taker has read a byte before it
    /// is overwritten here. The release of `written` pairs with the taker's acquire, so the taker
    /// sees the bytes.
    #[inline]
    pub fn put(
        &mut self,
        counters: Counters<'_>,
        size: NonZeroU64,
        len: usize,
        move_piece: impl FnMut(Piece),
    ) -> Result<bool, NoRoom> {
        let read = counters.read.load(Ordering::Acquire);
        let Some(There { used, repaired, .. }) = check(counters, || self.written, read, size) else {
            return Err(NoRoom { repaired: false });
        };
        if len as u64 > size.get() - used {
            return Err(NoRoom { repaired });
        }
        move_pieces(self.written, size, len, move_piece);
        self.written = self.written.wrapping_add(len as u64);
        counters.written.store(self.written, Ordering::Release);
        Ok(repaired)
    }
}

/// Takes up to `most` of the bytes before the count that `written` returns: the caller's own
/// ([`Producer::written`]), or the other side's ([`Counters::theirs`]), which is loaded each time.
/// Work: [`TRIES`] times the bytes, and as many looks at the counts.
///
/// If others are faster in every attempt, nothing is taken.
#[inline]
pub fn take(
    counters: Counters<'_>,
    written: impl Fn() -> u64,
    size: NonZeroU64,
    most: usize,
    mut move_piece: impl FnMut(Piece),
) -> Count {
    let mut read = counters.read.load(Ordering::Acquire);
    for _ in 0..TRIES {
        let Some(there) = check(counters, &written, read, size) else { break };
        let (bytes, repaired) = ((there.used as usize).min(most), there.repaired);
        if bytes == 0 {
            return Count { bytes, repaired };
        }
        move_pieces(there.read, size, bytes, &mut move_piece);
        let after = there.read.wrapping_add(bytes as u64);
        // Release: the bytes have been read before the other side sees the room.
        match counters.read.compare_exchange(there.read, after, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => return Count { bytes, repaired },
            Err(now) => read = now,
        }
    }
    Count::default()
}

/// Takes up to `most` bytes as Linux's side does: impossible counts, which the task repairs, mean
/// an empty ring. `None`: a piece could not be moved, and nothing was taken. Work: [`TRIES`] times
/// the bytes.
pub fn take_beside(
    counters: Counters<'_>,
    size: NonZeroU64,
    most: usize,
    mut move_piece: impl FnMut(Piece) -> Option<()>,
) -> Option<usize> {
    for _ in 0..TRIES {
        let Some((read, used)) = used_beside(counters, size) else { continue };
        let bytes = (used as usize).min(most);
        try_move_pieces(read, size, bytes, &mut move_piece)?;
        let after = read.wrapping_add(bytes as u64);
        // As in `take`.
        if bytes == 0 || counters.read.compare_exchange(read, after, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
            return Some(bytes);
        }
    }
    Some(0)
}

/// Puts all of `len` bytes, or none if there is no room, as the only one who puts on Linux's side
/// at this time. Returns whether they were put. `None`: a piece could not be moved, or the ring was
/// made anew meanwhile. Work: the bytes.
pub fn put_beside(
    counters: Counters<'_>,
    size: NonZeroU64,
    len: usize,
    mut move_piece: impl FnMut(Piece) -> Option<()>,
) -> Option<bool> {
    let written = counters.written.load(Ordering::Acquire);
    if room(counters, size) < len as u64 {
        return Some(false);
    }
    try_move_pieces(written, size, len, &mut move_piece)?;
    let after = written.wrapping_add(len as u64);
    // As in `Producer::put`.
    counters.written.compare_exchange(written, after, Ordering::Release, Ordering::Relaxed).ok().map(|_| true)
}

/// Bytes that can be taken; none where the counts are impossible, as for [`take_beside`].
#[must_use]
pub fn filled(counters: Counters<'_>, size: NonZeroU64) -> u64 {
    used_beside(counters, size).map_or(0, |(_, used)| used)
}

/// The count of bytes taken, and how many there are; `None` where the counts are impossible, or
/// others were faster in every attempt.
fn used_beside(counters: Counters<'_>, size: NonZeroU64) -> Option<(u64, u64)> {
    let look = || {
        // In this order: what is found later can only be more.
        let read = counters.read.load(Ordering::Acquire);
        (read, counters.theirs().wrapping_sub(read))
    };
    // More than fits: others took and put between the two loads, or it is damage.
    (0..TRIES).map(|_| look()).find(|(_, used)| *used <= size.get())
}

/// Bytes that can be put; none where the counts are impossible.
#[must_use]
pub fn room(counters: Counters<'_>, size: NonZeroU64) -> u64 {
    used_beside(counters, size).map_or(0, |(_, used)| size.get() - used)
}

/// What is there now, without taking it; nothing if others are faster in every attempt. `written`
/// is as in [`take`].
#[inline]
#[must_use]
pub fn count(counters: Counters<'_>, written: impl Fn() -> u64, size: NonZeroU64) -> Count {
    let read = counters.read.load(Ordering::Acquire);
    check(counters, written, read, size)
        .map_or_else(Count::default, |there| Count { bytes: there.used as usize, repaired: there.repaired })
}

/// What is in a ring.
struct There {
    /// Bytes taken out before.
    read: u64,
    /// Bytes that are there, at most the ring's size.
    used: u64,
    /// As in [`Count`].
    repaired: bool,
}

/// What is in the ring, `read` having been loaded with acquire. Impossible counts are repaired by
/// dropping the contents. `None`: others are faster in every attempt.
///
/// `read` is loaded before `written`, so what is found can only be too much.
#[inline]
fn check(counters: Counters<'_>, written: impl Fn() -> u64, read: u64, size: NonZeroU64) -> Option<There> {
    let used = written().wrapping_sub(read);
    if used <= size.get() {
        Some(There { read, used, repaired: false })
    } else {
        recheck(counters, written, read, size)
    }
}

/// [`check`], after more was found than fits.
///
/// Whoever put those bytes had found room for them: it had loaded a later `read`. The acquire of
/// `written` shows that one here, too. So if `read` is still the same, the counts are impossible.
#[cold]
fn recheck(counters: Counters<'_>, written: impl Fn() -> u64, mut read: u64, size: NonZeroU64) -> Option<There> {
    for _ in 0..TRIES {
        let written = written();
        let used = written.wrapping_sub(read);
        if used <= size.get() {
            return Some(There { read, used, repaired: false });
        }
        let now = counters.read.load(Ordering::Acquire);
        if now == read {
            counters.read.store(written, Ordering::Release);
            counters.written.store(written, Ordering::Release);
            return Some(There { read: written, used: 0, repaired: true });
        }
        read = now;
    }
    None
}

/// Moves `len` bytes, at most `size`, from byte number `count` on: in one piece, or in two if they
/// wrap at the ring's end.
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

/// [`move_pieces`], for pieces that may not be movable. `None`: one was not.
fn try_move_pieces(
    count: u64,
    size: NonZeroU64,
    len: usize,
    move_piece: &mut impl FnMut(Piece) -> Option<()>,
) -> Option<()> {
    let mut is_moved = Some(());
    move_pieces(count, size, len, |piece| is_moved = is_moved.and_then(|()| move_piece(piece)));
    is_moved
}

/// Moves bytes that wrap at the ring's end: rare, and out of line to keep the common case short.
#[cold]
fn move_two(at: usize, first: usize, len: usize, mut move_piece: impl FnMut(Piece)) {
    move_piece(Piece { at, data: 0, len: first });
    move_piece(Piece { at: 0, data: first, len: len - first });
}
