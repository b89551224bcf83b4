//! `kmalloc` and its kin.

use crate::libc::{alloc, free, free_aligned};
use crate::main_thread;
use core::ffi::{c_int, c_ulong, c_void};
use core::ptr::null_mut;

/// `GFP_ATOMIC`, a bit of `GFP_KERNEL` as well.
const ATOMIC: c_int = 0x20;

/// `__GFP_WAIT`: the caller may wait, which only the Linux context may.
const WAIT: c_int = 0x10;

const PAGE: usize = 4096;

/// `GFP_ATOMIC` is allowed in any context, alone or with bits that say which memory is wanted.
fn allowed(flags: c_int) -> bool {
    flags & (ATOMIC | WAIT) == ATOMIC || main_thread::is_current()
}

/// # Safety
/// The memory is null, or was just allocated with that size.
unsafe fn zeroed(memory: *mut u8, size: usize) -> *mut u8 {
    if !memory.is_null() {
        // SAFETY: the caller vouches for it.
        unsafe { memory.write_bytes(0, size) };
    }
    memory
}

/// Allocates memory; returns null to a real-time thread unless `flags` has `GFP_ATOMIC` and does
/// not let the caller wait.
#[unsafe(no_mangle)]
pub extern "C" fn kmalloc(size: usize, flags: c_int) -> *mut c_void {
    if allowed(flags) { alloc(size, 16).cast() } else { null_mut() }
}

/// Allocates zeroed memory, as [`kmalloc`] does.
#[unsafe(no_mangle)]
pub extern "C" fn kzalloc(size: usize, flags: c_int) -> *mut c_void {
    // SAFETY: it is allocated with that size.
    unsafe { zeroed(kmalloc(size, flags).cast(), size).cast() }
}

/// Allocates a zeroed array, as [`kmalloc`] does.
#[unsafe(no_mangle)]
pub extern "C" fn kcalloc(count: usize, size: usize, flags: c_int) -> *mut c_void {
    count.checked_mul(size).map_or(null_mut(), |size| kzalloc(size, flags))
}

/// Frees memory.
///
/// # Safety
/// As for [`free`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kfree(memory: *mut c_void) {
    // SAFETY: the caller's promise.
    unsafe { free(memory.cast()) };
}

/// Allocates memory, for the Linux context.
#[unsafe(no_mangle)]
pub extern "C" fn vmalloc(size: c_ulong) -> *mut c_void {
    kmalloc(size as usize, 0)
}

/// Frees memory.
///
/// # Safety
/// As for [`free`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vfree(memory: *mut c_void) {
    // SAFETY: the caller's promise.
    unsafe { free(memory.cast()) };
}

fn bytes(order: c_ulong) -> usize {
    u32::try_from(order).ok().and_then(|order| PAGE.checked_shl(order)).unwrap_or(usize::MAX)
}

/// Allocates 2 to the power of `order` pages.
#[unsafe(no_mangle)]
pub extern "C" fn __get_free_pages(flags: c_int, order: c_ulong) -> c_ulong {
    if allowed(flags) { alloc(bytes(order), PAGE).addr() as c_ulong } else { 0 }
}

#[unsafe(no_mangle)]
pub extern "C" fn get_zeroed_page(flags: c_int) -> c_ulong {
    let page = if allowed(flags) { alloc(PAGE, PAGE) } else { null_mut() };
    // SAFETY: it is allocated with that size.
    unsafe { zeroed(page, PAGE).addr() as c_ulong }
}

/// Frees pages.
///
/// # Safety
/// As for [`free_aligned`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn free_pages(address: c_ulong, _order: c_ulong) {
    // SAFETY: the caller's promise.
    unsafe { free_aligned(address as *mut u8, PAGE) };
}
