//! Switching interrupts off, which for the program is taking the task's lock.

use crate::{lock, thread};
use core::ffi::{c_int, c_ulong};
use core::sync::atomic::Ordering::Relaxed;

/// Switches interrupts off; returns 1 if they were on.
#[unsafe(no_mangle)]
pub extern "C" fn rtl_irq_save() -> c_ulong {
    let me = thread::current();
    let were_on = !me.interrupts_off.load(Relaxed);
    if were_on {
        lock::enter_open();
        me.interrupts_off.store(true, Relaxed);
    }
    c_ulong::from(were_on)
}

/// Switches interrupts on if `were_on` is not 0, else off.
#[unsafe(no_mangle)]
pub extern "C" fn rtl_irq_restore(were_on: c_ulong) {
    let me = thread::current();
    if were_on == 0 {
        rtl_irq_save();
    } else if me.interrupts_off.load(Relaxed) {
        me.interrupts_off.store(false, Relaxed);
        // SAFETY: the calling thread entered the lock when it switched interrupts off.
        unsafe { lock::leave_open() };
    }
}

/// Runs one of the program's handlers with interrupts off; the handler may switch them on.
pub(super) fn during(handler: impl FnOnce()) {
    let were_on = rtl_irq_save();
    handler();
    if were_on != 0 {
        rtl_irq_restore(were_on);
    }
}

/// Returns whether interrupts are on.
#[unsafe(no_mangle)]
pub extern "C" fn rtl_irqs_enabled() -> c_int {
    c_int::from(!thread::current().interrupts_off.load(Relaxed))
}
