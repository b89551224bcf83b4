//! A FIFO: a ring to Linux and a ring to the task.
//!
//! The task puts bytes into the ring to Linux. It takes bytes from the ring to the task and, when
//! that is empty, takes back its own; see [`pillion_abi::channel::FifoControl`].

use crate::copy::copy;
use crate::event::wanted;
use crate::request::{self, Request};
use crate::ring::{self, Count, Counters, NoRoom, Piece, Producer};
use crate::sync::{AtomicU32, AtomicU64, Ordering};
use core::num::{NonZeroU32, NonZeroU64};
use core::ptr::NonNull;
use pillion_abi::channel::FifoControl;

/// The result of moving bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// How many bytes were moved.
    pub bytes: usize,
    /// Who waits for them, or for the room, and must be told: [`pillion_abi::channel::user`]. What
    /// it names was Linux's to write.
    pub user: u32,
}

/// There is not enough room; nothing was put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

/// A FIFO of this task or of the broker. Only one thread may use it at a time.
#[derive(Debug)]
pub struct Fifo {
    control: NonNull<FifoControl>,
    to_linux: NonNull<u8>,
    to_task: NonNull<u8>,
    size: NonZeroU64,
    producer: Producer,
    damaged: u64,
}

// SAFETY: the memory behind the pointers is valid in all threads of the task, and all methods that
// change it take `&mut`, so only one thread uses it at a time.
unsafe impl Send for Fifo {}

impl Fifo {
    /// Makes an empty FIFO: its control words become zero.
    ///
    /// # Safety
    /// As long as the FIFO is in use, `control` is readable and writable, and so are `size` bytes
    /// each at `to_linux` and `to_task`. None of the three overlaps another or any memory that Rust
    /// has references to; Linux may write them all.
    #[must_use]
    pub unsafe fn create(
        control: NonNull<FifoControl>,
        to_linux: NonNull<u8>,
        to_task: NonNull<u8>,
        size: NonZeroU32,
    ) -> Fifo {
        // SAFETY: the caller's promise.
        unsafe { control.write_volatile(FifoControl::default()) };
        Fifo { control, to_linux, to_task, size: size.into(), producer: Producer::default(), damaged: 0 }
    }

    /// Moves the FIFO to rings of another size elsewhere; its contents are lost. It stays the same
    /// FIFO: open files, waiting processes and pending requests to its handler are unaffected.
    ///
    /// # Safety
    /// As for [`Fifo::create`]; and no process is using the old rings ([`Fifo::is_entered`]) or can
    /// still find them.
    pub unsafe fn resize(&mut self, to_linux: NonNull<u8>, to_task: NonNull<u8>, size: NonZeroU32) {
        (self.to_linux, self.to_task, self.size) = (to_linux, to_task, size.into());
        (self.producer, self.damaged) = (Producer::default(), 0);
        let words = self.control();
        for count in [words.to_linux_written, words.to_linux_read, words.to_task_written, words.to_task_read] {
            count.store(0, Ordering::Release);
        }
    }

    /// Whether, according to Linux's side, a process is taking bytes out or putting bytes in now.
    #[must_use]
    pub fn is_entered(&self) -> bool {
        let words = self.control();
        [words.taking, words.putting, words.entered].iter().any(|word| word.load(Ordering::SeqCst) != 0)
    }

    /// Bytes that each ring holds.
    #[must_use]
    pub fn size(&self) -> usize {
        self.size.get() as usize
    }

    /// How often impossible counts were found and repaired.
    #[must_use]
    pub fn damaged(&self) -> u64 {
        self.damaged
    }

    /// Puts all bytes, or none.
    pub fn put(&mut self, bytes: &[u8]) -> Result<Moved, Full> {
        // SAFETY: a slice is readable, and does not overlap the rings, which have no references.
        unsafe { self.put_from(bytes.as_ptr(), bytes.len()) }
    }

    /// Puts all `len` bytes, or none.
    ///
    /// # Safety
    /// `from` is readable for `len` bytes that lie outside the rings; others may write them.
    #[inline]
    pub unsafe fn put_from(&mut self, from: *const u8, len: usize) -> Result<Moved, Full> {
        let (to, size) = (self.to_linux.as_ptr(), self.size);
        let counters = to_linux(self.control());
        // SAFETY: a piece is inside the ring and inside the caller's `len` bytes.
        let result = self.producer.put(counters, size, len, |p: Piece| unsafe {
            copy(to.add(p.at), from.add(p.data), p.len);
        });
        let repaired = result.unwrap_or_else(|NoRoom { repaired }| repaired);
        self.damaged += u64::from(repaired);
        match result {
            Ok(_) => Ok(Moved { bytes: len, user: wanted(self.control().want_data) }),
            Err(NoRoom { .. }) => Err(Full),
        }
    }

    /// Takes what is there, as much as fits; see [`Fifo::get_to`].
    pub fn get(&mut self, bytes: &mut [u8]) -> Moved {
        // SAFETY: a slice is writable, and does not overlap the rings.
        unsafe { self.get_to(bytes.as_mut_ptr(), bytes.len()) }
    }

    /// Takes up to `most` bytes: first those that Linux wrote, then those that the task put and
    /// Linux has not read.
    ///
    /// # Safety
    /// `to` is writable for `most` bytes that lie outside the rings; others may write them.
    #[inline]
    pub unsafe fn get_to(&mut self, to: *mut u8, most: usize) -> Moved {
        let (theirs, ours) = (self.to_task.as_ptr(), self.to_linux.as_ptr());
        // SAFETY: a piece is inside the ring, and inside the caller's `most` bytes.
        let first = self.take_theirs(most, |p| unsafe { copy(to.add(p.data), theirs.add(p.at), p.len) });
        let rest = most - first;
        // SAFETY: as above, after the first bytes.
        let second = self.take_ours(rest, |p| unsafe { copy(to.add(first + p.data), ours.add(p.at), p.len) });
        self.moved_out(first + second)
    }

    /// Drops the contents of both rings; the result is as for [`Fifo::get`].
    pub fn flush(&mut self) -> Moved {
        let first = self.take_theirs(usize::MAX, |_| ());
        let second = self.take_ours(usize::MAX, |_| ());
        self.moved_out(first + second)
    }

    /// Bytes in the ring to Linux, and in the ring to the task.
    pub fn lengths(&mut self) -> (usize, usize) {
        let (size, written) = (self.size, self.producer.written());
        let ours = ring::count(to_linux(self.control()), || written, size);
        let counters = to_task(self.control());
        let theirs = ring::count(counters, || counters.theirs(), size);
        (self.settle(ours), self.settle(theirs))
    }

    /// Bytes that can be put.
    pub fn room(&mut self) -> usize {
        self.size() - self.lengths().0
    }

    /// Whether there is nothing to take.
    pub fn is_empty(&mut self) -> bool {
        self.lengths() == (0, 0)
    }

    /// Processes that have it open, according to Linux.
    #[must_use]
    pub fn opens(&self) -> u32 {
        self.control().opens.load(Ordering::Relaxed)
    }

    /// Linux's request to the handler, unless it has been answered.
    #[must_use]
    pub fn request(&self) -> Option<Request> {
        request::look(&self.control().request)
    }

    /// Answers this request. The caller then raises Linux's event.
    pub fn answer(&mut self, request: &Request, result: i64) {
        request::answer(&self.control().request, request, result);
    }

    fn take_theirs(&mut self, most: usize, move_piece: impl FnMut(Piece)) -> usize {
        let counters = to_task(self.control());
        let taken = ring::take(counters, || counters.theirs(), self.size, most, move_piece);
        self.settle(taken)
    }

    fn take_ours(&mut self, most: usize, move_piece: impl FnMut(Piece)) -> usize {
        let written = self.producer.written();
        let taken = ring::take(to_linux(self.control()), || written, self.size, most, move_piece);
        self.settle(taken)
    }

    fn settle(&mut self, count: Count) -> usize {
        self.damaged += u64::from(count.repaired);
        count.bytes
    }

    fn moved_out(&self, bytes: usize) -> Moved {
        Moved { bytes, user: if bytes == 0 { 0 } else { wanted(self.control().want_room) } }
    }

    #[inline]
    fn control(&self) -> Words<'static> {
        let c = self.control.as_ptr();
        // SAFETY: the control words are valid as long as the FIFO is used, are aligned, and all
        // accesses to them are atomic.
        unsafe {
            Words {
                to_linux_written: AtomicU64::from_ptr(&raw mut (*c).to_linux_written),
                to_linux_read: AtomicU64::from_ptr(&raw mut (*c).to_linux_read),
                to_task_written: AtomicU64::from_ptr(&raw mut (*c).to_task_written),
                to_task_read: AtomicU64::from_ptr(&raw mut (*c).to_task_read),
                want_data: AtomicU32::from_ptr(&raw mut (*c).want_data),
                want_room: AtomicU32::from_ptr(&raw mut (*c).want_room),
                opens: AtomicU32::from_ptr(&raw mut (*c).opens),
                taking: AtomicU32::from_ptr(&raw mut (*c).taking),
                putting: AtomicU32::from_ptr(&raw mut (*c).putting),
                entered: AtomicU32::from_ptr(&raw mut (*c).entered),
                request: request::Words::of(c),
            }
        }
    }
}

/// The control words that are used, as atomics.
struct Words<'a> {
    to_linux_written: &'a AtomicU64,
    to_linux_read: &'a AtomicU64,
    to_task_written: &'a AtomicU64,
    to_task_read: &'a AtomicU64,
    want_data: &'a AtomicU32,
    want_room: &'a AtomicU32,
    opens: &'a AtomicU32,
    taking: &'a AtomicU32,
    putting: &'a AtomicU32,
    entered: &'a AtomicU32,
    request: request::Words<'a>,
}

fn to_linux(words: Words<'_>) -> Counters<'_> {
    Counters { written: words.to_linux_written, read: words.to_linux_read }
}

fn to_task(words: Words<'_>) -> Counters<'_> {
    Counters { written: words.to_task_written, read: words.to_task_read }
}
