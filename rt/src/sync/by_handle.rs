//! Operations on named semaphores, by the broker's handle.

use crate::broker::{self, Accepted, Again, now};
use crate::error::{EAGAIN, EOVERFLOW};
use crate::lock;
use core::ffi::c_int;
use pillion_runtime::broker::Request;

/// Decrements the semaphore, waiting until the deadline if necessary.
pub(crate) fn wait(handle: u32, deadline: Result<u64, c_int>) -> Result<(), c_int> {
    let request = Request::SemWait { semaphore: handle, block: true };
    broker::wait_for(request, Again::default(), deadline, |_| (), |_, _| ())
}

/// Decrements the semaphore if its value is positive.
pub(crate) fn try_wait(handle: u32) -> Result<(), c_int> {
    match lock::with(|token| broker::ask(token, Request::SemWait { semaphore: handle, block: false }))? {
        Accepted::Done(_) => Ok(()),
        Accepted::Wait => Err(EAGAIN),
    }
}

/// Increments the semaphore.
pub(crate) fn post(handle: u32) -> Result<(), c_int> {
    let result = lock::with(|token| now(token, Request::SemPost { semaphore: handle }));
    result.map(|_| ()).map_err(|error| if error == EOVERFLOW { EAGAIN } else { error })
}

/// The semaphore's value.
pub(crate) fn value(handle: u32) -> Result<c_int, c_int> {
    let [value, ..] = lock::with(|token| now(token, Request::SemValue { semaphore: handle }))?;
    Ok(value.min(c_int::MAX as u64) as c_int)
}
