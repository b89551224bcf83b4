//! Interrupts of one processor: messages between the task's processors, and the processor's timer.
//!
//! As between processors, a message has no content, and those that come before the first is taken
//! are one. Handlers run on the processor that they were requested for, in its service thread.

use super::{off, processor_exists, service};
use crate::cell::{Guarded, Shared};
use crate::error::EINVAL;
use crate::lock::{self, Token};
use crate::time;
use crate::{signal, thread};
use core::ffi::{c_int, c_uint, c_void};
use core::ptr::null_mut;
use pillion_runtime::info::PROCESSORS;

/// A handler; there are no registers to show.
pub(crate) type Handler = extern "C" fn(*mut c_void) -> c_uint;

/// `LOCAL_TIMER_VECTOR`; also in `rtl_core.h`.
const TIMER: c_int = 0xef;

/// `RTL_RESCHEDULE_VECTOR`; also in `rtl_core.h`.
const MESSAGE: c_int = 0xee;

/// Handlers of messages, by the processor that gets them.
static HANDLERS: Shared<[Option<Handler>; PROCESSORS]> = Shared::new([None; PROCESSORS]);

/// Processors that were sent a message which they have not taken.
static SENT: Guarded<u64> = Guarded::new(0);

/// Takes a processor's message; returns whether there was one.
#[inline]
pub(super) fn take(token: &Token, cpu: u64) -> bool {
    let sent = SENT.get(token);
    let is_sent = sent >> cpu & 1 != 0;
    if is_sent {
        SENT.set(token, sent & !(1 << cpu));
    }
    is_sent
}

/// Runs the handler of a processor's messages, unless it was freed meanwhile.
pub(super) fn run(cpu: u64) {
    off::during(|| {
        if let Some(handler) = lock::with(|token| HANDLERS.borrow(token)[cpu as usize]) {
            handler(null_mut());
        }
    });
}

/// One of the task's processors.
fn own(cpu: c_uint) -> Result<u64, c_int> {
    c_int::try_from(cpu).ok().filter(|cpu| processor_exists(*cpu)).map(|_| u64::from(cpu)).ok_or(EINVAL)
}

fn request(vector: c_int, handler: Option<Handler>, cpu: c_uint) -> Result<(), c_int> {
    let (cpu, handler) = (own(cpu)?, handler.ok_or(EINVAL)?);
    let token = lock::enter();
    match vector {
        MESSAGE => {
            service::ensure_on(&token, cpu)?;
            HANDLERS.borrow(&token)[cpu as usize] = Some(handler);
            Ok(())
        }
        TIMER => time::replace_local(&token, cpu, handler),
        _ => Err(EINVAL),
    }
}

fn free(vector: c_int, cpu: c_uint) -> Result<(), c_int> {
    let cpu = own(cpu)?;
    lock::with(|token| match vector {
        MESSAGE => {
            HANDLERS.borrow(token)[cpu as usize] = None;
            Ok(())
        }
        TIMER => {
            time::release_local(token, cpu);
            Ok(())
        }
        _ => Err(EINVAL),
    })
}

fn negative(result: Result<(), c_int>) -> c_int {
    result.map_or_else(|number| -number, |()| 0)
}

/// Sets the handler of one processor's interrupt, in place of one that it may have.
#[unsafe(no_mangle)]
pub extern "C" fn rtl_request_local_irq(vector: c_int, handler: Option<Handler>, cpu: c_uint) -> c_int {
    negative(request(vector, handler, cpu))
}

/// Removes the handler of one processor's interrupt.
#[unsafe(no_mangle)]
pub extern "C" fn rtl_free_local_irq(vector: c_int, cpu: c_uint) -> c_int {
    negative(free(vector, cpu))
}

/// Sets the handler of the messages that a processor gets.
#[unsafe(no_mangle)]
pub extern "C" fn rtl_request_ipi(handler: Option<Handler>, cpu: c_int) -> c_int {
    negative(request(MESSAGE, handler, cpu as c_uint))
}

/// Removes the handler of the messages that a processor gets.
#[unsafe(no_mangle)]
pub extern "C" fn rtl_free_ipi(cpu: c_int) -> c_int {
    negative(free(MESSAGE, cpu as c_uint))
}

/// Sends a processor a message, which its handler gets, and delivers signals that the program has
/// marked as pending itself to the task's threads there.
#[unsafe(no_mangle)]
pub extern "C" fn rtl_reschedule(cpu: c_uint) {
    // RTLinux's call has no way to report a wrong number.
    let Ok(cpu) = own(cpu) else { return };
    lock::with(|token| {
        thread::all().iter().filter(|thread| thread.processor() == cpu).for_each(|t| signal::notice(token, t));
        if HANDLERS.borrow(token)[cpu as usize].is_some() {
            SENT.set(token, SENT.get(token) | 1 << cpu);
            service::nudge(token, cpu);
        }
    });
}
