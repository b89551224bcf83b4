//! Software interrupts: handlers that run on the main thread.

use crate::cell::Shared;
use crate::error::{EBUSY, EINVAL};
use crate::{lock, thread};
use core::ffi::{c_char, c_int, c_uint, c_void};
use core::ptr::null_mut;
use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::AcqRel;
use pillion_rt_core::inherit::bits;

type Handler = extern "C" fn(c_int, *mut c_void, *mut c_void);

/// First number of a software interrupt; lower ones are Linux's interrupts.
pub(super) const FIRST: u32 = 224;

const COUNT: usize = 32;

static HANDLERS: Shared<[Option<Handler>; COUNT]> = Shared::new([None; COUNT]);

static PENDING: AtomicU32 = AtomicU32::new(0);

/// Allocates a number for a handler; returns it, or a negative error number. The name is not shown.
#[unsafe(no_mangle)]
pub extern "C" fn rtl_get_soft_irq(handler: Option<Handler>, _: *const c_char) -> c_int {
    let Some(handler) = handler else { return -EINVAL };
    lock::with(|token| {
        let mut handlers = HANDLERS.borrow(token);
        let Some(free) = handlers.iter().position(Option::is_none) else { return -EBUSY };
        handlers[free] = Some(handler);
        FIRST as c_int + free as c_int
    })
}

/// Frees a number.
#[unsafe(no_mangle)]
pub extern "C" fn rtl_free_soft_irq(number: c_uint) {
    lock::with(|token| {
        let mut handlers = HANDLERS.borrow(token);
        if let Some(handler) = number.checked_sub(FIRST).and_then(|n| handlers.get_mut(n as usize)) {
            *handler = None;
        }
    });
}

/// Has a handler run on the main thread.
pub(super) fn raise(number: u32) {
    if let Some(bit) = number.checked_sub(FIRST).filter(|n| *n < COUNT as u32) {
        PENDING.fetch_or(1 << bit, AcqRel);
        thread::nudge_main();
    }
}

/// Runs the handlers of pending software interrupts; returns whether any were pending.
pub(crate) fn run_pending() -> bool {
    let due = PENDING.swap(0, AcqRel);
    for number in bits(u64::from(due)) {
        let handler = lock::with(|token| HANDLERS.borrow(token)[number]);
        if let Some(handler) = handler {
            handler(FIRST as c_int + number as c_int, null_mut(), null_mut());
        }
    }
    due != 0
}
