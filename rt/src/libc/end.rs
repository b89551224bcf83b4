//! Functions by which a program ends: its task stops with a report, and all other tasks continue.

use crate::log_line;
use core::arch::asm;
use core::ffi::{CStr, c_char, c_int};

/// Stops the task by an undefined instruction, so that the report shows the caller.
#[unsafe(export_name = "pillion_stop")]
pub extern "C" fn stop() -> ! {
    // SAFETY: control does not come back; the resource manager stops all threads of the task.
    unsafe { asm!("ud2", options(noreturn)) }
}

/// `abort`.
#[unsafe(no_mangle)]
pub extern "C" fn abort() -> ! {
    log_line!("abort() was called");
    stop()
}

/// `exit`: an error, as a module does not end by itself.
#[unsafe(no_mangle)]
pub extern "C" fn exit(status: c_int) -> ! {
    log_line!("exit({status}) was called");
    stop()
}

/// `_exit`.
#[unsafe(no_mangle)]
pub extern "C" fn _exit(status: c_int) -> ! {
    exit(status)
}

/// `_Exit`.
#[unsafe(no_mangle)]
pub extern "C" fn _Exit(status: c_int) -> ! {
    exit(status)
}

/// Called by `assert` when the assertion fails.
///
/// # Safety
/// The texts end with a zero, or are null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __assert_fail(
    what: *const c_char,
    file: *const c_char,
    line: c_int,
    function: *const c_char,
) -> ! {
    // SAFETY: the caller's promise.
    let [what, file, function] = unsafe { [text(what), text(file), text(function)] };
    log_line!("assertion failed: {what} ({file}:{line}, {function})");
    stop()
}

/// Called by a function of the C library when its stack frame was overwritten.
#[unsafe(no_mangle)]
pub extern "C" fn __stack_chk_fail() -> ! {
    log_line!("a stack frame was overwritten");
    stop()
}

/// # Safety
/// `text` ends with a zero, or is null.
unsafe fn text<'a>(text: *const c_char) -> &'a str {
    if text.is_null() {
        return "?";
    }
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(text) }.to_str().unwrap_or("?")
}
