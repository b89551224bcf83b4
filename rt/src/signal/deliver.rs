//! Sending and delivering signals.

use super::{CANCEL_BIT, READY, SUSPEND, TIMER, USER_BITS, WAKEUP, WAKEUP_BIT, action};
use crate::lock::{self, Token};
use crate::thread::{self, Identity, Thread, cancel_point, current};
use crate::wait::{self, word};
use core::{ffi::c_int, sync::atomic::Ordering::Relaxed};
use pillion_abi::channel::thread_state::BLOCKED;

/// Pending signals that are not blocked.
#[inline]
pub(crate) fn deliverable(_: &Token, thread: &Thread) -> u64 {
    thread.pending.load(Relaxed) & !thread.masked.load(Relaxed)
}

/// The receiver of a signal that a thread asked for: that thread. A signal that the main thread
/// asked for, in `init_module` for example, goes to the thread that waits for it, else to one that
/// last waited for it, else to the main thread. None if the thread that asked has ended.
pub(crate) fn receiver(token: &Token, asked: Identity, signal: u32) -> Option<&'static Thread> {
    let asked = asked.get(token)?;
    if asked.number() != 0 {
        return Some(asked);
    }
    let waits = |thread: &&Thread| thread.awaits.get(token) >> signal & 1 == 1;
    let others = thread::all().iter().skip(1).filter(waits);
    let now = |thread: &&Thread| thread.waiting.load(Relaxed) == word::WAITING && thread.doing.get(token) == BLOCKED;
    others.max_by_key(now).or(Some(asked))
}

pub(crate) fn send(token: &Token, to: &'static Thread, signal: u32) {
    match signal {
        SUSPEND => thread::suspend_other(token, to),
        WAKEUP | READY | TIMER => wake_up(token, to),
        _ if USER_BITS >> signal & 1 == 1 && action::is_ignored(token, signal) => {}
        _ => {
            to.pending.fetch_or(1 << signal, Relaxed);
            notice(token, to);
        }
    }
}

fn wake_up(token: &Token, to: &'static Thread) {
    if thread::resume(token, to) {
        return;
    }
    to.pending.fetch_or(WAKEUP_BIT, Relaxed);
    notice(token, to);
}

/// Ends a thread's wait if a signal is pending that the wait listens to.
pub(crate) fn notice(token: &Token, thread: &'static Thread) {
    if deliverable(token, thread) & thread.listens.get(token) != 0 {
        let waited = wait::wake(token, thread, word::INTERRUPTED);
        // The main thread is also woken while it serves Linux.
        if !waited && thread.number() == 0 {
            lock::wake_later(token, thread);
        }
    }
}

/// Runs handlers for the caller's pending signals, and ends the caller if it was cancelled. Does
/// neither while the caller holds the task's lock.
#[inline]
pub(crate) fn after_wait() {
    let me = current();
    if me.pending.load(Relaxed) & !me.masked.load(Relaxed) & (USER_BITS | CANCEL_BIT) != 0 {
        deliver(me);
        if lock::is_left() {
            cancel_point();
        }
    }
}

/// As [`after_wait`], after a call with a result for the caller. If the call succeeded, a
/// cancellation waits for the next point, as the result would be lost.
#[inline]
pub(crate) fn after_result<T, E>(result: &Result<T, E>) {
    if result.is_err() { after_wait() } else { run_handlers() }
}

/// Runs handlers for the caller's pending signals.
#[inline]
pub(crate) fn run_handlers() {
    let me = current();
    if me.pending.load(Relaxed) & !me.masked.load(Relaxed) & USER_BITS != 0 {
        deliver(me);
    }
}

#[cold]
fn deliver(me: &'static Thread) {
    if !lock::is_left() {
        return;
    }
    loop {
        let due = me.pending.load(Relaxed) & !me.masked.load(Relaxed) & USER_BITS;
        if due == 0 {
            break;
        }
        let signal = due.trailing_zeros();
        me.pending.fetch_and(!(1 << signal), Relaxed);
        run(me, signal);
    }
}

/// Runs the handler of a signal. Meanwhile, the signal and those in the handler's mask are blocked.
fn run(me: &'static Thread, signal: u32) {
    let Some((handler, mask)) = lock::with(|token| action::handler(token, signal)) else { return };
    let before = me.masked.fetch_or((mask | 1 << signal) & USER_BITS, Relaxed);
    let errno = me.errno.load(Relaxed);
    handler(signal as c_int);
    me.errno.store(errno, Relaxed);
    // Restore only the bits of the program's signals: others may have changed meanwhile.
    me.masked.fetch_and(!USER_BITS | before, Relaxed);
}
