//! Claims of ports and device memory.

use crate::{
    error::{EBUSY, EPERM, fail},
    port_io,
};
use core::{
    ffi::{c_char, c_int, c_ulong, c_void},
    ptr::null_mut,
};

/// `struct resource`. Claims are not recorded: what the system file gives a task, no other has.
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

/// Claims ports; returns null unless the task has them.
#[unsafe(no_mangle)]
pub extern "C" fn request_region(start: c_ulong, count: c_ulong, _: *const c_char) -> *const Resource {
    if port_io::owns(start, count) { &raw const GRANTED } else { core::ptr::null() }
}

#[unsafe(no_mangle)]
pub extern "C" fn release_region(_: c_ulong, _: c_ulong) {}

/// 0 if the task has the ports.
#[unsafe(no_mangle)]
pub extern "C" fn check_region(start: c_ulong, count: c_ulong) -> c_int {
    if port_io::owns(start, count) { 0 } else { -EBUSY }
}

/// Always fails: tasks have no device memory.
#[unsafe(no_mangle)]
pub extern "C" fn request_mem_region(_: c_ulong, _: c_ulong, _: *const c_char) -> *mut Resource {
    null_mut()
}

/// Does nothing: nothing was claimed.
#[unsafe(no_mangle)]
pub extern "C" fn release_mem_region(_: c_ulong, _: c_ulong) {}

/// Always fails: tasks have no device memory.
#[unsafe(no_mangle)]
pub extern "C" fn ioremap(_: c_ulong, _: c_ulong) -> *mut c_void {
    null_mut()
}

/// Always fails: tasks have no device memory.
#[unsafe(no_mangle)]
pub extern "C" fn ioremap_nocache(_: c_ulong, _: c_ulong) -> *mut c_void {
    null_mut()
}

/// Does nothing: nothing was mapped.
#[unsafe(no_mangle)]
pub extern "C" fn iounmap(_: *mut c_void) {}

/// Succeeds if the task has the ports; only the system file can give it others.
#[unsafe(no_mangle)]
pub extern "C" fn ioperm(from: c_ulong, count: c_ulong, on: c_int) -> c_int {
    if on == 0 || port_io::owns(from, count) { 0 } else { fail(EPERM) }
}

/// Fails for any other level than 0: no task has all ports.
#[unsafe(no_mangle)]
pub extern "C" fn iopl(level: c_int) -> c_int {
    if level == 0 { 0 } else { fail(EPERM) }
}
