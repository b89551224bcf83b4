//! Processors. A task has one.

use crate::error::EINVAL;
use core::ffi::{c_int, c_uint, c_ulong};

/// Returns whether the task has a processor with this number.
pub fn processor_exists(number: c_int) -> bool {
    number == 0
}

/// The processor that the caller runs on.
#[unsafe(no_mangle)]
pub extern "C" fn rtl_getcpuid() -> c_uint {
    0
}

/// Returns whether the task has a processor with this number.
#[unsafe(no_mangle)]
pub extern "C" fn rtl_cpu_exists(number: c_int) -> c_int {
    c_int::from(processor_exists(number))
}

/// Number of processors that the task has.
#[unsafe(no_mangle)]
pub extern "C" fn rtl_num_cpus() -> c_int {
    1
}

/// Changes nothing: lines always interrupt the task's processor.
///
/// # Safety
/// `mask` is readable, `old` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rtl_irq_set_affinity(_: c_uint, mask: *const c_ulong, old: *mut c_ulong) -> c_int {
    // SAFETY: the caller's promise.
    if let Some(old) = unsafe { old.as_mut() } {
        *old = 1;
    }
    // SAFETY: the caller's promise.
    match unsafe { mask.as_ref() } {
        Some(mask) if mask & 1 == 0 => -1,
        _ => 0,
    }
}

/// Does nothing: Linux never delays real-time threads, so it need not be kept off their processor.
#[unsafe(no_mangle)]
pub extern "C" fn rtl_reserve_cpus(mask: c_uint) -> c_int {
    if mask & !1 == 0 { 0 } else { -EINVAL }
}

/// As [`rtl_reserve_cpus`].
#[unsafe(no_mangle)]
pub extern "C" fn rtl_unreserve_cpus() -> c_int {
    0
}
