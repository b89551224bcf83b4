//! FIFOs that the broker keeps, for all tasks with `share = true`.

use crate::broker::{self, MOST, now};
use crate::error::{EACCES, EINVAL, ENOMEM};
use crate::{lock, log_line};
use core::ffi::{c_int, c_uint};
use pillion_runtime::broker::Request;

fn ask(request: Request) -> Result<[u64; 3], c_int> {
    lock::with(|token| now(token, request))
}

pub(super) fn create(fifo: c_uint, size: u32) -> Result<(), c_int> {
    ask(Request::FifoCreate { fifo, size }).map(|_| ()).inspect_err(|error| why_not(fifo, *error))
}

/// Reports what to change in the system file.
fn why_not(fifo: c_uint, error: c_int) {
    match error {
        EACCES => log_line!("FIFO {fifo} is one of shared_fifos: this task needs share = true in the system file"),
        ENOMEM => log_line!("FIFO {fifo} is one of shared_fifos, whose memory is used up: make them smaller"),
        _ => {}
    }
}

pub(super) fn destroy(fifo: c_uint) -> Result<(), c_int> {
    ask(Request::FifoDestroy { fifo }).map(|_| ())
}

pub(super) fn resize(fifo: c_uint, size: u32) -> Result<(), c_int> {
    ask(Request::FifoResize { fifo, size }).map(|_| ()).inspect_err(|error| why_not(fifo, *error))
}

pub(super) fn flush(fifo: c_uint) -> Result<(), c_int> {
    ask(Request::FifoFlush { fifo }).map(|_| ())
}

pub(super) fn pair(get: c_uint, put: c_uint) -> Result<(), c_int> {
    ask(Request::FifoPair { get, put }).map(|_| ())
}

/// Size, bytes to Linux, bytes to the tasks.
pub(super) fn state(fifo: c_uint) -> Result<[usize; 3], c_int> {
    ask(Request::FifoState { fifo }).map(|values| values.map(|value| value as usize))
}

/// # Safety
/// `data` is readable for `length` bytes.
pub(super) unsafe fn put(fifo: c_uint, data: *const u8, length: usize) -> c_int {
    if length > MOST {
        return -EINVAL;
    }
    let result = lock::with(|token| {
        // SAFETY: the caller's promise.
        unsafe { broker::give(token, data, length) };
        now(token, Request::FifoPut { fifo, length: length as u32 })
    });
    result.map_or_else(|error| -error, |_| length as c_int)
}

/// # Safety
/// `data` is writable for `length` bytes.
pub(super) unsafe fn get(fifo: c_uint, data: *mut u8, length: usize) -> c_int {
    let most = length.min(MOST);
    let result = lock::with(|token| {
        let [count, ..] = now(token, Request::FifoGet { fifo, length: most as u32 })?;
        let count = (count as usize).min(most);
        // SAFETY: the caller's promise; no more than there is room for.
        unsafe { broker::take(token, data, count) };
        Ok(count)
    });
    result.map_or_else(|error: c_int| -error, |count| count as c_int)
}
