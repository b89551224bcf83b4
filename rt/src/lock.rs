//! The task's lock: what switching interrupts off was for an RTLinux program.
//!
//! It excludes the other threads and the interrupt handlers of the same task. A thread may enter it
//! again. Taking and releasing it uncontended costs a compare-and-swap each and no system call.
//! What a thread does that finds the lock taken, and who then runs at which level, is in
//! [`pillion_rt_core::lock`].
//!
//! A thread that is woken while the lock is held is signalled only after the lock has been left, so
//! that it does not run straight into it.

use crate::thread::{self, Thread};
use core::marker::PhantomData;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;
use pillion_abi::{NEVER, status::Error};
use pillion_rt_core::lock::{Lock, Threads, most_urgent};
use pillion_runtime::call;

static LOCK: Lock = Lock::new();

/// Threads to be signalled once the lock has been left. Only the lock's owner uses it.
static WAKES: AtomicU64 = AtomicU64::new(0);

/// Proof that the calling thread holds the task's lock.
#[derive(Debug)]
pub struct Token(PhantomData<*const ()>);

impl Drop for Token {
    #[inline]
    fn drop(&mut self) {
        leave();
    }
}

/// Takes the lock until the token is dropped.
#[inline]
pub fn enter() -> Token {
    let me = thread::current();
    let depth = me.lock_depth.load(Relaxed);
    if depth == 0 && !LOCK.try_take(me.number()) {
        contend(me);
    }
    me.lock_depth.store(depth + 1, Relaxed);
    Token(PhantomData)
}

/// Runs something with the lock held.
#[inline]
pub fn with<R>(f: impl FnOnce(&Token) -> R) -> R {
    f(&enter())
}

#[inline]
fn leave() {
    let me = thread::current();
    let depth = me.lock_depth.load(Relaxed) - 1;
    me.lock_depth.store(depth, Relaxed);
    if depth == 0 {
        release(me);
    }
}

/// Leaves the lock however often it was entered; the result is for [`restore`]. For threads that
/// are about to wait.
///
/// # Safety
/// Until [`restore`], the calling thread uses none of the other tokens that it has, and nothing
/// that it borrowed with them.
pub(crate) unsafe fn leave_fully(token: Token) -> u32 {
    let me = thread::current();
    core::mem::forget(token);
    let depth = me.lock_depth.load(Relaxed) - 1;
    me.lock_depth.store(0, Relaxed);
    release(me);
    depth
}

/// Enters the lock as often as the caller of [`leave_fully`] held it besides its token.
///
/// # Safety
/// `depth` is the result of [`leave_fully`], and the calling thread has dropped all tokens that it
/// got since.
pub(crate) unsafe fn restore(depth: u32) {
    if depth != 0 {
        core::mem::forget(enter());
        thread::current().lock_depth.store(depth, Relaxed);
    }
}

/// Leaves the lock however often the caller entered it; for a thread that ends.
///
/// # Safety
/// `me` is the calling thread. It never again uses the tokens that it has, or anything that it
/// borrowed with them.
pub(crate) unsafe fn leave_all(me: &'static Thread) {
    // Interrupts that the program switched off are on again: that was one of the entries.
    me.interrupts_off.store(false, Relaxed);
    if me.lock_depth.load(Relaxed) != 0 {
        me.lock_depth.store(0, Relaxed);
        release(me);
    }
}

/// Returns whether the calling thread does not hold the lock.
pub(crate) fn is_left() -> bool {
    thread::current().lock_depth.load(Relaxed) == 0
}

/// Returns whether the calling thread leaves the lock by dropping this token.
pub(crate) fn is_outermost(_: &Token) -> bool {
    thread::current().lock_depth.load(Relaxed) == 1
}

/// Enters the lock once more without a token, for the program's own "interrupts off".
pub(crate) fn enter_open() {
    core::mem::forget(enter());
}

/// Leaves what [`enter_open`] entered.
///
/// # Safety
/// The calling thread has called [`enter_open`] once more often than this.
pub(crate) unsafe fn leave_open() {
    leave();
}

/// Has a thread signalled once the lock has been left.
#[inline]
pub(crate) fn wake_later(token: &Token, thread: &Thread) {
    signal_later(token, 1 << thread.number());
}

/// Has threads, given as bits by number, signalled once the lock has been left.
#[inline]
pub(crate) fn signal_later(_: &Token, threads: u64) {
    WAKES.store(WAKES.load(Relaxed) | threads, Relaxed);
}

/// Signals the threads that [`wake_later`] gathered, before the caller gives up what it inherited.
pub(crate) fn wake_now(_: &Token) {
    let me = thread::current();
    me.to_signal.store(WAKES.load(Relaxed), Relaxed);
    WAKES.store(0, Relaxed);
    signal_all(me);
}

/// Returns whether a thread is about to get the lock. Such a thread must not be stopped.
pub(crate) fn is_waiter(_: &Token, thread: &Thread) -> bool {
    LOCK.is_waiter(thread.number())
}

/// The level of a thread has changed: has the kernel follow.
pub(crate) fn apply_level(_: &Token, thread: &Thread, level: u8) {
    if let Some(ceiling) = All.ceiling() {
        LOCK.settle(thread.number(), ceiling, &All);
    } else if !(core::ptr::eq(thread, thread::current()) && LOCK.is_contended()) {
        // Else the owner may run at the level of a waiter, which restores the owner's level once it
        // has the lock.
        let _ = thread.set_context(level);
    }
}

#[inline]
fn release(me: &'static Thread) {
    let wakes = WAKES.load(Relaxed);
    if wakes != 0 {
        WAKES.store(0, Relaxed);
        release_and_wake(me, wakes);
    } else if !LOCK.try_leave(me.number()) {
        hand_over(me);
    }
}

/// Leaves the lock, then signals the threads that were woken under it.
#[inline(never)]
fn release_and_wake(me: &'static Thread, wakes: u64) {
    me.to_signal.store(wakes, Relaxed);
    me.unstoppable.store(me.unstoppable.load(Relaxed) + 1, Relaxed);
    let free = LOCK.try_leave(me.number());
    signal_all(me);
    if !free {
        hand_over(me);
    }
    thread::end_unstoppable(me);
}

/// Sends the caller's outstanding signals, the most urgent thread's first: it may preempt.
fn signal_all(me: &Thread) {
    loop {
        let left = me.to_signal.load(Relaxed);
        let Some(next) = most_urgent(left, &All).map(thread::by_number) else { return };
        me.to_signal.store(left & !(1 << next.number()), Relaxed);
        next.signal();
    }
}

/// Sends the signals that a stopped thread can no longer send itself.
pub(crate) fn finish_signals(_: &Token, stopped: &Thread) {
    signal_all(stopped);
}

#[cold]
fn contend(me: &'static Thread) {
    LOCK.contend(me.number(), &All);
}

#[cold]
fn hand_over(me: &'static Thread) {
    LOCK.hand_over(me.number(), &All);
}

/// All threads of the task.
struct All;

impl Threads for All {
    fn level(&self, thread: usize) -> u8 {
        thread::by_number(thread).level()
    }

    #[inline]
    fn ceiling(&self) -> Option<u8> {
        thread::ceiling_of_several()
    }

    fn run_at(&self, thread: usize, level: u8) {
        // A thread that is stopped while the call is on another processor makes it again.
        while thread::by_number(thread).set_context(level) == Err(Error::Gone) {}
    }

    fn signal(&self, thread: usize) {
        thread::by_number(thread).signal();
    }

    fn wait(&self, me: usize) {
        thread::by_number(me).wait_for_signal(NEVER);
    }

    fn yield_now(&self) {
        call::yield_now();
    }
}
