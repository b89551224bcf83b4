//! What a task prints: a ring of bytes in its [`Status`], which Linux can read but not write.
//!
//! Byte `n` is at `n % LOG_SIZE`. The task never waits: it overwrites text that was not read in
//! time. It publishes its progress at least every [`STEP`] bytes, so a reader that reads
//! `log_written` after copying knows that the bytes from `log_written + STEP - LOG_SIZE` on were
//! not being overwritten.

use crate::{
    copy::copy,
    sync::{AtomicU64, Ordering, fence},
};
use core::ptr::NonNull;
use pillion_abi::channel::{LOG_SIZE, Status};

/// Most bytes written between two updates of `log_written`.
pub const STEP: usize = 256;

/// The writer's side. Only one thread may use it at a time.
#[derive(Debug)]
pub struct Log {
    status: NonNull<Status>,
    written: u64,
}

// SAFETY: as for a FIFO: the memory is valid in all threads; methods that change it take `&mut`.
unsafe impl Send for Log {}

impl Log {
    /// The log of this status; new text continues at its current end.
    ///
    /// # Safety
    /// As long as the log is in use, `status` is readable and writable, and nobody else writes its
    /// log.
    #[must_use]
    pub unsafe fn new(status: NonNull<Status>) -> Log {
        // SAFETY: the caller's promise.
        let written = unsafe { count(status) }.load(Ordering::Relaxed);
        Log { status, written }
    }

    /// Appends text. The caller then raises Linux's event for the log. Work: the bytes.
    pub fn append(&mut self, text: &[u8]) {
        for part in text.chunks(STEP) {
            self.append_part(part);
        }
    }

    fn append_part(&mut self, part: &[u8]) {
        let at = (self.written % LOG_SIZE as u64) as usize;
        let (first, second) = part.split_at(part.len().min(LOG_SIZE - at));
        // Pairs with the fence in `read`: a reader that sees one of these bytes sees the count as
        // it was before them, or a later one.
        fence(Ordering::Release);
        // SAFETY: `at + first.len()` is at most `LOG_SIZE`, and so is `second.len()`; `part` is a
        // slice and therefore not in the log, to which there are no references.
        unsafe {
            let log = (&raw mut (*self.status.as_ptr()).log).cast::<u8>();
            copy(log.add(at), first.as_ptr(), first.len());
            copy(log, second.as_ptr(), second.len());
        }
        self.written = self.written.wrapping_add(part.len() as u64);
        // SAFETY: valid as promised to `new`.
        unsafe { count(self.status) }.store(self.written, Ordering::Release);
    }
}

/// The word that counts the bytes of a status's log.
///
/// # Safety
/// `status` is valid for the chosen lifetime.
unsafe fn count<'a>(status: NonNull<Status>) -> &'a AtomicU64 {
    // SAFETY: the caller's promise; it is aligned, and all accesses are atomic.
    unsafe { AtomicU64::from_ptr(&raw mut (*status.as_ptr()).log_written) }
}

/// The result of [`read`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text {
    /// Bytes at the start of the reader's buffer.
    pub len: usize,
    /// Bytes before them that were overwritten before they could be read.
    pub lost: u64,
    /// Where to continue reading.
    pub next: u64,
}

/// Copies the log from byte `from` on, as much as fits. Bytes that the task overwrites at the same
/// time are left out.
///
/// # Safety
/// `status` is readable.
pub unsafe fn read(status: NonNull<Status>, from: u64, to: &mut [u8]) -> Text {
    // SAFETY: the caller's promise.
    let written = unsafe { count(status) }.load(Ordering::Acquire);
    let start = oldest(written, from);
    let len = (written.wrapping_sub(start) as usize).min(to.len());
    let at = (start % LOG_SIZE as u64) as usize;
    let first = len.min(LOG_SIZE - at);
    // SAFETY: `at + first` and `len - first` are at most `LOG_SIZE`, and the buffer has `len`
    // bytes.
    unsafe {
        let log = (&raw const (*status.as_ptr()).log).cast::<u8>();
        copy(to.as_mut_ptr(), log.add(at), first);
        copy(to.as_mut_ptr().add(first), log, len - first);
    }
    // Pairs with the fence in `append_part`.
    fence(Ordering::Acquire);
    // SAFETY: as above.
    let valid = oldest(unsafe { count(status) }.load(Ordering::Relaxed), start);
    let spoilt = valid.wrapping_sub(start).min(len as u64) as usize;
    to.copy_within(spoilt..len, 0);
    Text { len: len - spoilt, lost: start.saturating_sub(from) + spoilt as u64, next: start.wrapping_add(len as u64) }
}

/// The first byte from `from` on that is neither overwritten nor about to be. If `from` is past the
/// end, the log was begun anew, and reading starts at byte 0.
fn oldest(written: u64, from: u64) -> u64 {
    let from = if from > written { 0 } else { from };
    from.max(written.saturating_sub((LOG_SIZE - STEP) as u64))
}
