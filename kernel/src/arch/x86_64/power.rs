//! Stopping.

use core::arch::asm;
use core::sync::atomic::{
    AtomicU32,
    Ordering::{AcqRel, Acquire},
};

use super::{apic, boot, log};

/// The processor that stops all others, by its number plus one; 0 while all run. The code for NMIs
/// looks at it.
pub(super) static STOPPING: AtomicU32 = AtomicU32::new(0);

/// Stops this CPU for good.
pub fn halt() -> ! {
    loop {
        // SAFETY: with interrupts off nothing but an NMI wakes the processor, and then it sleeps
        // again.
        unsafe { asm!("cli", "hlt", options(nomem, nostack)) };
    }
}

/// Stops all other processors, wherever they are: for one that cannot go on, before it says why. If
/// another one was first, this one stops as well. A processor that is not known to run yet stops
/// nobody.
pub fn stop_others() {
    let Some(own) = boot::own_number() else { return };
    let own = own + 1;
    match STOPPING.compare_exchange(0, own, AcqRel, Acquire) {
        Ok(_) => boot::each_other_processor(|other| boot::with_apic(other, apic::send_nmi)),
        Err(first) if first != own => halt(),
        Err(_) => {}
    }
}

/// Stops all processors, and logs why the kernel cannot go on.
pub fn fatal(why: &str) -> ! {
    stop_others();
    log!("[kernel] fatal: {why}");
    halt()
}
