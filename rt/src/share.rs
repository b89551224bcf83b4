//! The task's parts of the channel window, and the doorbell.

use crate::lock::Token;
use core::{ptr::NonNull, sync::atomic::AtomicU64};
use pillion_abi::channel::{FifoControl, IOCTL_SIZE, Share, Status, user};
use pillion_channel::{event, fifo_entry::Entry};
use pillion_runtime::{
    call,
    info::{address, skin},
};

/// Bits of the second word of [`Share::events`].
pub use pillion_abi::channel::event as bit;

/// What the task shows to others.
pub fn status() -> NonNull<Status> {
    const { NonNull::new(address::STATUS as *mut Status).unwrap() }
}

fn share() -> *mut Share {
    address::SHARE as *mut Share
}

/// The words of a FIFO that Linux uses as well.
pub fn control(fifo: usize) -> NonNull<FifoControl> {
    // SAFETY: the resource manager maps the part in every task with a skin; the number is checked.
    unsafe { NonNull::new_unchecked(&raw mut (*share()).fifos[fifo]) }
}

/// Runs something on what the task shows of a FIFO.
pub fn with_entry<R>(_: &Token, fifo: usize, f: impl FnOnce(&mut Entry) -> R) -> R {
    // SAFETY: the resource manager maps the status in every task with a skin; the number is
    // checked, and only this task writes it, under its lock, which is held until `f` returns.
    let mut entry = unsafe { Entry::new(NonNull::new_unchecked(&raw mut (*status().as_ptr()).fifos[fifo])) };
    f(&mut entry)
}

/// Data of the I/O control in progress.
pub fn ioctl() -> *mut [u8; IOCTL_SIZE] {
    // SAFETY: as above.
    unsafe { &raw mut (*share()).ioctl }
}

/// FIFOs that Linux has kicked, as bits.
pub fn kicks() -> &'static AtomicU64 {
    // SAFETY: the part is mapped for good, and both sides use the word as an atomic one only.
    unsafe { AtomicU64::from_ptr(&raw mut (*share()).kicks) }
}

/// A word of the interrupts to be simulated in Linux.
pub fn pended(number: usize) -> &'static AtomicU64 {
    // SAFETY: as above.
    unsafe { AtomicU64::from_ptr(&raw mut (*share()).pended[number % 4]) }
}

/// Tells whoever uses FIFO `fifo` on Linux's side to look at it: [`user`].
#[inline]
pub fn tell_fifo(token: &Token, fifo: u32, user: u32) {
    if user & user::LINUX != 0 {
        tell(token, 0, 1 << (fifo % 64));
    }
    if let Some(runner) = skin::slot::runner(user) {
        let _ = call::signal(runner);
    }
}

/// Makes Linux look at something else, one of [`bit`].
pub fn tell_other(token: &Token, bit: u64) {
    tell(token, 1, bit);
}

/// The bit and the doorbell belong together: a thread that finds the bit set relies on the doorbell
/// having rung. The lock keeps other threads from ending the caller in between.
#[inline]
fn tell(_: &Token, number: usize, bit: u64) {
    // SAFETY: as above.
    let events = unsafe { AtomicU64::from_ptr(&raw mut (*share()).events[number]) };
    if event::raise(events, bit) {
        let _ = call::signal(skin::slot::LINUX);
    }
}
