//! Ending threads.

use super::{Life, Thread, by_number, cleanup, current, level, specific};
use crate::lock::{self, Token};
use crate::signal::{self, CANCEL_BIT};
use crate::sync::mutex;
use crate::{main_thread, notice};
use core::{ffi::c_void, ptr::null_mut, sync::atomic::Ordering::Relaxed};
use pillion_abi::channel::thread_state;
use pillion_rt_core::urgency::Urgency;
use pillion_runtime::{call, info::skin};

/// Ends the calling thread. The main thread is not one of the program's: see [`main_thread`].
#[unsafe(no_mangle)]
pub extern "C" fn pthread_exit(result: *mut c_void) -> ! {
    let me = current();
    if main_thread::is_current() {
        main_thread::leave();
    }
    me.result.store(result, Relaxed);
    me.ending.store(true, Relaxed);
    signal::mask_all(me);
    me.masked.fetch_or(CANCEL_BIT, Relaxed);
    cleanup::run_all(me);
    specific::destroy_all(me);
    end_current()
}

/// Ends the calling thread without any of the program's handlers.
pub(crate) fn end_current() -> ! {
    let me = current();
    super::period::flush(me);
    lock::with(|token| retire(token, me));
    // SAFETY: the calling thread never returns to where it took its tokens.
    unsafe { lock::leave_all(me) };
    loop {
        let _ = call::thread_suspend(me.slot(skin::slot::THREADS));
    }
}

/// Ends another thread where it stands. The caller has stopped it, outside the parts of this
/// library that must be finished.
pub(super) fn end_other(token: &Token, thread: &'static Thread) {
    crate::wait::wake_without_signal(token, thread, crate::wait::word::NOT);
    thread.stopped.set(token, true);
    retire(token, thread);
}

/// Removes an ended thread from everything that refers to it.
fn retire(token: &Token, thread: &'static Thread) {
    level::with_inheritance(token, |i| i.remove(thread.number()));
    thread.claims.pass_on(token);
    notice::thread_ended(token, thread);
    mutex::owner_ends(token, thread);
    crate::broker::thread_ended(token, thread);
    let detached = thread.detached.get(token);
    thread.awaits.set(token, 0);
    thread.life.set(token, if detached { Life::Gone } else { Life::Ended });
    if detached {
        thread.magic.store(0, Relaxed);
    }
    thread.show_state(if detached { thread_state::FREE } else { thread_state::ENDED });
    thread.joiners.wake_all(token);
}

/// Frees an entry of the table and what belongs to it. The kernel has stopped the thread.
pub(super) fn free(token: &Token, thread: &'static Thread) {
    let stack = thread.stack.swap(null_mut(), Relaxed);
    if !stack.is_null() {
        // SAFETY: `start` allocated it for the thread, which the kernel has stopped for good.
        unsafe { crate::libc::free(stack) };
    }
    thread.magic.store(0, Relaxed);
    thread.waiting.store(crate::wait::word::NOT, Relaxed);
    thread.new_identity();
    thread.stop.store(0, Relaxed);
    thread.lent.store(false, Relaxed);
    thread.lender.set(token, 0);
    thread.stopped.set(token, false);
    thread.unstoppable.store(0, Relaxed);
    thread.lock_depth.store(0, Relaxed);
    thread.interrupts_off.store(false, Relaxed);
    thread.cleanup.store(null_mut(), Relaxed);
    thread.specific.iter().for_each(|value| value.store(null_mut(), Relaxed));
    level::set_own(token, thread, Urgency::of_priority(0));
    thread.show_gone();
    thread.life.set(token, Life::Free);
}

/// Stops all threads but the caller for good, at the end of the task.
pub(crate) fn end_unseen() {
    lock::with(|_| {
        for thread in (1..super::all().len()).map(by_number) {
            let _ = call::thread_suspend(thread.slot(skin::slot::THREADS));
            thread.show_state(thread_state::FREE);
        }
    });
}
