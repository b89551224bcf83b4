//! Calls to the broker, which keeps the objects that several tasks use.
//!
//! The whole task has one transfer memory. It is used under the task's lock, from before a call
//! until the answer's data have been read.

use crate::cell::Guarded;
use crate::error::{EINTR, EIO, ETIMEDOUT};
use crate::lock::{self, Token};
use crate::thread::{self, Thread};
use crate::wait::{self, How, Wake};
use core::ffi::c_int;
use pillion_channel::copy::copy;
use pillion_runtime::broker::errno::ECANCELED;
use pillion_runtime::broker::{Answer, Caller, DATA_SIZE, Request, WAKES};
use pillion_runtime::call;
use pillion_runtime::info::{address, skin};

/// An answer that is not a refusal.
#[derive(Clone, Copy, Debug)]
pub enum Accepted {
    Done([u64; 3]),
    /// The caller has to wait.
    Wait,
}

/// Makes a request, again and again until it is complete.
pub fn ask(token: &Token, request: Request) -> Result<Accepted, c_int> {
    let me = thread::current();
    let caller = Caller { thread: me.number() as u8, level: me.level(), at: 0 };
    let (label, words) = request.encode(caller);
    loop {
        let Ok(answer) = call::call(skin::slot::BROKER, label, words) else {
            // The answer would have named the threads to wake; it is lost.
            lock::signal_later(token, WAITING.get(token));
            return Err(EIO);
        };
        lock::signal_later(token, answer.words[WAKES]);
        match Answer::decode(&answer.words) {
            Answer::Done(values) => return Ok(Accepted::Done(values)),
            Answer::Wait => return Ok(Accepted::Wait),
            Answer::More => {}
            Answer::Failed(error) => return Err(error),
        }
    }
}

/// Makes a request that never has to wait.
pub fn now(token: &Token, request: Request) -> Result<[u64; 3], c_int> {
    match ask(token, request)? {
        Accepted::Done(values) => Ok(values),
        Accepted::Wait => Err(EIO),
    }
}

/// Most bytes that one request transfers.
pub const MOST: usize = DATA_SIZE as usize;

/// Puts bytes into the transfer memory.
///
/// # Safety
/// `from` is readable for `size` bytes, and lies outside of the transfer memory.
pub unsafe fn give(_: &Token, from: *const u8, size: usize) {
    // SAFETY: the resource manager maps the memory in every task with a skin; the caller's promise
    // for the rest.
    unsafe { copy(address::TRANSFER as *mut u8, from, size.min(MOST)) };
}

/// Takes bytes out of the transfer memory.
///
/// # Safety
/// `to` is writable for `size` bytes, and lies outside of the transfer memory.
pub unsafe fn take(_: &Token, to: *mut u8, size: usize) {
    // SAFETY: as above.
    unsafe { copy(to, address::TRANSFER as *const u8, size.min(MOST)) };
}

/// Threads that wait for the broker, as bits.
static WAITING: Guarded<u64> = Guarded::new(0);

/// What a sender repeats when its turn has come; zeros for others.
#[derive(Clone, Copy, Debug, Default)]
pub struct Again {
    /// Bytes of its message.
    pub length: u32,
    /// The message's priority.
    pub priority: u32,
}

/// Makes a request, and waits as long as the broker asks for it: `give` puts the request's data
/// into the transfer memory, `take` takes out the answer's. Returns `ETIMEDOUT`, or the deadline's
/// own error, when the deadline in ticks has passed; `EINTR` when a signal ended the wait.
pub fn wait_for<R>(
    request: Request,
    again: Again,
    deadline: Result<u64, c_int>,
    give: impl Fn(&Token),
    take: impl FnOnce(&Token, [u64; 3]) -> R,
) -> Result<R, c_int> {
    let me = thread::current();
    let bit = 1 << me.number();
    let mut token = lock::enter();
    give(&token);
    let mut outcome = ask(&token, request);
    while let Ok(Accepted::Wait) = outcome {
        WAITING.set(&token, WAITING.get(&token) | bit);
        let wake = wait::block_outside(token, How::POINT, deadline.unwrap_or(0));
        token = lock::enter();
        WAITING.set(&token, WAITING.get(&token) & !bit);
        give(&token);
        let Again { length, priority } = again;
        outcome = match wake {
            Wake::Woken => ask(&token, Request::Finish { length, priority }),
            Wake::TimedOut => ask(&token, Request::Cancel { length, priority })
                .map_err(|e| instead(e, deadline.err().unwrap_or(ETIMEDOUT))),
            Wake::Interrupted => ask(&token, Request::Cancel { length, priority }).map_err(|e| instead(e, EINTR)),
        };
    }
    match outcome? {
        Accepted::Done(values) => Ok(take(&token, values)),
        Accepted::Wait => Err(EIO),
    }
}

/// The error that a cancelled wait stands for.
fn instead(error: c_int, meaning: c_int) -> c_int {
    if error == ECANCELED { meaning } else { error }
}

/// Has the broker pass on what it would have handed to a thread that has ended.
pub(crate) fn thread_ended(token: &Token, thread: &Thread) {
    let bit = 1 << thread.number();
    if WAITING.get(token) & bit != 0 {
        WAITING.set(token, WAITING.get(token) & !bit);
        let _ = now(token, Request::Abandon { thread: thread.number() as u8 });
    }
}
