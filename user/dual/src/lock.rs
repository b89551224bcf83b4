//! The lock of the task's objects ([`pillion_dual::objects`]), which excludes the other runners.

use crate::level;
use crate::runner::notification;
use core::cell::UnsafeCell;
use pillion_abi::NEVER;
use pillion_dual::exclusion::{Exclusion, Runners, settle};
use pillion_dual::objects::{Effects, Objects};
use pillion_runtime::{signal, wait};

/// The task's runners.
pub struct All;

impl Runners for All {
    fn level(&self, runner: usize) -> u8 {
        level::of(runner)
    }

    fn lend(&self, runner: usize, level: u8) {
        level::lend(runner, level);
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

struct Guarded {
    lock: Exclusion,
    objects: UnsafeCell<Objects>,
}

// SAFETY: only the lock's owner uses the objects.
unsafe impl Sync for Guarded {}

static GUARDED: Guarded = Guarded { lock: Exclusion::new(), objects: UnsafeCell::new(Objects::new()) };

/// Does something with the objects, as runner `me`. Then signals whom that woke, the most urgent
/// first; the caller gives up what it inherited when they know.
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
        for party in pillion_rt_core::inherit::bits(changed) {
            let Some(runner) = objects.runner(party) else { continue };
            let (runner, level) = (usize::from(runner), level::of_priority(objects.urgency(party)));
            if runner != me {
                level::set(runner, level);
            } else if level < level::of(me) {
                lowered = Some(party);
            } else {
                risen = level::note(me, level);
            }
        }
        GUARDED.lock.levels_changed(me, risen, &All);
    }
    GUARDED.lock.leave(me, &All);
    All.signal_all(wakes);
    if let Some(party) = lowered {
        GUARDED.lock.enter(me, &All);
        // SAFETY: as above. Others may have changed the urgency since.
        let level = level::of_priority(unsafe { (*GUARDED.objects.get()).urgency(party) });
        let has_changed = level::note(me, level);
        GUARDED.lock.leave(me, &All);
        // Not before: whom that lets run looks for its result at once, and needs the lock.
        if has_changed {
            settle(me, &All);
        }
    }
    result
}
