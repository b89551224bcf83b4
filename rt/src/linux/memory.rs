//! `kmalloc` and its kin.

use crate::{
    libc::{alloc, free, free_aligned},
    main_thread,
};
use core::{
    ffi::{c_int, c_ulong, c_void},
    ptr::null_mut,
};

/// `GFP_ATOMIC`: from any context.
const ATOMIC: c_int = 0x20;

const PAGE: usize = 4096;

fn allowed(flags: c_int) -> bool {
    flags == ATOMIC || main_thread::is_current()
}

fn zeroed(memory: *mut u8, size: usize) -> *mut u8 {
    if !memory.is_null() {
        // SAFETY: it was just allocated with that size.
        unsafe { memory.write_bytes(0, size) };
    }
    memory
}

/// Memory; null for a real-time thread unless it says `GFP_ATOMIC`.
#[unsafe(no_mangle)]
pub extern "C" fn kmalloc(size: usize, flags: c_int) -> *mut c_void {
    if allowed(flags) { alloc(size, 16).cast() } else { null_mut() }
}

/// The same, zeroed.
#[unsafe(no_mangle)]
pub extern "C" fn kzalloc(size: usize, flags: c_int) -> *mut c_void {
    zeroed(kmalloc(size, flags).cast(), size).cast()
}

/// An array, zeroed.
#[unsafe(no_mangle)]
pub extern "C" fn kcalloc(count: usize, size: usize, flags: c_int) -> *mut c_void {
    count.checked_mul(size).map_or(null_mut(), |size| kzalloc(size, flags))
}

/// Gives memory back.
///
/// # Safety
///
/// As of [`free`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kfree(memory: *mut c_void) {
    // SAFETY: the caller's promise.
    unsafe { free(memory.cast()) };
}

/// Memory, for the Linux context.
#[unsafe(no_mangle)]
pub extern "C" fn vmalloc(size: c_ulong) -> *mut c_void {
    kmalloc(size as usize, 0)
}

/// Gives it back.
///
/// # Safety
///
/// As of [`free`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vfree(memory: *mut c_void) {
    // SAFETY: the caller's promise.
    unsafe { free(memory.cast()) };
}

fn bytes(order: c_ulong) -> usize {
    u32::try_from(order).ok().and_then(|order| PAGE.checked_shl(order)).unwrap_or(usize::MAX)
}

/// Pages, 2 to the power of `order` of them.
#[unsafe(no_mangle)]
pub extern "C" fn __get_free_pages(flags: c_int, order: c_ulong) -> c_ulong {
    if allowed(flags) { alloc(bytes(order), PAGE).addr() as c_ulong } else { 0 }
}

/// A page, zeroed.
#[unsafe(no_mangle)]
pub extern "C" fn get_zeroed_page(flags: c_int) -> c_ulong {
    let page = if allowed(flags) { alloc(PAGE, PAGE) } else { null_mut() };
    zeroed(page, PAGE).addr() as c_ulong
}

/// Gives pages back.
///
/// # Safety
///
/// As of [`free_aligned`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn free_pages(address: c_ulong, _order: c_ulong) {
    // SAFETY: the caller's promise.
    unsafe { free_aligned(address as *mut u8, PAGE) };
}
