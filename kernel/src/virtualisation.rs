//! Whether the processor can run guests, and what all guests share.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::arch::{
    log, physical,
    virt::{self, Features},
};

#[repr(C, align(4096))]
struct HostArea([u8; 4096]);

struct Support {
    host_area: UnsafeCell<HostArea>,
    features: UnsafeCell<Option<Features>>,
}

// SAFETY: written at boot only; the host area is the processor's from then on.
unsafe impl Sync for Support {}

static SUPPORT: Support = Support { host_area: UnsafeCell::new(HostArea([0; 4096])), features: UnsafeCell::new(None) };

/// Nested tables changed: all their translations are dropped at the next guest entry.
static FLUSH: AtomicBool = AtomicBool::new(false);

/// Switches virtualisation on, if the processor has it.
///
/// # Safety
/// Called once, at boot.
pub unsafe fn init() {
    match virt::probe() {
        Ok(features) => {
            // SAFETY: `probe` succeeded; the page is given away for good; this is boot, says the
            // caller.
            unsafe {
                virt::enable(physical(SUPPORT.host_area.get()));
                *SUPPORT.features.get() = Some(features);
            }
            log!("[boot] virtualisation: {features:?}");
        }
        Err(reason) => log!("[boot] no virtualisation, so no Linux: {reason}"),
    }
}

/// What virtualisation offers, if it is on.
pub fn features() -> Option<Features> {
    // SAFETY: written at boot only.
    unsafe { *SUPPORT.features.get() }
}

/// Drops all translations of guests before one runs again.
pub fn flush_all() {
    FLUSH.store(true, Relaxed);
}

/// Whether [`flush_all`] was called since the last time.
#[inline]
pub fn take_flush() -> bool {
    FLUSH.swap(false, Relaxed)
}
