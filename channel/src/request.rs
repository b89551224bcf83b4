//! Linux's requests to a FIFO's handler.
//!
//! Linux fills in a request, increments its number and waits until the answer has that number. Each
//! FIFO has one request at a time.

use crate::sync::{AtomicU32, AtomicU64, Ordering};
use pillion_abi::channel::FifoControl;

/// A copy of a request, whose words were read once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Its number.
    pub number: u64,
    /// One of [`pillion_abi::channel::request`], or anything else.
    pub kind: u32,
    /// Command of an I/O control.
    pub command: u32,
    /// Its argument.
    pub argument: u64,
}

/// The words of a request and its answer.
pub(crate) struct Words<'a> {
    request: &'a AtomicU64,
    kind: &'a AtomicU32,
    command: &'a AtomicU32,
    argument: &'a AtomicU64,
    answer: &'a AtomicU64,
    result: &'a AtomicU64,
}

impl Words<'_> {
    /// The words in a FIFO's control words.
    ///
    /// # Safety
    /// `control` is valid and aligned for the chosen lifetime, and all accesses are atomic.
    pub(crate) unsafe fn of<'a>(control: *mut FifoControl) -> Words<'a> {
        // SAFETY: the caller's promise.
        unsafe {
            Words {
                request: AtomicU64::from_ptr(&raw mut (*control).request),
                kind: AtomicU32::from_ptr(&raw mut (*control).request_kind),
                command: AtomicU32::from_ptr(&raw mut (*control).command),
                argument: AtomicU64::from_ptr(&raw mut (*control).argument),
                answer: AtomicU64::from_ptr(&raw mut (*control).answer),
                result: AtomicU64::from_ptr((&raw mut (*control).result).cast()),
            }
        }
    }
}

/// The unanswered request, if there is one. The acquire makes visible what Linux filled in before
/// it incremented the number.
pub(crate) fn look(words: &Words<'_>) -> Option<Request> {
    let number = words.request.load(Ordering::Acquire);
    (number != words.answer.load(Ordering::Relaxed)).then(|| Request {
        number,
        kind: words.kind.load(Ordering::Relaxed),
        command: words.command.load(Ordering::Relaxed),
        argument: words.argument.load(Ordering::Relaxed),
    })
}

/// Answers. The release makes the result visible to a reader that sees the answer's number.
pub(crate) fn answer(words: &Words<'_>, request: &Request, result: i64) {
    words.result.store(result as u64, Ordering::Relaxed);
    words.answer.store(request.number, Ordering::Release);
}
