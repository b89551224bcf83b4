//! Named semaphores: `sem_open` and its kin. The broker keeps them; a `sem_t` of the task stands
//! for each one that it has open.

use crate::broker::now;
use crate::cell::Shared;
use crate::error::{EINVAL, ENAMETOOLONG, ENOMEM, fail, posix};
use crate::sync::semaphore::Semaphore;
use crate::{libc, lock};
use core::ffi::{CStr, c_char, c_int, c_uint};
use core::ptr::null_mut;
use pillion_runtime::broker::{NAME_SIZE, Name, Request, SEMAPHORES, open};

/// `O_CREAT` and `O_EXCL`.
const CREATE: c_int = 0o100;
const EXCLUSIVE: c_int = 0o200;

/// An open semaphore: the broker's handle, how often it is open, and its `sem_t`.
#[derive(Clone, Copy)]
struct Opened {
    handle: u32,
    count: u32,
    semaphore: *mut Semaphore,
}

// SAFETY: the pointer is to memory that this module allocated and that lasts while the entry does.
unsafe impl Send for Opened {}

static OPENED: Shared<[Option<Opened>; SEMAPHORES]> = Shared::new([None; SEMAPHORES]);

/// The broker's flags for `O_CREAT` and `O_EXCL`.
pub(crate) fn open_flags(flags: c_int) -> u32 {
    let create = if flags & CREATE != 0 { open::CREATE } else { 0 };
    create | if flags & EXCLUSIVE != 0 { open::EXCLUSIVE } else { 0 }
}

/// A name in the broker's form.
///
/// # Safety
/// `name` is null or ends with a zero.
pub(crate) unsafe fn name_of(name: *const c_char) -> Result<Name, c_int> {
    if name.is_null() {
        return Err(EINVAL);
    }
    // SAFETY: the caller's promise.
    let name = unsafe { CStr::from_ptr(name) }.to_bytes();
    if name.len() >= NAME_SIZE { Err(ENAMETOOLONG) } else { Name::new(name).ok_or(EINVAL) }
}

/// Opens or creates a semaphore. The header declares it with variable arguments. Returns null with
/// errno on failure.
///
/// # Safety
/// `name` is null or ends with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sem_open(name: *const c_char, flags: c_int, _mode: c_uint, value: c_uint) -> *mut Semaphore {
    // SAFETY: the caller's promise.
    let opened = unsafe { name_of(name) }.and_then(|name| {
        let flags = open_flags(flags);
        let [handle, ..] = lock::with(|token| now(token, Request::SemOpen { name, flags, value }))?;
        stand_for(handle as u32)
    });
    opened.unwrap_or_else(|error| {
        let _ = fail(error);
        null_mut()
    })
}

/// The `sem_t` for a semaphore that was just opened: the same one each time that it is opened.
fn stand_for(handle: u32) -> Result<*mut Semaphore, c_int> {
    let result = lock::with(|token| {
        let opened = &mut *OPENED.borrow(token);
        if let Some(known) = opened.iter_mut().flatten().find(|o| o.handle == handle) {
            known.count += 1;
            return Some(known.semaphore);
        }
        let free = opened.iter_mut().find(|o| o.is_none())?;
        let semaphore = libc::alloc(size_of::<Semaphore>(), align_of::<Semaphore>()).cast::<Semaphore>();
        if semaphore.is_null() {
            return None;
        }
        // SAFETY: it was just allocated for one.
        unsafe { semaphore.write(Semaphore::with_name(handle)) };
        *free = Some(Opened { handle, count: 1, semaphore });
        Some(semaphore)
    });
    result.ok_or_else(|| {
        let _ = lock::with(|token| now(token, Request::SemClose { semaphore: handle }));
        ENOMEM
    })
}

/// Closes a semaphore.
///
/// # Safety
/// The program does not use it after it has closed it as often as it opened it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sem_close(semaphore: *mut Semaphore) -> c_int {
    let handle = lock::with(|token| {
        let opened = &mut *OPENED.borrow(token);
        let entry = opened.iter_mut().find(|o| o.is_some_and(|o| o.semaphore == semaphore))?;
        let known = entry.as_mut()?;
        known.count -= 1;
        let handle = known.handle;
        if known.count == 0 {
            // SAFETY: `stand_for` allocated it, and no entry refers to it any more; nor does the
            // program, says the caller.
            unsafe { libc::free(semaphore.cast()) };
            *entry = None;
        }
        Some(handle)
    });
    let result = handle.ok_or(EINVAL).and_then(|semaphore| lock::with(|t| now(t, Request::SemClose { semaphore })));
    posix(result.map(|_| ()))
}

/// Removes the name.
///
/// # Safety
/// `name` is null or ends with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sem_unlink(name: *const c_char) -> c_int {
    // SAFETY: the caller's promise.
    let result =
        unsafe { name_of(name) }.and_then(|name| lock::with(|token| now(token, Request::SemUnlink { name, only: 0 })));
    posix(result.map(|_| ()))
}
