//! The lock of the task's objects ([`pillion_dual::objects`]), which excludes the other runners.
//!
//! Free, it is taken and left without a system call. A runner that finds it taken raises the owner
//! to its own level and waits; so it waits for one operation, and, if that owner's budget ends in
//! it, for the owner's next period. All of this holds on several processors, too.

use crate::level;
use crate::runner::notification;
use core::cell::UnsafeCell;
use core::sync::atomic::{
    AtomicU32,
    Ordering::{Relaxed, SeqCst},
};
use pillion_abi::NEVER;
use pillion_dual::objects::{Effects, Objects};
use pillion_runtime::{signal, wait};

/// The owner's number plus one, or 0.
static OWNER: AtomicU32 = AtomicU32::new(0);

/// Runners that wait for the lock, as bits.
static WAITERS: AtomicU32 = AtomicU32::new(0);

struct Guarded(UnsafeCell<Objects>);

// SAFETY: only the lock's owner uses it.
unsafe impl Sync for Guarded {}

static OBJECTS: Guarded = Guarded(UnsafeCell::new(Objects::new()));

/// The numbers of the bits of a set.
fn bits(set: u32) -> impl Iterator<Item = usize> {
    pillion_rt_core::inherit::bits(set.into())
}

/// Does something with the objects, as runner `me`. Then signals whom that woke, the most urgent
/// first; the caller gives up what it inherited when they know.
///
/// # Safety
/// The calling thread is that runner, and `f` does not call this function.
pub unsafe fn with<R>(me: usize, f: impl FnOnce(&mut Objects) -> R) -> R {
    enter(me);
    // SAFETY: the caller holds the lock, and so there is no other reference.
    let objects = unsafe { &mut *OBJECTS.0.get() };
    let result = f(objects);
    let Effects { wakes, changed } = objects.take_effects();
    let mut lowered = None;
    if changed != 0 {
        for party in pillion_rt_core::inherit::bits(changed) {
            let Some(runner) = objects.runner(party) else { continue };
            let (runner, level) = (usize::from(runner), level::of_priority(objects.urgency(party)));
            if runner == me && level < level::of(me) {
                lowered = Some(party);
            } else {
                level::set(runner, level);
            }
        }
    }
    leave(me);
    signal_all(wakes);
    if let Some(party) = lowered {
        enter(me);
        // SAFETY: as above. Others may have changed the urgency since.
        let level = level::of_priority(unsafe { (*OBJECTS.0.get()).urgency(party) });
        level::set(me, level);
        leave(me);
    }
    result
}

fn signal_all(mut set: u32) {
    while let Some(next) = bits(set).max_by_key(|runner| level::of(*runner)) {
        set &= !(1 << next);
        let _ = signal(notification(next));
    }
}

#[inline]
fn try_enter(me: usize) -> bool {
    OWNER.compare_exchange(0, me as u32 + 1, SeqCst, Relaxed).is_ok()
}

#[inline]
fn enter(me: usize) {
    if !try_enter(me) {
        contend(me);
    }
}

#[cold]
fn contend(me: usize) {
    let mut raised = 0;
    loop {
        // Whoever leaves the lock from here on signals this runner.
        WAITERS.fetch_or(1 << me, SeqCst);
        if try_enter(me) {
            break;
        }
        if let Some(owner) = (OWNER.load(SeqCst) as usize).checked_sub(1) {
            if level::of(me) > level::of(owner) {
                raised |= 1 << owner;
                level::lend(owner, level::of(me));
            }
            let _ = wait(notification(me), NEVER);
        }
    }
    WAITERS.fetch_and(!(1 << me), SeqCst);
    // Only the owner of the lock sets levels for good, and that is this runner now.
    bits(raised).for_each(level::restore);
    // The signal may have been for something else as well.
    let _ = signal(notification(me));
}

#[inline]
fn leave(me: usize) {
    OWNER.store(0, SeqCst);
    let waiters = WAITERS.swap(0, SeqCst);
    if waiters != 0 {
        signal_all(waiters);
        // What a waiter lent is over: it may be queued behind this runner.
        level::restore(me);
    }
}
