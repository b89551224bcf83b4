//! The task's lock: what switching interrupts off was for an RTLinux program.
//!
//! It excludes the other threads and the interrupt handlers of the same task. A thread may enter it
//! again. Taking and releasing it uncontended costs a compare-and-swap each and no system call. A
//! thread that finds the lock taken raises the owner to its own level and waits. When the owner
//! leaves, it makes the most urgent waiter the new owner, which, holding the lock, restores the
//! former owner's level. All threads of a task run on one processor.
//!
//! A thread that is woken while the lock is held is signalled only after the lock has been left, so
//! that it does not run straight into it.

use crate::thread::{self, Thread};
use core::marker::PhantomData;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use core::sync::atomic::{AtomicU32, AtomicU64};
use pillion_abi::NEVER;
use pillion_rt_core::inherit::bits;
use pillion_runtime::call;

/// The owner's number plus one, or 0; [`CONTENDED`]; and how often [`ONE_MORE`].
static WORD: AtomicU32 = AtomicU32::new(0);

/// In [`WORD`]: a thread waits.
const CONTENDED: u32 = 0x100;

/// In [`WORD`], for each thread that began to wait since the owner has the lock, modulo 2^23: the
/// owner, which looks who waits, sees that another has come since.
const ONE_MORE: u32 = 0x200;

/// The owner in [`WORD`].
const OWNER: u32 = CONTENDED - 1;

/// Threads that wait for the lock.
static WAITERS: AtomicU64 = AtomicU64::new(0);

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
    if depth == 0 && WORD.compare_exchange(0, word_of(me), Acquire, Relaxed).is_err() {
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
    WAITERS.load(Relaxed) & 1 << thread.number() != 0
}

/// Returns whether a thread waits for the lock, so that its owner may run at a waiter's level.
pub(crate) fn is_contended(_: &Token) -> bool {
    WORD.load(Relaxed) & CONTENDED != 0
}

#[inline(always)]
fn word_of(thread: &Thread) -> u32 {
    thread.number() as u32 + 1
}

#[inline]
fn release(me: &'static Thread) {
    let wakes = WAKES.load(Relaxed);
    if wakes != 0 {
        WAKES.store(0, Relaxed);
        release_and_wake(me, wakes);
    } else if !try_release(me) {
        hand_over(me);
    }
}

/// Leaves the lock if no thread waits for it.
#[inline(always)]
fn try_release(me: &Thread) -> bool {
    WORD.compare_exchange(word_of(me), 0, Release, Relaxed).is_ok()
}

/// Leaves the lock, then signals the threads that were woken under it.
#[inline(never)]
fn release_and_wake(me: &'static Thread, wakes: u64) {
    me.to_signal.store(wakes, Relaxed);
    me.unstoppable.store(me.unstoppable.load(Relaxed) + 1, Relaxed);
    let free = try_release(me);
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
        let Some(next) = most_urgent(left) else { return };
        me.to_signal.store(left & !(1 << next.number()), Relaxed);
        next.signal();
    }
}

/// Sends the signals that a stopped thread can no longer send itself.
pub(crate) fn finish_signals(_: &Token, stopped: &Thread) {
    signal_all(stopped);
}

/// The most urgent thread of a set, by level.
fn most_urgent(set: u64) -> Option<&'static Thread> {
    bits(set).map(thread::by_number).reduce(|a, b| if b.level() > a.level() { b } else { a })
}

#[cold]
fn contend(me: &'static Thread) {
    let bit = 1 << me.number();
    WAITERS.fetch_or(bit, SeqCst);
    let mut raised = None;
    loop {
        let word = WORD.load(Acquire);
        if word & OWNER == word_of(me) {
            break;
        }
        if word == 0 {
            if WORD.compare_exchange(0, word_of(me), Acquire, Relaxed).is_ok() {
                break;
            }
        } else if WORD.compare_exchange(word, word.wrapping_add(ONE_MORE) | CONTENDED, SeqCst, Relaxed).is_ok() {
            let owner = thread::by_number((word & OWNER) as usize - 1);
            if me.level() > owner.level() {
                raised = Some(owner);
                owner.set_context(me.level());
            }
            // The owner may have been given the lock without having been signalled yet.
            if WAITERS.load(SeqCst) >> owner.number() & 1 == 1 {
                owner.signal();
            }
            me.wait_for_signal(NEVER);
        }
    }
    WAITERS.fetch_and(!bit, SeqCst);
    // Only the lock's owner changes levels permanently, and the caller is the owner now.
    if let Some(raised) = raised {
        raised.set_context(raised.level());
    }
}

/// Makes the most urgent waiter the owner. Begins again if a thread began to wait meanwhile: at
/// most once for each.
#[cold]
fn hand_over(me: &'static Thread) {
    loop {
        // In this order: who began to wait before is among the waiters, and who does so later
        // changes the word.
        let word = WORD.load(SeqCst);
        let others = WAITERS.load(SeqCst) & !(1 << me.number());
        let next = most_urgent(others);
        let more = if others & others.wrapping_sub(1) == 0 { 0 } else { CONTENDED };
        let after = next.map_or(0, |next| word_of(next) | more);
        if WORD.compare_exchange(word, after, Release, Relaxed).is_ok() {
            if let Some(next) = next {
                next.signal();
                // The caller may run at `next`'s level; `next` is then queued behind it.
                call::yield_now();
            }
            return;
        }
    }
}
