//! The first instructions of a task.

use crate::{constructors, linux, main_thread, thread, time};
use core::arch::naked_asm;

/// Entry point of the task: the resource manager starts it here, with a stack.
///
/// # Safety
/// Never called.
#[unsafe(no_mangle)]
#[unsafe(naked)]
#[unsafe(link_section = ".text.entry")]
pub unsafe extern "C" fn _start() -> ! {
    naked_asm!("xor ebp, ebp", "and rsp, -16", "call {begin}", "ud2", begin = sym begin)
}

extern "C" fn begin() -> ! {
    // SAFETY: nothing of the task ran before, and it has no other thread yet.
    unsafe {
        time::start();
        linux::start();
        thread::begin_main();
    }
    constructors::run();
    main_thread::run()
}
