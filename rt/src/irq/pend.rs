//! Simulated interrupts of Linux.

use super::soft;
use crate::error::{EINVAL, ENODEV};
use crate::{lock, share};
use core::{ffi::c_int, sync::atomic::Ordering::AcqRel};
use pillion_runtime::info;

/// Marks an interrupt of Linux, or a software interrupt, as pending.
pub(crate) fn pend(number: c_int) -> Result<(), c_int> {
    let number = u32::try_from(number).ok().filter(|n| *n < 256).ok_or(EINVAL)?;
    if number >= soft::FIRST {
        soft::raise(number);
        return Ok(());
    }
    if info::task().skin.linux == 0 {
        return Err(ENODEV);
    }
    lock::with(|token| {
        share::pended(number as usize / 64).fetch_or(1 << (number % 64), AcqRel);
        share::tell_other(token, share::bit::PENDED);
    });
    Ok(())
}

/// Marks an interrupt of Linux, or a software interrupt, as pending.
#[unsafe(no_mangle)]
pub extern "C" fn rtl_global_pend_irq(number: c_int) {
    // RTLinux's call has no way to report a wrong number.
    let _ = pend(number);
}
