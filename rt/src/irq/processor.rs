//! Processors: those that the system file gives the task. A thread stays on the one that it was
//! created for.

use crate::error::EINVAL;
use crate::log_line;
use crate::thread;
use core::ffi::{c_int, c_uint, c_ulong};
use pillion_runtime::info::{self, PROCESSORS};

/// The number of the caller's processor, below 8.
pub fn processor() -> c_int {
    thread::current().processor() as c_int
}

/// The processors that the task has, as a set.
fn all() -> c_ulong {
    let info = info::task();
    info.skin.cpus | of_lines()
}

/// The processor that lines interrupt, as a set.
fn of_lines() -> c_ulong {
    1 << info::task().cpu
}

/// Returns whether the task has a processor with this number.
pub fn processor_exists(number: c_int) -> bool {
    u32::try_from(number).is_ok_and(|number| all().checked_shr(number).unwrap_or(0) & 1 != 0)
}

/// The same for a processor that a thread is to run on; says what to do where it is another's.
pub fn may_be_on(number: c_int) -> bool {
    let may = processor_exists(number);
    // No file can name others.
    if !may && (0..PROCESSORS as c_int).contains(&number) {
        log_line!("processor {number} is not this task's: name it in cpus of this task in the system file");
    }
    may
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
    all().count_ones() as c_int
}

/// Changes nothing: lines always interrupt the processor that the task starts on.
///
/// # Safety
/// `wanted` is null or readable, `old` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rtl_irq_set_affinity(_: c_uint, wanted: *const c_ulong, old: *mut c_ulong) -> c_int {
    // SAFETY: the caller's promise.
    if let Some(old) = unsafe { old.as_mut() } {
        *old = of_lines();
    }
    // SAFETY: the caller's promise.
    match unsafe { wanted.as_ref() } {
        Some(wanted) if wanted & of_lines() == 0 => -1,
        _ => 0,
    }
}

/// Does nothing: Linux never delays real-time threads, so it need not be kept off their processors.
#[unsafe(no_mangle)]
pub extern "C" fn rtl_reserve_cpus(wanted: c_uint) -> c_int {
    if c_ulong::from(wanted) & !all() == 0 { 0 } else { -EINVAL }
}

/// As [`rtl_reserve_cpus`].
#[unsafe(no_mangle)]
pub extern "C" fn rtl_unreserve_cpus() -> c_int {
    0
}
