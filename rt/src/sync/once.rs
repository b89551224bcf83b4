//! `pthread_once`.

use crate::cell::Guarded;
use crate::lock::{self, Token};
use crate::thread;
use crate::wait::{How, Queue, block_and_return, run_handlers};
use core::ffi::c_int;
use pillion_abi::NEVER;

/// `pthread_once_t`; also in `pthread.h`.
#[repr(C)]
#[derive(Debug)]
pub struct Once {
    /// 0 before the routine has begun, [`DONE`], or [`RUNNING`] together with the address of the
    /// outer `Once`, in whose routine the same thread runs this one's.
    state: Guarded<usize>,
    queue: Queue,
}

const DONE: usize = 1;
/// A bit that is 0 in all addresses.
const RUNNING: usize = 2;

impl Once {
    fn is_running(&self, token: &Token) -> bool {
        self.state.get(token) & RUNNING != 0
    }

    fn end(&self, token: &Token, state: usize) {
        self.state.set(token, state);
        self.queue.wake_all(token);
    }

    /// The thread that ran the routine, perhaps nested in others, has ended: resets all of them as
    /// if none had begun.
    pub(super) fn undo(&self, token: &Token) {
        let mut at = Some(self);
        while let Some(once) = at {
            let outer = (once.state.get(token) & !RUNNING) as *const Once;
            once.end(token, 0);
            // SAFETY: the ended thread was in the outer one's routine, so it has not been freed.
            at = unsafe { outer.as_ref() };
        }
    }
}

/// Runs `routine` unless it has been run; returns when it is done. If a thread ends inside, the
/// next one runs the routine anew.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_once(once: &Once, routine: extern "C" fn()) -> c_int {
    let mut token = lock::enter();
    while once.is_running(&token) {
        let how = How::LOCK.if_handlers_run(&token);
        (token, _) = block_and_return(token, Some(&once.queue), how, NEVER);
        token = run_handlers(token);
    }
    if once.state.get(&token) == DONE {
        return 0;
    }
    let claim = &thread::current().claims.once;
    // SAFETY: the caller is inside the outer one's routine, so the program has not freed it.
    let outer = unsafe { claim.take() };
    once.state.set(&token, RUNNING | outer.map_or(0, |outer| core::ptr::from_ref(outer).addr()));
    claim.set(once);
    drop(token);
    routine();
    lock::with(|token| {
        outer.map_or_else(|| claim.clear(), |outer| claim.set(outer));
        once.end(token, DONE);
    });
    0
}
