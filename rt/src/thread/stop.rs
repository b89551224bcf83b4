//! Stopping other threads.

use super::{Life, Thread, current, end};
use crate::lock::{self, Token};
use crate::wait::{self, How, word};
use core::sync::atomic::Ordering::{Relaxed, SeqCst};
use core::sync::atomic::compiler_fence;
use pillion_abi::{NEVER, channel::thread_state};
use pillion_runtime::{call, info::skin};

/// The thread is to suspend itself as soon as it can.
const SUSPEND: u32 = 1;
/// The thread is to end as soon as it can.
const END: u32 = 2;

/// Runs a function during which other threads cannot stop the caller.
pub fn unstoppable<R>(f: impl FnOnce() -> R) -> R {
    let me = current();
    begin_unstoppable(me);
    let result = f();
    end_unstoppable(me);
    result
}

/// Enters an unstoppable part. A caller that is to stop does so first: see [`halt`].
fn begin_unstoppable(me: &'static Thread) {
    let before = me.unstoppable.load(Relaxed);
    loop {
        me.unstoppable.store(before + 1, Relaxed);
        compiler_fence(SeqCst);
        if before != 0 || me.stop.load(Relaxed) == 0 || me.lock_depth.load(Relaxed) != 0 {
            return;
        }
        me.unstoppable.store(0, Relaxed);
        stop_now(me);
    }
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
    thread.unstoppable.load(Relaxed) == 0 && !lock::is_waiter(token, thread)
}

/// Stops a thread where it stands, if `may` holds there; returns whether it did. Else the thread
/// does what is asked as soon as it can.
///
/// What `may` looks at changes only as the thread runs. A thread of the caller's processor does not
/// run now. One of another processor is told first what is asked, and then a call is made at that
/// processor, which interrupts it: if it has not begun an unstoppable part by then, it finds what
/// is asked at the beginning of the next one and leaves it again. So it is never stopped within a
/// call that such a part makes.
fn halt(thread: &'static Thread, asked: u32, may: impl Fn() -> bool) -> bool {
    let cap = thread.slot(skin::slot::THREADS);
    let is_elsewhere = thread.processor() != current().processor();
    if is_elsewhere {
        thread.stop.fetch_or(asked, SeqCst);
        let _ = call::thread_register(cap, 0);
    }
    if !may() {
        thread.stop.fetch_or(asked, Relaxed);
        return false;
    }
    if call::thread_suspend(cap).is_err() {
        return false;
    }
    if is_elsewhere {
        if !may() {
            let _ = call::thread_resume(cap);
            return false;
        }
        thread.stop.fetch_and(!asked, Relaxed);
    }
    true
}

/// Suspends another thread: now if possible, else as soon as the thread can.
pub(super) fn suspend(token: &Token, thread: &'static Thread) {
    let may = || thread.waiting.load(Relaxed) == word::NOT && is_stoppable(token, thread);
    if halt(thread, SUSPEND, may) {
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
    let is_stopped = halt(thread, END, || is_stoppable(token, thread));
    if is_stopped {
        end::end_other(token, thread);
    }
    is_stopped
}

/// Frees what belongs to a thread that has ended.
pub(super) fn reap(token: &Token, thread: &'static Thread) {
    debug_assert!(thread.life.get(token) != Life::Live);
    // The thread may not have stopped itself yet, nor signalled all threads that it woke.
    let _ = call::thread_suspend(thread.slot(skin::slot::THREADS));
    lock::finish_signals(token, thread);
    end::free(token, thread);
}
