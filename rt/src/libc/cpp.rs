//! C++ `new` and `delete`, and other functions that the compiler calls.
//!
//! Both work in real-time threads too: a program cannot check the result of `new`, and the
//! allocator's work is bounded. If there is no memory, the task stops.

use super::{alloc, free_aligned, stop};
use crate::log_line;

fn new(size: usize, align: usize) -> *mut u8 {
    let memory = alloc(size, align);
    if memory.is_null() {
        log_line!("no memory for {size} bytes in operator new");
        stop();
    }
    memory
}

macro_rules! operators {
    ($($name:ident($($argument:ident: $type:ty),*) = $body:expr;)*) => {$(
        #[doc = concat!("An operator, by the name that the compiler gives it: `", stringify!($name), "`.")]
        #[unsafe(no_mangle)]
        pub extern "C" fn $name($($argument: $type),*) -> *mut u8 {
            $body
        }
    )*};
}

operators! {
    _Znwm(size: usize) = new(size, 16);
    _Znam(size: usize) = new(size, 16);
    _ZnwmRKSt9nothrow_t(size: usize, _tag: usize) = alloc(size, 16);
    _ZnamRKSt9nothrow_t(size: usize, _tag: usize) = alloc(size, 16);
    _ZnwmSt11align_val_t(size: usize, align: usize) = new(size, align);
    _ZnamSt11align_val_t(size: usize, align: usize) = new(size, align);
}

macro_rules! deletes {
    ($($name:ident($($argument:ident: $type:ty),*) of $align:expr;)*) => {$(
        #[doc = concat!("An operator, by the name that the compiler gives it: `", stringify!($name), "`.")]
        ///
        /// # Safety
        /// As for [`super::free_aligned`].
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(memory: *mut u8, $($argument: $type),*) {
            // SAFETY: the caller's promise.
            unsafe { free_aligned(memory, $align) };
        }
    )*};
}

deletes! {
    _ZdlPv() of 16;
    _ZdaPv() of 16;
    _ZdlPvm(_size: usize) of 16;
    _ZdaPvm(_size: usize) of 16;
    _ZdlPvRKSt9nothrow_t(_tag: usize) of 16;
    _ZdaPvRKSt9nothrow_t(_tag: usize) of 16;
    _ZdlPvSt11align_val_t(align: usize) of align;
    _ZdaPvSt11align_val_t(align: usize) of align;
    _ZdlPvmSt11align_val_t(_size: usize, align: usize) of align;
    _ZdaPvmSt11align_val_t(_size: usize, align: usize) of align;
}

/// Called in place of a pure virtual function.
#[unsafe(no_mangle)]
pub extern "C" fn __cxa_pure_virtual() -> ! {
    log_line!("a pure virtual function was called");
    stop()
}
