//! `/dev/rtfN`: FIFOs as files.

use super::{CREATE, File, NONBLOCK, Operations};
use crate::error::{EACCES, EINVAL, ESPIPE, EUNATCH};
use crate::fifo::{self, rtf_isused, rtf_length};
use core::ffi::{c_char, c_int, c_long, c_uint, c_ulong, c_void};
use core::ptr::{null_mut, without_provenance_mut};

/// Size of a FIFO that `open` creates.
const SIZE: c_int = 4096;

/// `RTF_SETSIZE`.
const SET_SIZE: c_uint = 1;

/// `FIONREAD`.
const COUNT: c_uint = 0x541b;

pub(super) static OPERATIONS: Operations = Operations {
    seek: Some(seek),
    read: Some(read),
    write: Some(write),
    ioctl: Some(ioctl),
    open: Some(open),
    release: Some(release),
    ..Operations::NONE
};

/// [`File::private`] of a FIFO that `open` created and `close` destroys.
fn made() -> *mut c_void {
    without_provenance_mut(1)
}

/// # Safety
/// As for all operations: the file is open.
unsafe extern "C" fn open(file: *mut File) -> c_int {
    // SAFETY: the caller's promise.
    let file = unsafe { &mut *file };
    if file.flags & NONBLOCK == 0 {
        return -EACCES;
    }
    if rtf_isused(file.minor) == 1 {
        return 0;
    }
    if file.flags & CREATE == 0 {
        return -EUNATCH;
    }
    let result = fifo::create(file.minor, SIZE);
    file.private = if result == 0 { made() } else { null_mut() };
    result
}

/// # Safety
/// As for [`open`].
unsafe extern "C" fn release(file: *mut File) -> c_int {
    // SAFETY: as above.
    let file = unsafe { &*file };
    if file.private == made() { fifo::destroy(file.minor) } else { 0 }
}

/// # Safety
/// As for [`open`]; the program gives `count` bytes.
unsafe extern "C" fn read(file: *mut File, to: *mut c_char, count: usize, _: *mut c_long) -> isize {
    let count = count.min(c_int::MAX as usize) as c_int;
    // SAFETY: as above.
    unsafe { fifo::get((*file).minor, to.cast(), count) as isize }
}

/// # Safety
/// As for [`open`]; the program gives `count` bytes.
unsafe extern "C" fn write(file: *mut File, from: *const c_char, count: usize, _: *mut c_long) -> isize {
    let Ok(count) = c_int::try_from(count) else { return -EINVAL as isize };
    // SAFETY: as above.
    unsafe { fifo::put((*file).minor, from.cast(), count) as isize }
}

/// # Safety
/// None: it uses no argument.
unsafe extern "C" fn seek(_: *mut File, _: c_long, _: c_int) -> c_long {
    (-ESPIPE).into()
}

/// # Safety
/// As for [`open`].
unsafe extern "C" fn ioctl(file: *mut File, command: c_uint, argument: c_ulong) -> c_int {
    // SAFETY: as above.
    let minor = unsafe { (*file).minor };
    match command {
        SET_SIZE => fifo::resize(minor, c_int::try_from(argument).unwrap_or(-1)),
        COUNT if argument != 0 => {
            // SAFETY: the program gives the address of an `int`.
            unsafe { (argument as *mut c_int).write(rtf_length(minor)) };
            0
        }
        _ => -EINVAL,
    }
}
