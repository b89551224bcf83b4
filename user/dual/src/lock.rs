//! The lock of the task's objects ([`pillion_dual::objects`]), which excludes the other runners.

use crate::level;
use crate::runner::notification;
use core::cell::UnsafeCell;
use pillion_abi::NEVER;
use pillion_dual::exclusion::{Exclusion, Runners, settle};
use pillion_dual::objects::{Effects, Objects};
use pillion_rt_core::inherit::bits;
use pillion_runtime::{signal, signal_yield, wait};

/// The task's runners.
pub struct All;

/// What are levels there are priorities in Linux here.
impl Runners for All {
    fn level(&self, runner: usize) -> u8 {
        level::urgency(runner)
    }

    fn lend(&self, runner: usize, urgency: u8) {
        level::lend(runner, urgency);
    }

    fn restore(&self, runner: usize) {
        level::restore(runner);
    }

    fn wait(&self, me: usize) {
        let _ = wait(notification(me), NEVER);
    }

    fn signal(&self, runner: usize) {
        let _ = signal(notification(runner));
    }
}

/// Signals several, the most urgent first, and lets them run before the calling runner if they are
/// as urgent.
fn give_way_to(mut wakes: u32) {
    while let Some(next) = bits(wakes.into()).max_by_key(|runner| level::urgency(*runner)) {
        wakes &= !(1 << next);
        if wakes == 0 {
            let _ = signal_yield(notification(next));
        } else {
            All.signal(next);
        }
    }
}

struct Guarded {
    lock: Exclusion,
    objects: UnsafeCell<Objects>,
}

// SAFETY: only the lock's owner uses the objects.
unsafe impl Sync for Guarded {}

static GUARDED: Guarded = Guarded { lock: Exclusion::new(), objects: UnsafeCell::new(Objects::new()) };

/// Does something with the objects, as runner `me`. Then signals whom that woke, the most urgent
/// first. A caller that gives up what it inherited lets them run before that: they do not wait for
/// it, and whoever is less urgent than they are waits as long either way.
///
/// # Safety
/// The calling thread is that runner, and `f` does not call this function.
pub unsafe fn with<R>(me: usize, f: impl FnOnce(&mut Objects) -> R) -> R {
    GUARDED.lock.enter(me, &All);
    // SAFETY: the caller holds the lock, and so there is no other reference.
    let objects = unsafe { &mut *GUARDED.objects.get() };
    let result = f(objects);
    let Effects { wakes, changed } = objects.take_effects();
    let (mut lowered, mut risen) = (None, false);
    if changed != 0 {
        for party in bits(changed) {
            let Some(runner) = objects.runner(party) else { continue };
            let (runner, urgency) = (usize::from(runner), objects.urgency(party));
            if runner != me {
                level::set(runner, urgency);
            } else if urgency < level::urgency(me) {
                lowered = Some(party);
            } else {
                risen = level::note(me, urgency);
            }
        }
        GUARDED.lock.levels_changed(me, risen, &All);
    }
    GUARDED.lock.leave(me, &All);
    let Some(party) = lowered else {
        All.signal_all(wakes);
        return result;
    };
    give_way_to(wakes);
    GUARDED.lock.enter(me, &All);
    // SAFETY: as above. Others may have changed the urgency since.
    let has_changed = level::note(me, unsafe { (*GUARDED.objects.get()).urgency(party) });
    GUARDED.lock.leave(me, &All);
    // Not before: whom that lets run may need the lock.
    if has_changed {
        settle(me, &All);
    }
    result
}
