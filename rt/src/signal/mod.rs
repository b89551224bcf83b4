//! Signals of threads.
//!
//! RTLinux's own signals act on a thread from outside. The program's signals, 7 to 31, run a
//! handler in the thread that they are for: at once when a thread sends one to itself, otherwise
//! when the thread next returns from a wait, yields, or unblocks the signal. A thread that is
//! computing is not interrupted.

mod action;
mod deliver;
mod kill;
mod mask;

pub use crate::thread::cancel_point;
pub(crate) use deliver::{after_result, after_wait, deliverable, notice, receiver, run_handlers, send};
pub(crate) use mask::mask_all;

/// Ends a suspension, a sleep, or the wait for a period.
pub const WAKEUP: u32 = 1;
/// Cancels.
pub const CANCEL: u32 = 2;
/// Suspends.
pub const SUSPEND: u32 = 3;
/// Ends a sleep.
pub const TIMER: u32 = 5;
/// Makes ready: as [`WAKEUP`].
pub const READY: u32 = 6;
/// First signal that a program can have a handler for.
pub const USER_FIRST: u32 = 7;
/// Last one.
pub const USER_LAST: u32 = 31;

/// Bit of [`WAKEUP`].
pub const WAKEUP_BIT: u64 = 1 << WAKEUP;
/// Bit of [`CANCEL`].
pub const CANCEL_BIT: u64 = 1 << CANCEL;
/// Bits of the program's signals.
pub const USER_BITS: u64 = (1 << (USER_LAST + 1)) - (1 << USER_FIRST);
