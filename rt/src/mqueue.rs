//! Message queues. The broker keeps them; tasks with `share = true` share the names.

use crate::broker::{self, Again, now};
use crate::cell::Shared;
use crate::error::{EBADF, EINVAL, EMFILE, EMSGSIZE, fail, posix};
use crate::lock::{self, Token};
use crate::named::{name_of, open_flags};
use crate::time::Timespec;
use crate::{signal, sync};
use core::ffi::{c_char, c_int, c_long, c_uint};
use core::ptr::null;
use pillion_abi::NEVER;
use pillion_runtime::broker::{DEFAULT_MESSAGE_SIZE, DEFAULT_MESSAGES, MESSAGE_PRIORITIES, Request};

/// Most open queues of a task.
const MOST: usize = 64;

/// `O_ACCMODE`, `O_RDONLY`, `O_WRONLY`, `O_NONBLOCK`.
const ACCESS: c_int = 3;
const READ_ONLY: c_int = 0;
const WRITE_ONLY: c_int = 1;
const NONBLOCK: c_int = 0o4000;

/// `struct mq_attr`; also in `mqueue.h`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Attributes {
    flags: c_long,
    most_messages: c_long,
    message_size: c_long,
    messages: c_long,
}

#[derive(Clone, Copy)]
struct Opened {
    handle: u32,
    flags: c_int,
    message_size: usize,
}

static OPENED: Shared<[Option<Opened>; MOST]> = Shared::new([None; MOST]);

fn find(token: &Token, queue: c_int) -> Result<Opened, c_int> {
    let index = usize::try_from(queue).map_err(|_| EBADF)?;
    OPENED.borrow(token).get(index).copied().flatten().ok_or(EBADF)
}

/// The broker's handle of an open queue.
pub(crate) fn handle(token: &Token, queue: c_int) -> Result<u32, c_int> {
    find(token, queue).map(|opened| opened.handle)
}

/// Opens or creates a queue. The header declares it with variable arguments.
///
/// # Safety
/// `name` is null or ends with a zero; `attributes` is null or readable if `flags` has `O_CREAT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mq_open(
    name: *const c_char,
    flags: c_int,
    _mode: c_uint,
    attributes: *const Attributes,
) -> c_int {
    // Without `O_CREAT` the caller passes no attributes.
    let attributes = if open_flags(flags) == 0 { null() } else { attributes };
    // SAFETY: the caller's promise.
    let (name, attributes) = unsafe { (name_of(name), attributes.as_ref()) };
    name.and_then(|name| {
        let (messages, size) = match attributes {
            Some(given) => (checked(given.most_messages)?, checked(given.message_size)?),
            None => (DEFAULT_MESSAGES, DEFAULT_MESSAGE_SIZE),
        };
        let request = Request::QueueOpen { name, flags: open_flags(flags), messages, size };
        lock::with(|token| enter(token, flags, request))
    })
    .unwrap_or_else(fail)
}

fn checked(number: c_long) -> Result<u32, c_int> {
    u32::try_from(number).map_err(|_| EINVAL)
}

fn enter(token: &Token, flags: c_int, request: Request) -> Result<c_int, c_int> {
    let opened = &mut *OPENED.borrow(token);
    let index = opened.iter().position(Option::is_none).ok_or(EMFILE)?;
    let [handle, _, message_size] = now(token, request)?;
    opened[index] = Some(Opened { handle: handle as u32, flags, message_size: message_size as usize });
    Ok(index as c_int)
}

/// Closes a queue.
#[unsafe(no_mangle)]
pub extern "C" fn mq_close(queue: c_int) -> c_int {
    let result = lock::with(|token| {
        let handle = handle(token, queue)?;
        OPENED.borrow(token)[queue as usize] = None;
        now(token, Request::QueueClose { queue: handle })
    });
    posix(result.map(|_| ()))
}

/// Removes the name.
///
/// # Safety
/// `name` is null or ends with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mq_unlink(name: *const c_char) -> c_int {
    // SAFETY: the caller's promise.
    let result = unsafe { name_of(name) }
        .and_then(|name| lock::with(|token| now(token, Request::QueueUnlink { name, only: 0 })));
    posix(result.map(|_| ()))
}

/// Sends a message, waiting for room if necessary.
///
/// # Safety
/// `message` is readable for `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mq_send(queue: c_int, message: *const c_char, length: usize, priority: c_uint) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { mq_timedsend(queue, message, length, priority, None) }
}

/// As [`mq_send`], until the scheduler's clock shows a time.
///
/// # Safety
/// As for [`mq_send`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mq_timedsend(
    queue: c_int,
    message: *const c_char,
    length: usize,
    priority: c_uint,
    until: Option<&Timespec>,
) -> c_int {
    signal::after_wait();
    let result =
        lock::with(|token| Ok((find(token, queue)?, deadline(token, until)))).and_then(|(opened, deadline)| {
            if opened.flags & ACCESS == READ_ONLY {
                return Err(EBADF);
            }
            if length > opened.message_size {
                return Err(EMSGSIZE);
            }
            if priority >= MESSAGE_PRIORITIES {
                return Err(EINVAL);
            }
            let again = Again { length: length as u32, priority };
            let request = Request::QueueSend {
                queue: opened.handle,
                length: again.length,
                priority,
                block: opened.flags & NONBLOCK == 0,
            };
            // SAFETY: the caller's promise.
            broker::wait_for(
                request,
                again,
                deadline,
                |token| unsafe { broker::give(token, message.cast(), length) },
                |_, _| (),
            )
        });
    signal::after_result(&result);
    posix(result)
}

fn deadline(token: &Token, until: Option<&Timespec>) -> Result<u64, c_int> {
    until.map_or(Ok(NEVER), |time| sync::deadline_of(token, time))
}

/// Receives a message, waiting for one if necessary. Returns its length.
///
/// # Safety
/// `message` is writable for `room` bytes; `priority` is null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mq_receive(queue: c_int, message: *mut c_char, room: usize, priority: *mut c_uint) -> isize {
    // SAFETY: the caller's promise.
    unsafe { mq_timedreceive(queue, message, room, priority, None) }
}

/// As [`mq_receive`], until the scheduler's clock shows a time.
///
/// # Safety
/// As for [`mq_receive`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mq_timedreceive(
    queue: c_int,
    message: *mut c_char,
    room: usize,
    priority: *mut c_uint,
    until: Option<&Timespec>,
) -> isize {
    signal::after_wait();
    let result =
        lock::with(|token| Ok((find(token, queue)?, deadline(token, until)))).and_then(|(opened, deadline)| {
            if opened.flags & ACCESS == WRITE_ONLY {
                return Err(EBADF);
            }
            if room < opened.message_size {
                return Err(EMSGSIZE);
            }
            let room = room.min(broker::MOST) as u32;
            let request = Request::QueueReceive { queue: opened.handle, room, block: opened.flags & NONBLOCK == 0 };
            broker::wait_for(
                request,
                Again::default(),
                deadline,
                |_| (),
                |token, [length, urgency, _]| {
                    let length = (length as usize).min(room as usize);
                    // SAFETY: the caller's promise; `length` is at most `room`.
                    unsafe { broker::take(token, message.cast(), length) };
                    if !priority.is_null() {
                        // SAFETY: the caller's promise.
                        unsafe { priority.write(urgency as c_uint) };
                    }
                    length as isize
                },
            )
        });
    signal::after_result(&result);
    result.unwrap_or_else(|error: c_int| fail(error) as isize)
}

/// Reads a queue's attributes.
#[unsafe(no_mangle)]
pub extern "C" fn mq_getattr(queue: c_int, attributes: &mut Attributes) -> c_int {
    let result = lock::with(|token| {
        let opened = find(token, queue)?;
        let [most, size, messages] = now(token, Request::QueueAttributes { queue: opened.handle })?;
        Ok(Attributes {
            flags: (opened.flags & NONBLOCK).into(),
            most_messages: most as c_long,
            message_size: size as c_long,
            messages: messages as c_long,
        })
    });
    posix(result.map(|found| *attributes = found))
}

/// Sets whether calls on the queue wait, the only attribute that can change.
///
/// # Safety
/// `old` is null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mq_setattr(queue: c_int, attributes: &Attributes, old: *mut Attributes) -> c_int {
    // SAFETY: the caller's promise.
    if let Some(old) = unsafe { old.as_mut() }
        && mq_getattr(queue, old) != 0
    {
        return -1;
    }
    posix(lock::with(|token| {
        find(token, queue)?;
        if let Some(opened) = &mut OPENED.borrow(token)[queue as usize] {
            opened.flags = opened.flags & !NONBLOCK | attributes.flags as c_int & NONBLOCK;
        }
        Ok(())
    }))
}
