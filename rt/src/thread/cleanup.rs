//! Handlers that a thread runs when it ends.

use super::{Thread, current};
use core::ffi::{c_int, c_void};
use core::sync::atomic::Ordering::Relaxed;

/// A handler, on the stack of its thread; also in `pthread.h`.
#[repr(C)]
#[derive(Debug)]
pub struct Frame {
    routine: Option<extern "C" fn(*mut c_void)>,
    argument: *mut c_void,
    next: *mut Frame,
}

/// Adds a handler.
///
/// # Safety
/// The frame stays where it is until [`rtl_cleanup_pop`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rtl_cleanup_push(
    frame: *mut Frame,
    routine: Option<extern "C" fn(*mut c_void)>,
    argument: *mut c_void,
) {
    let me = current();
    // SAFETY: the caller's promise.
    unsafe { frame.write(Frame { routine, argument, next: me.cleanup.load(Relaxed) }) };
    me.cleanup.store(frame, Relaxed);
}

/// Removes the newest handler, and runs it if `execute` is not 0.
///
/// # Safety
/// The frame is the newest one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rtl_cleanup_pop(frame: *mut Frame, execute: c_int) {
    // SAFETY: the caller's promise.
    let Frame { routine, argument, next } = unsafe { frame.read() };
    current().cleanup.store(next, Relaxed);
    if execute != 0
        && let Some(routine) = routine
    {
        routine(argument);
    }
}

/// Runs all handlers of the calling thread, the newest first.
pub(super) fn run_all(me: &Thread) {
    loop {
        let frame = me.cleanup.load(Relaxed);
        if frame.is_null() {
            return;
        }
        // SAFETY: the frames lie on the stack of this thread, in functions that have not returned.
        unsafe { rtl_cleanup_pop(frame, 1) };
    }
}
