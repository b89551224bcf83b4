//! Access of a handler to the data of a Linux process's I/O control.
//!
//! The process's data was copied before the handler runs, and the handler got the copy's address.
//! Any other address is refused: it would be one in the task's own memory, chosen by Linux.

use crate::fifo;
use core::ffi::{c_int, c_ulong, c_void};

fn is_inside(address: usize, size: usize) -> bool {
    let data = fifo::copied_data();
    address >= data.start && address.checked_add(size).is_some_and(|end| end <= data.end)
}

/// # Safety
/// Both are valid for `size` bytes where `user` is part of the copied data.
unsafe fn copy(to: *mut c_void, from: *const c_void, size: c_ulong, user: usize) -> c_ulong {
    if !is_inside(user, size as usize) {
        return size;
    }
    // SAFETY: the caller's promise.
    unsafe { to.cast::<u8>().copy_from(from.cast(), size as usize) };
    0
}

/// Copies out of the process's data; returns the number of bytes that could not be copied.
///
/// # Safety
/// `to` is writable for `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn copy_from_user(to: *mut c_void, from: *const c_void, size: c_ulong) -> c_ulong {
    // SAFETY: the caller's promise.
    unsafe { copy(to, from, size, from.addr()) }
}

/// Copies into the process's data; returns the number of bytes that could not be copied.
///
/// # Safety
/// `from` is readable for `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn copy_to_user(to: *mut c_void, from: *const c_void, size: c_ulong) -> c_ulong {
    // SAFETY: the caller's promise.
    unsafe { copy(to, from, size, to.addr()) }
}

/// 1 if the memory is part of the process's data.
#[unsafe(no_mangle)]
pub extern "C" fn access_ok(_: c_int, address: *const c_void, size: c_ulong) -> c_int {
    is_inside(address.addr(), size as usize).into()
}
