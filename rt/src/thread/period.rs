//! Periodic threads.

use super::{Thread, by_pointer, cancel_point, current};
use crate::error::{EINVAL, ESRCH};
use crate::lock::{self, Token};
use crate::signal::{self, WAKEUP_BIT};
use crate::time::{self, clocks};
use crate::wait::{self, How, Wake};
use core::{ffi::c_int, sync::atomic::Ordering::Relaxed};
use pillion_abi::channel::thread_state;
use pillion_histogram::Histogram;
use pillion_rt_core::release::Releases;
use pillion_runtime::{info::address, now};

/// Has a thread released at `start`, on the scheduler's clock, and every `period` ns from then on.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_make_periodic_np(thread: *const Thread, start: i64, period: i64) -> c_int {
    let Some(thread) = by_pointer(thread) else { return ESRCH };
    let Some(releases) = Releases::new(start, period) else { return EINVAL };
    let token = lock::enter();
    thread.releases.set(&token, releases);
    thread.released.store(false, Relaxed);
    thread.show_period(period as u64);
    // A thread that already waits has to recompute its deadline.
    if thread.doing.get(&token) == thread_state::PERIODIC {
        wait::wake(&token, thread, wait::word::WOKEN);
    }
    0
}

/// Waits for the calling thread's next release.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_wait_np() -> c_int {
    let me = current();
    cancel_point();
    flush(me);
    loop {
        let (token, deadline) = prepare(me);
        let how = How::PERIOD.if_handlers_run(&token);
        match wait::block(token, None, how, deadline) {
            Wake::TimedOut => {
                me.late.store(now().wrapping_sub(deadline) + 1, Relaxed);
                me.released.store(true, Relaxed);
                break;
            }
            Wake::Woken => {}
            Wake::Interrupted if me.pending.fetch_and(!WAKEUP_BIT, Relaxed) & WAKEUP_BIT != 0 => break,
            Wake::Interrupted => {
                me.between_waits.store(true, Relaxed);
                signal::after_wait();
                me.between_waits.store(false, Relaxed);
            }
        }
    }
    signal::after_wait();
    0
}

/// Finds the next release and its deadline in ticks.
fn prepare(me: &Thread) -> (Token, u64) {
    let token = lock::enter();
    let mut releases = me.releases.get(&token);
    if me.released.swap(false, Relaxed) {
        releases.begin();
    }
    let (release, missed) = releases.wait(clocks::schedule_now(&token));
    if missed != 0 {
        me.show_overruns(missed);
        histogram().overrun(missed);
    }
    me.releases.set(&token, releases);
    let deadline = clocks::schedule_deadline(&token, release);
    (token, deadline)
}

/// Records the last release. Deferred, to keep it off the path from the release to the program.
pub(super) fn flush(me: &Thread) {
    let late = me.late.load(Relaxed);
    if late != 0 {
        me.late.store(0, Relaxed);
        let ns = time::scale().ns(late - 1);
        lock::with(|_| histogram().record(ns));
        me.show_release(ns);
    }
}

fn histogram() -> &'static Histogram {
    // SAFETY: the resource manager maps zeroed memory for the histogram there; threads write it
    // with the task's lock held.
    unsafe { &*(address::HISTOGRAM as *const Histogram) }
}
