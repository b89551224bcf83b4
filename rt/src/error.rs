//! Error numbers, as Linux on x86 has them, and errno.

use crate::thread;
use core::{ffi::c_int, sync::atomic::Ordering::Relaxed};

macro_rules! numbers {
    ($($name:ident = $value:literal, $text:literal;)*) => {$(
        #[doc = $text]
        pub const $name: c_int = $value;
    )*};
}

numbers! {
    EPERM = 1, "Not allowed.";
    ENOENT = 2, "No such name.";
    ESRCH = 3, "No such thread.";
    EINTR = 4, "Interrupted by a signal.";
    EIO = 5, "Input or output failed.";
    EBADF = 9, "Not an open file.";
    EAGAIN = 11, "Temporarily unavailable.";
    ENOMEM = 12, "No memory.";
    EACCES = 13, "No access.";
    EFAULT = 14, "Bad address.";
    EBUSY = 16, "In use.";
    ENODEV = 19, "No such device.";
    EINVAL = 22, "Bad argument.";
    EMFILE = 24, "Too many open files.";
    ENOSPC = 28, "No room.";
    ESPIPE = 29, "Cannot seek.";
    EDEADLK = 35, "Would deadlock.";
    ENAMETOOLONG = 36, "The name is too long.";
    ENOSYS = 38, "Not implemented.";
    EUNATCH = 49, "Not attached.";
    EOVERFLOW = 75, "Too large.";
    EMSGSIZE = 90, "The message is too long.";
    ENOTSUP = 95, "Not supported.";
    ETIMEDOUT = 110, "Timed out.";
    EOWNERDEAD = 130, "The owner ended while it held the mutex.";
    ENOTRECOVERABLE = 131, "What the mutex protects was left broken.";
}

/// Sets the calling thread's errno.
pub fn set_errno(number: c_int) {
    thread::current().errno.store(number, Relaxed);
}

/// Sets the calling thread's errno and returns -1.
#[must_use]
pub fn fail(number: c_int) -> c_int {
    set_errno(number);
    -1
}

/// Result of a call that returns 0, or -1 with errno.
#[must_use]
pub fn posix(result: Result<(), c_int>) -> c_int {
    result.map_or_else(fail, |()| 0)
}

/// Result of a `pthread` call: 0 or an error number.
#[must_use]
pub fn number(result: Result<(), c_int>) -> c_int {
    result.err().unwrap_or(0)
}

/// Address of errno, for programs.
#[unsafe(no_mangle)]
pub extern "C" fn __errno_location() -> *mut c_int {
    thread::current().errno.as_ptr()
}

/// Address of errno, for the C library itself.
#[unsafe(no_mangle)]
pub extern "C" fn ___errno_location() -> *mut c_int {
    __errno_location()
}
