//! Bytes into and out of FIFOs.

use super::{SLOTS, is_shared, negative, number, shared, with};
use crate::error::{EINVAL, ENOSPC};
use crate::{lock, share};
use core::ffi::{c_int, c_uint, c_void};
use pillion_channel::{Fifo, Moved};

/// Puts all of the data, or nothing. Returns the count.
///
/// # Safety
/// `data` is readable for `count` bytes.
#[unsafe(export_name = "rtf_put")]
pub unsafe extern "C" fn put(minor: c_uint, data: *const c_void, count: c_int) -> c_int {
    // SAFETY: the caller's promise.
    let result =
        exchange(minor, count, |fifo, length| unsafe { fifo.put_from(data.cast(), length).map_err(|_| ENOSPC) });
    match result {
        // SAFETY: the caller's promise.
        Err(Refused::Shared(length)) => unsafe { shared::put(minor, data.cast(), length) },
        Err(Refused::Error(error)) => -error,
        Ok(count) => count,
    }
}

/// Takes up to `count` of the bytes that are there. Returns how many.
///
/// # Safety
/// `data` is writable for `count` bytes.
#[unsafe(export_name = "rtf_get")]
pub unsafe extern "C" fn get(minor: c_uint, data: *mut c_void, count: c_int) -> c_int {
    // SAFETY: the caller's promise.
    match exchange(minor, count, |fifo, length| Ok(unsafe { fifo.get_to(data.cast(), length) })) {
        // SAFETY: the caller's promise.
        Err(Refused::Shared(length)) => unsafe { shared::get(minor, data.cast(), length) },
        Err(Refused::Error(error)) => -error,
        Ok(count) => count,
    }
}

/// Why nothing was done with one of the task's FIFOs.
enum Refused {
    /// The broker keeps the FIFO; the number of bytes wanted.
    Shared(usize),
    Error(c_int),
}

#[inline(always)]
fn exchange(
    minor: c_uint,
    count: c_int,
    f: impl FnOnce(&mut Fifo, usize) -> Result<Moved, c_int>,
) -> Result<c_int, Refused> {
    let number = number(minor).map_err(Refused::Error)?;
    let length = usize::try_from(count).map_err(|_| Refused::Error(EINVAL))?;
    if is_shared(number) {
        return Err(Refused::Shared(length));
    }
    let (moved, handler) = lock::with(|token| {
        let slots = &mut *SLOTS.borrow(token);
        let slot = &mut slots[number];
        let fifo = slot.fifo.as_mut().ok_or(EINVAL)?;
        let result = f(fifo, length);
        slot.show_damage(token, number);
        let moved = result?;
        if moved.user != 0 {
            share::tell_fifo(token, minor, moved.user);
        }
        Ok((moved, slot.rt_handler))
    })
    .map_err(Refused::Error)?;
    if let Some(handler) = handler {
        handler(minor);
    }
    Ok(moved.bytes as c_int)
}

/// Drops the FIFO's contents.
#[unsafe(no_mangle)]
pub extern "C" fn rtf_flush(minor: c_uint) -> c_int {
    negative(flush(minor).map(|()| 0))
}

fn flush(minor: c_uint) -> Result<(), c_int> {
    let number = number(minor)?;
    if is_shared(number) {
        return shared::flush(minor);
    }
    lock::with(|token| {
        let moved = with(token, number, |slot| {
            let moved = slot.fifo.as_mut().map_or(Moved::default(), Fifo::flush);
            slot.show_damage(token, number);
            moved
        })?;
        if moved.user != 0 {
            share::tell_fifo(token, minor, moved.user);
        }
        Ok(())
    })
}

#[derive(Default)]
struct State {
    size: usize,
    to_linux: usize,
    to_task: usize,
    opens: u32,
}

fn state(minor: c_uint) -> Option<State> {
    let number = number(minor).ok()?;
    if is_shared(number) {
        return shared::state(minor).ok().map(|[size, to_linux, to_task]| State { size, to_linux, to_task, opens: 0 });
    }
    lock::with(|token| {
        with(token, number, |slot| {
            let fifo = slot.fifo.as_mut()?;
            let (to_linux, to_task) = fifo.lengths();
            let state = State { size: fifo.size(), to_linux, to_task, opens: fifo.opens() };
            slot.show_damage(token, number);
            Some(state)
        })
    })
    .ok()?
}

/// 1 if there is nothing to get, or no such FIFO.
#[unsafe(no_mangle)]
pub extern "C" fn rtf_isempty(minor: c_uint) -> c_int {
    state(minor).is_none_or(|s| s.to_linux + s.to_task == 0).into()
}

/// 1 if the FIFO exists.
#[unsafe(no_mangle)]
pub extern "C" fn rtf_isused(minor: c_uint) -> c_int {
    state(minor).is_some().into()
}

/// Bytes that can be got.
#[unsafe(no_mangle)]
pub extern "C" fn rtf_length(minor: c_uint) -> c_int {
    state(minor).map_or(0, |s| (s.to_linux + s.to_task) as c_int)
}

/// Bytes that can be put.
#[unsafe(no_mangle)]
pub extern "C" fn rtf_room(minor: c_uint) -> c_int {
    state(minor).map_or(0, |s| (s.size - s.to_linux) as c_int)
}

/// Capacity in each direction, in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn rtf_capacity(minor: c_uint) -> c_int {
    state(minor).map_or(0, |s| s.size as c_int)
}

/// Linux processes that have the FIFO open, as Linux reports it; not known for a shared FIFO.
#[unsafe(no_mangle)]
pub extern "C" fn rtf_opens(minor: c_uint) -> c_int {
    state(minor).map_or(0, |s| s.opens as c_int)
}
