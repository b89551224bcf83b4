//! Named shared memory: `mbuff_alloc` and its kin. The resource manager keeps the names and the
//! memory; all tasks and Linux see the same buffers.

use crate::error::{EAGAIN, ENOMEM};
use crate::{log_line, main_thread, manager};
use core::ffi::{CStr, c_char, c_void};
use core::ptr::null_mut;
use pillion_abi::channel::MBUFF_NAME;
use pillion_runtime::info::{address, label};

/// Longest name.
const LONGEST: usize = 32;

/// Bytes of a page.
const PAGE: u64 = 4096;

/// The words of a call: size and name.
///
/// # Safety
/// `name` is null or ends with a zero.
unsafe fn words(name: *const c_char, size: u64) -> Option<[u64; 1 + MBUFF_NAME / 8]> {
    if name.is_null() || !main_thread::is_current() {
        return None;
    }
    // SAFETY: the caller's promise.
    let name = unsafe { CStr::from_ptr(name) }.to_bytes();
    if name.is_empty() || name.len() > LONGEST {
        return None;
    }
    let mut words = [0; 1 + MBUFF_NAME / 8];
    words[0] = size;
    for (word, bytes) in words[1..].iter_mut().zip(name.chunks(8)) {
        *word = bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
    }
    Some(words)
}

/// Finds or creates a buffer and holds it. Returns null if there is not enough memory, if the
/// existing buffer is smaller than `size`, or if the caller is a real-time thread.
///
/// # Safety
/// `name` is null or ends with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mbuff_alloc(name: *const c_char, size: usize) -> *mut c_void {
    let Some(size) = (size as u64).checked_next_multiple_of(PAGE).filter(|size| *size != 0) else { return null_mut() };
    // SAFETY: the caller's promise.
    let Some(words) = (unsafe { words(name, size) }) else { return null_mut() };
    loop {
        match manager::ask(label::MBUFF_HOLD, &words) {
            Ok(answer) => return (address::POOL + answer[1]) as *mut c_void,
            // The buffer is new: each call has the manager clear a piece of it.
            Err(EAGAIN) => {}
            Err(error) => {
                if error == ENOMEM {
                    let kib = size >> 10;
                    log_line!("a shared buffer takes {kib} KiB, more than is free: raise mbuff_kib in the system file");
                }
                return null_mut();
            }
        }
    }
}

/// Releases one hold on a buffer. The buffer is freed when nobody holds it.
///
/// # Safety
/// `name` is null or ends with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mbuff_free(name: *const c_char, _: *mut c_void) {
    // SAFETY: the caller's promise.
    if let Some(words) = unsafe { words(name, 0) } {
        let _ = manager::ask(label::MBUFF_RELEASE, &words);
    }
}

/// Same as [`mbuff_alloc`]: a task has no mapping apart from its hold.
///
/// # Safety
/// `name` is null or ends with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mbuff_attach(name: *const c_char, size: usize) -> *mut c_void {
    // SAFETY: the caller's promise.
    unsafe { mbuff_alloc(name, size) }
}

/// See [`mbuff_attach`].
///
/// # Safety
/// `name` is null or ends with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mbuff_detach(name: *const c_char, memory: *mut c_void) {
    // SAFETY: the caller's promise.
    unsafe { mbuff_free(name, memory) }
}
