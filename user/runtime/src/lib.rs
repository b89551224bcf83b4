//! What every user task needs: an entry point, system calls as functions, time, a panic handler.
//!
//! A task is a `no_std` binary that calls [`task!`] with its main function. It starts with the
//! argument that its creator chose.
#![no_std]

pub mod broker;
pub mod call;
pub mod fpu;
pub mod image;
pub mod info;
pub mod log;
pub mod manager;
pub mod user_mode;

pub use call::*;

/// Reads the time-stamp counter.
#[inline(always)]
#[must_use]
pub fn now() -> u64 {
    // SAFETY: it only reads a counter.
    unsafe { core::arch::x86_64::_rdtsc() }
}

/// Stops for good, after a fault or a panic that cannot be reported.
pub fn park() -> ! {
    loop {
        let _ = call::sleep(pillion_abi::NEVER);
    }
}

/// Defines the entry point of a task: `task!(main)` with `fn main(argument: u64) -> !`. It may be
/// unsafe: only the entry point calls it, once, with the argument that the task was started with.
#[macro_export]
macro_rules! task {
    ($main:path) => {
        core::arch::global_asm!(
            ".section .text.entry, \"ax\"",
            ".globl _start",
            "_start:",
            "xor ebp, ebp",
            "call {main}",
            "ud2",
            main = sym __pillion_main,
        );

        extern "C" fn __pillion_main(argument: u64) -> ! {
            let main: unsafe fn(u64) -> ! = $main;
            // SAFETY: the first code that runs; it is not entered again.
            unsafe { main(argument) }
        }

        #[panic_handler]
        fn __pillion_panic(info: &core::panic::PanicInfo) -> ! {
            $crate::log::panic(info)
        }
    };
}
