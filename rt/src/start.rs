//! The first instructions of a task.

use crate::{linux, main_thread, thread, time};
use core::arch::naked_asm;

/// Where the resource manager lets the task start, with a stack.
///
/// # Safety
///
/// Called by nobody.
#[unsafe(no_mangle)]
#[unsafe(naked)]
#[unsafe(link_section = ".text.entry")]
pub unsafe extern "C" fn _start() -> ! {
    naked_asm!("xor ebp, ebp", "and rsp, -16", "call {begin}", "ud2", begin = sym begin)
}

unsafe extern "C" {
    static __init_array_start: [Option<extern "C" fn()>; 0];
    static __init_array_end: [Option<extern "C" fn()>; 0];
    static __fini_array_start: [Option<extern "C" fn()>; 0];
    static __fini_array_end: [Option<extern "C" fn()>; 0];
}

extern "C" fn begin() -> ! {
    // SAFETY: nothing of the task ran before, and it has no other thread yet.
    unsafe {
        time::start();
        linux::start();
        thread::begin_main();
    }
    construct();
    main_thread::run()
}

/// Runs the constructors of C++ objects and of C functions so marked.
fn construct() {
    let mut at = &raw const __init_array_start as *const Option<extern "C" fn()>;
    let end = &raw const __init_array_end as *const Option<extern "C" fn()>;
    while at < end {
        // SAFETY: the linker put such functions between the two symbols.
        if let Some(constructor) = unsafe { at.read() } {
            constructor();
        }
        at = at.wrapping_add(1);
    }
}

/// Runs the destructors of C++ objects and of C functions so marked, the last first.
pub(crate) fn destruct() {
    let start = &raw const __fini_array_start as *const Option<extern "C" fn()>;
    let mut at = &raw const __fini_array_end as *const Option<extern "C" fn()>;
    while at > start {
        at = at.wrapping_sub(1);
        // SAFETY: the linker put such functions between the two symbols.
        if let Some(destructor) = unsafe { at.read() } {
            destructor();
        }
    }
}
