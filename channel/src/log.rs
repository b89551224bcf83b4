//! What a task prints: a ring of bytes in its [`Status`], which Linux can read and not write.
//!
//! Byte `n` stands at `n % LOG_SIZE`. The task never waits: it writes over what was not read in
//! time. It publishes after each [`STEP`] bytes at the latest, so a reader that looks at
//! `log_written` after it copied knows that the bytes from `log_written + STEP - LOG_SIZE` on were
//! not being written over.

use crate::{
    copy::copy,
    sync::{AtomicU64, Ordering, fence},
};
use core::ptr::NonNull;
use pillion_abi::channel::{LOG_SIZE, Status};

/// Bytes that are written between two publications, at most.
pub const STEP: usize = 256;

/// The task's end. One thread at a time uses it.
#[derive(Debug)]
pub struct Log {
    status: NonNull<Status>,
    written: u64,
}

// SAFETY: as for a FIFO: the memory is valid in all threads, and whatever changes it takes `&mut`.
unsafe impl Send for Log {}

impl Log {
    /// The log of a status, which goes on where it is.
    ///
    /// # Safety
    ///
    /// As long as it is used, `status` is readable and writable, and nobody else writes its log.
    #[must_use]
    pub unsafe fn new(status: NonNull<Status>) -> Log {
        // SAFETY: the caller's promise.
        let written = unsafe { count(status) }.load(Ordering::Relaxed);
        Log { status, written }
    }

    /// Appends text. Linux's event for the log is to be raised then. Work: the bytes.
    pub fn append(&mut self, text: &[u8]) {
        for part in text.chunks(STEP) {
            self.append_part(part);
        }
    }

    fn append_part(&mut self, part: &[u8]) {
        let at = (self.written % LOG_SIZE as u64) as usize;
        let (first, second) = part.split_at(part.len().min(LOG_SIZE - at));
        // Pairs with the fence in `read`: who sees one of these bytes sees the count from before.
        fence(Ordering::Release);
        // SAFETY: `at + first.len()` is at most `LOG_SIZE`, and so is `second.len()`; text that is
        // a slice is not in the log.
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

/// The count of a status's log.
///
/// # Safety
///
/// `status` is valid for the lifetime chosen.
unsafe fn count<'a>(status: NonNull<Status>) -> &'a AtomicU64 {
    // SAFETY: the caller's promise; it is aligned, and all accesses are atomic.
    unsafe { AtomicU64::from_ptr(&raw mut (*status.as_ptr()).log_written) }
}

/// What a reader got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text {
    /// Bytes at the start of its buffer.
    pub len: usize,
    /// Bytes before them that came too late for it.
    pub lost: u64,
    /// Where it goes on.
    pub next: u64,
}

/// Copies what the log has from byte `from` on, as much as fits. What the task writes over at the
/// same time is left out.
///
/// # Safety
///
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

/// The first byte from `from` on that is not written over, nor about to be. A place beyond the end
/// is one in a log that was begun anew.
fn oldest(written: u64, from: u64) -> u64 {
    let from = if from > written { 0 } else { from };
    from.max(written.saturating_sub((LOG_SIZE - STEP) as u64))
}
