//! Stopping.

use core::arch::asm;

use super::log;

/// Stops this CPU for good.
pub fn halt() -> ! {
    loop {
        // SAFETY: with interrupts off nothing but an NMI wakes the processor, and then it sleeps
        // again.
        unsafe { asm!("cli", "hlt", options(nomem, nostack)) };
    }
}

/// Logs why the kernel cannot go on, and stops.
pub fn fatal(why: &str) -> ! {
    log!("[kernel] fatal: {why}");
    halt()
}
