//! Processors. All threads of a task run on the one that the system file names.

use crate::error::EINVAL;
use core::ffi::{c_int, c_uint, c_ulong};
use pillion_runtime::info;

/// The number of the task's processor, below 8.
pub fn processor() -> c_int {
    info::task().cpu as c_int
}

/// The same as a set.
fn mask() -> c_ulong {
    1 << processor()
}

/// Returns whether the task has a processor with this number.
pub fn processor_exists(number: c_int) -> bool {
    number == processor()
}

/// The processor that the caller runs on.
#[unsafe(no_mangle)]
pub extern "C" fn rtl_getcpuid() -> c_uint {
    processor() as c_uint
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
/// `wanted` is null or readable, `old` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rtl_irq_set_affinity(_: c_uint, wanted: *const c_ulong, old: *mut c_ulong) -> c_int {
    // SAFETY: the caller's promise.
    if let Some(old) = unsafe { old.as_mut() } {
        *old = mask();
    }
    // SAFETY: the caller's promise.
    match unsafe { wanted.as_ref() } {
        Some(wanted) if wanted & mask() == 0 => -1,
        _ => 0,
    }
}

/// Does nothing: Linux never delays real-time threads, so it need not be kept off their processor.
#[unsafe(no_mangle)]
pub extern "C" fn rtl_reserve_cpus(wanted: c_uint) -> c_int {
    if c_ulong::from(wanted) & !mask() == 0 { 0 } else { -EINVAL }
}

/// As [`rtl_reserve_cpus`].
#[unsafe(no_mangle)]
pub extern "C" fn rtl_unreserve_cpus() -> c_int {
    0
}
