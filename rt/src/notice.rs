//! `mq_notify`: a signal when a message arrives in an empty queue.
//!
//! The broker records the arrival in the transfer memory and wakes the main thread, which sends the
//! signal once no real-time thread is ready.

use crate::broker::now;
use crate::cell::Shared;
use crate::error::{EINVAL, posix};
use crate::lock::{self, Token};
use crate::mqueue;
use crate::signal::{self, USER_FIRST, USER_LAST};
use crate::thread::{self, Identity, Thread};
use core::ffi::c_int;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::{AcqRel, Relaxed};
use pillion_runtime::broker::{NOTICES, QUEUES, Request};
use pillion_runtime::info::address;

/// `SIGEV_SIGNAL` and `SIGEV_NONE`.
const SIGNAL: c_int = 0;
const NONE: c_int = 1;

/// The main thread.
const MAIN: u8 = 0;

/// `struct sigevent`; also in `signal.h`.
#[repr(C)]
#[derive(Debug)]
pub struct SignalEvent {
    notify: c_int,
    signal: c_int,
    value: usize,
}

/// A thread that wants a queue's notice. The table's index is the low byte of the queue's handle.
#[derive(Clone, Copy)]
struct Wanted {
    queue: u32,
    thread: Identity,
    signal: u32,
}

static WANTED: Shared<[Option<Wanted>; QUEUES]> = Shared::new([None; QUEUES]);

fn index(handle: u32) -> usize {
    handle as usize % 256 % QUEUES
}

/// Asks for one signal when a message arrives in the empty queue; null withdraws the request.
#[unsafe(no_mangle)]
pub extern "C" fn mq_notify(queue: c_int, event: Option<&SignalEvent>) -> c_int {
    posix(lock::with(|token| ask(token, queue, event)))
}

fn ask(token: &Token, queue: c_int, event: Option<&SignalEvent>) -> Result<(), c_int> {
    let handle = mqueue::handle(token, queue)?;
    let wanted = match event {
        None => None,
        Some(SignalEvent { notify: NONE, .. }) => Some(None),
        Some(SignalEvent { notify: SIGNAL, signal, .. }) => {
            let signal = *signal as u32;
            let known = (USER_FIRST..=USER_LAST).contains(&signal).then_some(signal).ok_or(EINVAL)?;
            Some(Some(Wanted { queue: handle, thread: thread::current().identity(), signal: known }))
        }
        Some(_) => return Err(EINVAL),
    };
    now(token, Request::QueueNotify { queue: handle, thread: MAIN, wanted: wanted.is_some() })?;
    WANTED.borrow(token)[index(handle)] = wanted.flatten();
    Ok(())
}

/// Sends the signals of notices that have come. For the main thread.
pub(crate) fn deliver() {
    // SAFETY: the resource manager maps the memory in every task with a skin; the word is aligned
    // and used by both sides as an atomic one.
    let notices = unsafe { AtomicU64::from_ptr((address::TRANSFER + NOTICES) as *mut u64) };
    if notices.load(Relaxed) == 0 {
        return;
    }
    let due = notices.swap(0, AcqRel);
    lock::with(|token| {
        for queue in (0..QUEUES).filter(|queue| due >> queue & 1 != 0) {
            let Some(Wanted { thread, signal, .. }) = WANTED.borrow(token)[queue].take() else { continue };
            if let Some(to) = signal::receiver(token, thread, signal) {
                signal::send(token, to, signal);
            }
        }
    });
}

/// Withdraws the requests of a thread that has ended, so that other threads can make some.
pub(crate) fn thread_ended(token: &Token, thread: &Thread) {
    for queue in 0..QUEUES {
        let wanted = &mut WANTED.borrow(token)[queue];
        if let Some(Wanted { queue, .. }) = wanted.take_if(|wanted| wanted.thread == thread.identity()) {
            // If the queue has been closed meanwhile, the request is gone as well.
            let _ = now(token, Request::QueueNotify { queue, thread: MAIN, wanted: false });
        }
    }
}
