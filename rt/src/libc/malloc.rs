//! The task's memory: `malloc` and its kin.
//!
//! One two-level segregated fit allocator with bounded steps: allocating and freeing cost the same
//! whatever happened before. It has all of the memory that the system file gives the task, and is
//! used under the task's lock.

use crate::cell::Shared;
use crate::error::{ENOMEM, set_errno};
use crate::{lock, log_line, main_thread};
use core::alloc::Layout;
use core::ffi::c_void;
use core::ptr::{NonNull, null_mut};
use core::sync::atomic::AtomicBool;
use core::sync::atomic::Ordering::Relaxed;
use pillion_runtime::info::{self, address};
use rlsf::Tlsf;

const ALIGN: usize = 16;

/// Up to 2^(5 + 30) bytes. Free blocks are kept in 32 lists for each doubling of size, which wastes
/// one part in 32 at most.
type Allocator = Tlsf<'static, u32, u32, 30, 32>;

struct Memory {
    allocator: Allocator,
    is_filled: bool,
}

static MEMORY: Shared<Memory> = Shared::new(Memory { allocator: Tlsf::new(), is_filled: false });

fn with<R>(f: impl FnOnce(&mut Allocator) -> R) -> R {
    lock::with(|token| {
        let memory = &mut *MEMORY.borrow(token);
        if !memory.is_filled {
            memory.is_filled = true;
            let size = info::task().memory_size as usize;
            if let Some(block) = NonNull::new(core::ptr::slice_from_raw_parts_mut(address::MEMORY as *mut u8, size)) {
                // SAFETY: the manager maps it before the task runs, and nothing else uses it.
                unsafe { memory.allocator.insert_free_block_ptr(block) };
            }
        }
        f(&mut memory.allocator)
    })
}

/// Allocates memory of the task, null if there is none. From any thread. `align` is a power of two.
#[must_use]
pub fn alloc(size: usize, align: usize) -> *mut u8 {
    let Ok(layout) = Layout::from_size_align(size.max(1), align.max(ALIGN)) else { return null_mut() };
    with(|allocator| allocator.allocate(layout)).map_or_else(|| none(size), NonNull::as_ptr)
}

/// Reports a failed allocation, once: a program may well allocate until there is no more memory.
#[cold]
fn none(size: usize) -> *mut u8 {
    static SAID: AtomicBool = AtomicBool::new(false);
    if !SAID.swap(true, Relaxed) {
        log_line!("no {size} contiguous bytes of memory are free: raise memory_kib of this task in the system file");
    }
    null_mut()
}

/// Frees memory that [`alloc`] returned for an alignment of up to 16; null is ignored.
///
/// # Safety
/// The memory came from there, was not freed yet, and is not used any more.
pub unsafe fn free(memory: *mut u8) {
    // SAFETY: the caller's promise.
    unsafe { free_aligned(memory, ALIGN) };
}

/// Frees memory that [`alloc`] returned for this alignment; null is ignored.
///
/// # Safety
/// As for [`free`], and the memory was allocated with this alignment.
pub unsafe fn free_aligned(memory: *mut u8, align: usize) {
    let Some(memory) = NonNull::new(memory) else { return };
    // SAFETY: the caller's promise.
    with(|allocator| unsafe { allocator.deallocate(memory, align.max(ALIGN)) });
}

fn for_linux_context(size: usize) -> *mut u8 {
    let memory = if main_thread::is_current() { alloc(size, ALIGN) } else { null_mut() };
    if memory.is_null() {
        set_errno(ENOMEM);
    }
    memory
}

/// Allocates memory, for the Linux context; a real-time thread gets null and `ENOMEM`.
#[unsafe(no_mangle)]
pub extern "C" fn malloc(size: usize) -> *mut c_void {
    for_linux_context(size).cast()
}

/// Allocates zeroed memory, as [`malloc`] does.
#[unsafe(no_mangle)]
pub extern "C" fn calloc(count: usize, size: usize) -> *mut c_void {
    let Some(size) = count.checked_mul(size) else {
        set_errno(ENOMEM);
        return null_mut();
    };
    let memory = for_linux_context(size);
    if !memory.is_null() {
        // SAFETY: it was just allocated, with that size.
        unsafe { memory.write_bytes(0, size) };
    }
    memory.cast()
}

/// Frees memory. A real-time thread's call is ignored, as in RTLinux.
///
/// # Safety
/// As for [`free`].
#[unsafe(export_name = "free")]
pub unsafe extern "C" fn free_memory(memory: *mut c_void) {
    if main_thread::is_current() {
        // SAFETY: the caller's promise.
        unsafe { free(memory.cast()) };
    }
}

/// Changes the size of an allocation; keeps as much of its contents as fits.
///
/// # Safety
/// As for [`free`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn realloc(memory: *mut c_void, size: usize) -> *mut c_void {
    let Some(old) = NonNull::new(memory.cast()) else { return malloc(size) };
    let layout = Layout::from_size_align(size.max(1), ALIGN).ok().filter(|_| main_thread::is_current());
    // SAFETY: the caller's promise.
    let new = layout.and_then(|layout| with(|allocator| unsafe { allocator.reallocate(old, layout) }));
    new.map_or_else(
        || {
            set_errno(ENOMEM);
            null_mut()
        },
        |new| new.as_ptr().cast(),
    )
}
