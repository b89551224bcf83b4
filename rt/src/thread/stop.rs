//! Stopping other threads.

use super::{Life, Thread, current, end};
use crate::lock::{self, Token};
use crate::wait::{self, How, word};
use core::sync::atomic::Ordering::Relaxed;
use pillion_abi::{NEVER, channel::thread_state};
use pillion_runtime::{call, info::skin};

/// The thread is to suspend itself as soon as it can.
const SUSPEND: u32 = 1;
/// The thread is to end as soon as it can.
const END: u32 = 2;

/// Runs a function during which other threads cannot stop the caller.
pub fn unstoppable<R>(f: impl FnOnce() -> R) -> R {
    let me = current();
    me.unstoppable.store(me.unstoppable.load(Relaxed) + 1, Relaxed);
    let result = f();
    end_unstoppable(me);
    result
}

/// Leaves an unstoppable part.
pub(crate) fn end_unstoppable(me: &'static Thread) {
    me.unstoppable.store(me.unstoppable.load(Relaxed) - 1, Relaxed);
    stop_if_asked(me);
}

/// Suspends or ends the caller if another thread asked for it while that was impossible.
#[inline]
pub(crate) fn stop_if_asked(me: &'static Thread) {
    if me.stop.load(Relaxed) != 0 {
        stop_now(me);
    }
}

#[cold]
fn stop_now(me: &'static Thread) {
    if me.unstoppable.load(Relaxed) != 0 || me.lock_depth.load(Relaxed) != 0 {
        return;
    }
    if me.stop.load(Relaxed) & END != 0 {
        end::end_current();
    }
    let token = lock::enter();
    if me.stop.fetch_and(!SUSPEND, Relaxed) & SUSPEND != 0 {
        wait::block(token, None, How::SUSPENDED, NEVER);
    }
}

/// Returns whether a thread can be stopped where it stands.
fn is_stoppable(token: &Token, thread: &Thread) -> bool {
    // Only the thread itself changes the count, and it is not running.
    thread.unstoppable.load(Relaxed) == 0 && !lock::is_waiter(token, thread)
}

/// Suspends another thread: now if possible, else as soon as the thread can.
pub(super) fn suspend(token: &Token, thread: &'static Thread) {
    let waits = thread.waiting.load(Relaxed) != word::NOT;
    if waits || !is_stoppable(token, thread) {
        thread.stop.fetch_or(SUSPEND, Relaxed);
    } else if call::thread_suspend(thread.slot(skin::slot::THREADS)).is_ok() {
        thread.stopped.set(token, true);
        thread.show_state(thread_state::SUSPENDED);
    }
}

/// Undoes [`suspend`]; returns whether there was anything to undo.
pub(crate) fn resume(token: &Token, thread: &'static Thread) -> bool {
    let asked = thread.stop.fetch_and(!SUSPEND, Relaxed) & SUSPEND != 0;
    let stopped = thread.stopped.replace(token, false);
    if stopped {
        thread.show_state(thread_state::READY);
        let _ = call::thread_resume(thread.slot(skin::slot::THREADS));
    }
    asked || stopped
}

/// Ends another thread. Returns false if the thread will end itself as soon as it can.
pub(super) fn kill(token: &Token, thread: &'static Thread) -> bool {
    if !is_stoppable(token, thread) {
        thread.stop.fetch_or(END, Relaxed);
        return false;
    }
    let _ = call::thread_suspend(thread.slot(skin::slot::THREADS));
    end::end_other(token, thread);
    true
}

/// Frees what belongs to a thread that has ended.
pub(super) fn reap(token: &Token, thread: &'static Thread) {
    debug_assert!(thread.life.get(token) != Life::Live);
    // The thread may not have stopped itself yet, nor signalled all threads that it woke.
    let _ = call::thread_suspend(thread.slot(skin::slot::THREADS));
    lock::finish_signals(token, thread);
    end::free(token, thread);
}
