//! Thread signals.
//!
//! RTLinux's own signals act on a thread from outside. The program's signals, 7 to 31, run a
//! handler in the receiving thread: at once if the thread sends the signal to itself, otherwise
//! when it next returns from a wait, yields, or unblocks the signal. A thread that computes is not
//! interrupted.

mod action;
mod deliver;
mod kill;
mod mask;

pub(crate) use deliver::{after_result, after_wait, deliverable, notice, receiver, run_handlers, send};
pub(crate) use mask::mask_all;

/// Ends a suspension, a sleep, or the wait for a period.
pub const WAKEUP: u32 = 1;
/// Cancels a thread.
pub const CANCEL: u32 = 2;
/// Suspends a thread.
pub const SUSPEND: u32 = 3;
/// Ends a sleep.
pub const TIMER: u32 = 5;
/// Makes a thread ready: as [`WAKEUP`].
pub const READY: u32 = 6;
/// First signal that a program can have a handler for.
pub const USER_FIRST: u32 = 7;
/// Last signal that a program can have a handler for.
pub const USER_LAST: u32 = 31;

/// Bit of [`WAKEUP`].
pub const WAKEUP_BIT: u64 = 1 << WAKEUP;
/// Bit of [`CANCEL`].
pub const CANCEL_BIT: u64 = 1 << CANCEL;
/// Bits of the program's signals.
pub const USER_BITS: u64 = (1 << (USER_LAST + 1)) - (1 << USER_FIRST);
