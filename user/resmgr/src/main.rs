//! The resource manager: the first user task. The library of this package does its work.
#![no_std]
#![no_main]

use pillion_resmgr::Heap;

#[global_allocator]
static HEAP: Heap = Heap::new();

pillion_runtime::task!(main);

/// # Safety
/// Only the entry point calls it, with the kernel's argument.
unsafe fn main(argument: u64) -> ! {
    // SAFETY: by the contract of this function.
    unsafe { pillion_resmgr::main(argument) }
}
