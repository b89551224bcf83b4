//! The resource manager: the first user task. What it does stands in the library of this package.
#![no_std]
#![no_main]

use pillion_resmgr::Heap;

#[global_allocator]
static HEAP: Heap = Heap::new();

pillion_runtime::task!(main);

fn main(argument: u64) -> ! {
    // SAFETY: it is what the kernel started the first task with.
    unsafe { pillion_resmgr::main(argument) }
}
