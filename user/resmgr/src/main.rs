//! The resource manager: the first user task. The library of this package does its work.
#![no_std]
#![no_main]

use pillion_resmgr::Heap;

#[global_allocator]
static HEAP: Heap = Heap::new();

pillion_runtime::task!(main);

fn main(argument: u64) -> ! {
    // SAFETY: the kernel started the first task with this argument.
    unsafe { pillion_resmgr::main(argument) }
}
