//! The main thread: does what Linux did in RTLinux.
//!
//! It runs constructors and `init_module`, then serves Linux's requests and runs the handlers of
//! software interrupts, and at the end runs `cleanup_module`.

use crate::{constructors, error::EINTR, irq::soft, lock, signal, thread};
use core::ffi::c_int;
use core::ptr::null_mut;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64};
use pillion_abi::NEVER;
use pillion_runtime::call;
use pillion_runtime::info::{label, slot, wake};

unsafe extern "C" {
    fn init_module() -> c_int;
    fn cleanup_module();
}

/// Notification bits that came since the main thread last looked.
static BITS: AtomicU64 = AtomicU64::new(0);

/// Which of the program's functions the main thread runs.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
enum Phase {
    Init,
    Serving,
    Cleanup,
}

static PHASE: AtomicU32 = AtomicU32::new(Phase::Init as u32);

/// Function that runs when Linux has asked for something.
static ON_KICK: AtomicPtr<()> = AtomicPtr::new(null_mut());

/// Has `handler` run on the main thread whenever Linux has asked for something.
pub fn on_kick(handler: fn()) {
    ON_KICK.store(handler as *mut (), Relaxed);
}

/// Returns whether the calling thread is the main thread.
#[inline]
pub fn is_current() -> bool {
    thread::current().number() == 0
}

/// Keeps bits of the main thread's notification, whichever wait they ended.
pub(crate) fn note(bits: u64) {
    BITS.fetch_or(bits & !wake::THREAD, Relaxed);
}

/// Runs `init_module`, and serves Linux if it succeeds. Otherwise the manager takes the task apart
/// once it learns of the failure.
pub(crate) fn run() -> ! {
    let result = match crate::params::load() {
        // SAFETY: the program's function; it is called once, on the main thread.
        Ok(()) => unsafe { init_module() },
        Err(error) => -error,
    };
    started(result)
}

/// Reports the result of `init_module` to the manager.
fn started(result: c_int) -> ! {
    if result != 0 {
        thread::end_unseen();
    }
    let _ = call::call(slot::MANAGER, label::STARTED, words(result));
    PHASE.store(Phase::Serving as u32, Relaxed);
    serve()
}

/// Called when the program ends the main thread, which is not a thread of its own. In `init_module`
/// this is a failure, in `cleanup_module` the end of the task; in a handler, the thread continues
/// to serve Linux.
pub(crate) fn leave() -> ! {
    const INIT: u32 = Phase::Init as u32;
    const CLEANUP: u32 = Phase::Cleanup as u32;
    match PHASE.load(Relaxed) {
        INIT => started(-EINTR),
        CLEANUP => end(0),
        _ => serve(),
    }
}

/// Serves Linux until the task is unloaded.
fn serve() -> ! {
    let me = thread::current();
    // SAFETY: the calling thread never returns to where it took its tokens.
    unsafe { lock::leave_all(me) };
    me.pending.store(0, Relaxed);
    loop {
        let bits = BITS.swap(0, AcqRel);
        if bits & wake::KICK != 0 {
            run_kick_handler();
        }
        if bits & wake::UNLOAD != 0 {
            unload();
        }
        crate::notice::deliver();
        let busy = soft::run_pending();
        let signalled = lock::with(|token| {
            me.listens.set(token, signal::USER_BITS);
            signal::deliverable(token, me) & signal::USER_BITS != 0
        });
        if !busy && !signalled && BITS.load(Acquire) == 0 {
            me.wait_for_signal(NEVER);
        }
        signal::after_wait();
    }
}

fn run_kick_handler() {
    let handler = ON_KICK.load(Relaxed);
    if !handler.is_null() {
        // SAFETY: only `on_kick` stores there, and it stores a function of this type.
        let handler: fn() = unsafe { core::mem::transmute(handler) };
        handler();
    }
}

fn unload() -> ! {
    PHASE.store(Phase::Cleanup as u32, Relaxed);
    // SAFETY: the program's function; it is called once, on the main thread.
    unsafe { cleanup_module() };
    constructors::undo();
    end(0)
}

fn end(result: c_int) -> ! {
    thread::end_unseen();
    let _ = call::call(slot::MANAGER, label::ENDED, words(result));
    pillion_runtime::park()
}

fn words(result: c_int) -> [u64; pillion_abi::call::MESSAGE_WORDS] {
    let mut words = [0; pillion_abi::call::MESSAGE_WORDS];
    words[0] = i64::from(result) as u64;
    words
}
