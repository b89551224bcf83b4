//! `new` and `delete` of C++, and what its compiler calls beside them.
//!
//! They work in real-time threads too: a program cannot look at the result of `new`, and the allocator's work is bounded. Without memory the task stops.

use super::{alloc, free, free_aligned, stop};
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
    ($($name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)? = $body:expr;)*) => {$(
        #[doc = concat!("An operator, by the name that the compiler gives it: `", stringify!($name), "`.")]
        #[unsafe(no_mangle)]
        pub extern "C" fn $name($($argument: $type),*) $(-> $result)? {
            $body
        }
    )*};
}

operators! {
    _Znwm(size: usize) -> *mut u8 = new(size, 16);
    _Znam(size: usize) -> *mut u8 = new(size, 16);
    _ZnwmRKSt9nothrow_t(size: usize, _tag: usize) -> *mut u8 = alloc(size, 16);
    _ZnamRKSt9nothrow_t(size: usize, _tag: usize) -> *mut u8 = alloc(size, 16);
    _ZnwmSt11align_val_t(size: usize, align: usize) -> *mut u8 = new(size, align);
    _ZnamSt11align_val_t(size: usize, align: usize) -> *mut u8 = new(size, align);
    _ZdlPv(memory: *mut u8) = free(memory);
    _ZdaPv(memory: *mut u8) = free(memory);
    _ZdlPvm(memory: *mut u8, _size: usize) = free(memory);
    _ZdaPvm(memory: *mut u8, _size: usize) = free(memory);
    _ZdlPvRKSt9nothrow_t(memory: *mut u8, _tag: usize) = free(memory);
    _ZdaPvRKSt9nothrow_t(memory: *mut u8, _tag: usize) = free(memory);
    _ZdlPvSt11align_val_t(memory: *mut u8, align: usize) = free_aligned(memory, align);
    _ZdaPvSt11align_val_t(memory: *mut u8, align: usize) = free_aligned(memory, align);
    _ZdlPvmSt11align_val_t(memory: *mut u8, _size: usize, align: usize) = free_aligned(memory, align);
    _ZdaPvmSt11align_val_t(memory: *mut u8, _size: usize, align: usize) = free_aligned(memory, align);
}

/// What stands for a pure virtual function.
#[unsafe(no_mangle)]
pub extern "C" fn __cxa_pure_virtual() -> ! {
    log_line!("a pure virtual function was called");
    stop()
}
