//! Stopping.

use core::arch::asm;

use super::{log, port};

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

/// Resets the machine.
pub fn reset() -> ! {
    // SAFETY: the reset register of PC chip sets, then the keyboard controller's; nothing is left
    // to break.
    unsafe {
        port::write8(0xcf9, 0x02);
        port::write8(0xcf9, 0x06);
        port::write8(0x64, 0xfe);
    }
    halt()
}
