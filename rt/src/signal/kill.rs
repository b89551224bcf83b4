//! `pthread_kill`.

use super::{SUSPEND, USER_LAST, after_wait, send};
use crate::error::{EINVAL, ESRCH};
use crate::irq::pend;
use crate::lock;
use crate::thread::{self, Thread};
use core::ffi::c_int;

/// First of the 256 numbers that stand for Linux's interrupts.
const GLOBAL_FIRST: c_int = 256;
/// First number that stands for an interrupt of one processor.
const LOCAL_FIRST: c_int = 512;

/// Sends a signal to a thread; signal 0 only checks whether the thread exists. For the thread that
/// stands for Linux, 256 and more are interrupts. If the receiver waits for the signal and is more
/// urgent, it runs at once.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_kill(to: *const Thread, signal: c_int) -> c_int {
    let Some(to) = thread::by_pointer(to) else { return ESRCH };
    match signal {
        0 => 0,
        GLOBAL_FIRST.. if to.number() == 0 => {
            let irq = if signal < LOCAL_FIRST { signal - GLOBAL_FIRST } else { signal - LOCAL_FIRST };
            pend::pend(irq).map_or_else(|number| number, |()| 0)
        }
        1.. if signal <= USER_LAST as c_int && signal != 4 => {
            let to_self = core::ptr::eq(to, thread::current());
            if to_self && signal == SUSPEND as c_int {
                thread::suspend_self();
            } else {
                lock::with(|token| send(token, to, signal as u32));
            }
            if to_self {
                after_wait();
            }
            0
        }
        _ => EINVAL,
    }
}
