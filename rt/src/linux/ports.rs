//! Claims of ports and of device memory.

use crate::{
    error::{EBUSY, EPERM, fail},
    port,
};
use core::{
    ffi::{c_char, c_int, c_ulong, c_void},
    ptr::null_mut,
};

/// `struct resource`. Claims are not recorded: what the system file gives to a task nobody else
/// has.
#[repr(C)]
pub struct Resource {
    name: *const c_char,
    start: c_ulong,
    end: c_ulong,
    flags: c_ulong,
}

// SAFETY: it is all zeros, and programs only compare its address with null.
unsafe impl Sync for Resource {}

static GRANTED: Resource = Resource { name: core::ptr::null(), start: 0, end: 0, flags: 0 };

/// Claims ports: null unless they are the task's.
#[unsafe(no_mangle)]
pub extern "C" fn request_region(start: c_ulong, count: c_ulong, _: *const c_char) -> *const Resource {
    if port::owns(start, count) { &raw const GRANTED } else { core::ptr::null() }
}

/// Ends the claim.
#[unsafe(no_mangle)]
pub extern "C" fn release_region(_: c_ulong, _: c_ulong) {}

/// 0 when the ports are the task's.
#[unsafe(no_mangle)]
pub extern "C" fn check_region(start: c_ulong, count: c_ulong) -> c_int {
    if port::owns(start, count) { 0 } else { -EBUSY }
}

/// Tasks have no device memory.
#[unsafe(no_mangle)]
pub extern "C" fn request_mem_region(_: c_ulong, _: c_ulong, _: *const c_char) -> *mut Resource {
    null_mut()
}

/// Nothing was claimed.
#[unsafe(no_mangle)]
pub extern "C" fn release_mem_region(_: c_ulong, _: c_ulong) {}

/// Tasks have no device memory.
#[unsafe(no_mangle)]
pub extern "C" fn ioremap(_: c_ulong, _: c_ulong) -> *mut c_void {
    null_mut()
}

/// Tasks have no device memory.
#[unsafe(no_mangle)]
pub extern "C" fn ioremap_nocache(_: c_ulong, _: c_ulong) -> *mut c_void {
    null_mut()
}

/// Nothing was mapped.
#[unsafe(no_mangle)]
pub extern "C" fn iounmap(_: *mut c_void) {}

/// Access to ports is the system file's affair: 0 when the task has them.
#[unsafe(no_mangle)]
pub extern "C" fn ioperm(from: c_ulong, count: c_ulong, on: c_int) -> c_int {
    if on == 0 || port::owns(from, count) { 0 } else { fail(EPERM) }
}

/// No task has all ports.
#[unsafe(no_mangle)]
pub extern "C" fn iopl(level: c_int) -> c_int {
    if level == 0 { 0 } else { fail(EPERM) }
}
