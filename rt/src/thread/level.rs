//! The levels that threads run at.

use super::{Thread, by_number, current};
use crate::cell::Shared;
use crate::lock::{self, Token};
use core::sync::atomic::Ordering::Relaxed;
use pillion_rt_core::inherit::{Inheritance, bits};
use pillion_rt_core::urgency::{Limits, Urgency};
use pillion_runtime::{call, info};

static INHERITANCE: Shared<Inheritance<Urgency>> = Shared::new(Inheritance::new(Urgency::MAIN));

/// A thread's urgency, including what it inherits.
pub fn urgency(token: &Token, thread: &Thread) -> Urgency {
    INHERITANCE.borrow(token).effective(thread.number())
}

/// Changes which thread waits for which. `change` returns the threads whose urgency changed, as
/// bits; they continue at their new levels.
pub fn with_inheritance(token: &Token, change: impl FnOnce(&mut Inheritance<Urgency>) -> u64) {
    let changed = change(&mut INHERITANCE.borrow(token));
    for thread in bits(changed).map(by_number) {
        apply(token, thread);
    }
}

/// Returns whether `waiter` would wait for itself if it waited for `owner`.
pub(crate) fn closes_circle(token: &Token, waiter: &Thread, owner: &Thread) -> bool {
    INHERITANCE.borrow(token).closes_circle(waiter.number(), owner.number())
}

/// The urgency that follows from a thread's priority.
pub(crate) fn own(token: &Token, thread: &Thread) -> Urgency {
    match (thread.number(), thread.real_time.get(token)) {
        (0, _) => Urgency::MAIN,
        (_, false) => Urgency::INTERRUPT,
        (_, true) => Urgency::of_priority(thread.priority.get(token)),
    }
}

pub(crate) fn set_own(token: &Token, thread: &Thread, urgency: Urgency) {
    with_inheritance(token, |i| i.set_own(thread.number(), urgency));
}

/// Sets the level of a thread that is not running yet, whatever it was.
pub(super) fn reset(token: &Token, thread: &Thread) {
    let urgency = own(token, thread);
    INHERITANCE.borrow(token).set_own(thread.number(), urgency);
    apply(token, thread);
}

/// Takes back from the caller what `waiters` lent it; of these, `next` is to run. The caller keeps
/// its level until `next` lowers it, or until [`settle`]: it must not become less urgent before
/// `next` is ready.
pub(crate) fn take_back(token: &Token, waiters: u64, next: Option<&Thread>) {
    let changed = bits(waiters).fold(0, |changed, w| changed | INHERITANCE.borrow(token).end_wait(w));
    let me = current();
    for thread in bits(changed).map(by_number) {
        match next {
            Some(next) if core::ptr::eq(thread, me) => {
                note(token, me);
                me.lent.store(true, Relaxed);
                next.lender.set(token, me.number() as u32 + 1);
            }
            _ => apply(token, thread),
        }
    }
}

/// Lets the woken waiter, queued behind the caller at the same level, run and lower the caller. If
/// the waiter has not done so, the caller lowers itself.
#[cold]
pub(crate) fn settle(me: &'static Thread) {
    if me.lock_depth.load(Relaxed) == 0 {
        call::yield_now();
    }
    put_down(&lock::enter(), me);
}

fn put_down(token: &Token, thread: &'static Thread) {
    if thread.lent.swap(false, Relaxed) {
        apply(token, thread);
    }
}

impl Thread {
    /// Returns whether the thread still runs at a level that was lent to it.
    #[inline]
    pub(crate) fn is_lent(&self) -> bool {
        self.lent.load(Relaxed)
    }

    /// Lowers the thread that woke this one and still runs at its level.
    pub(crate) fn put_down_lender(&self, token: &Token) {
        if let Some(number) = self.lender.replace(token, 0).checked_sub(1) {
            put_down(token, by_number(number as usize));
        }
    }
}

fn apply(token: &Token, thread: &Thread) {
    let level = note(token, thread);
    lock::apply_level(token, thread, level);
}

fn note(token: &Token, thread: &Thread) -> u8 {
    let level = urgency(token, thread).level(limits());
    thread.level.store(level, Relaxed);
    thread.show_level(u32::from(level));
    level
}

fn limits() -> Limits {
    let skin = &info::task().skin;
    Limits { main: level_of(skin.main_level), ceiling: level_of(skin.ceiling) }
}

fn level_of(word: u32) -> u8 {
    word.clamp(1, 255) as u8
}

/// The highest level that a thread may have, in a task with threads on several processors.
#[inline]
pub(crate) fn ceiling_of_several() -> Option<u8> {
    let skin = &info::task().skin;
    skin.has_several().then(|| level_of(skin.ceiling))
}
