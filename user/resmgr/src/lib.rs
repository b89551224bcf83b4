//! The resource manager owns the machine at boot and hands it out as the system file says: it
//! starts the real-time tasks and the VM monitor for Linux, then writes their log, reports their
//! faults and latencies, and ends the system.
#![no_std]

extern crate alloc;

mod failure;
mod grants;
mod heap;
mod journal;
mod kernel_trace;
mod lines;
mod linux;
mod objects;
mod page_tables;
mod platform;
mod pool;
mod processors;
mod rights;
mod service;
mod shutdown;
mod skin;
mod start;
mod system;
mod task;
mod task_log;
mod text;
mod time;
mod window;

pub use heap::Heap;

use pillion_abi::boot::{BootInfo, slot};
use pillion_runtime::println;

/// Starts the system and serves it until it ends.
///
/// # Safety
/// `argument` is what the kernel passed to this task, the first one.
pub unsafe fn main(argument: u64) -> ! {
    pillion_runtime::log::use_kernel(slot::TRACE);
    // SAFETY: the kernel starts the first task with the address of the boot information, which
    // stays mapped read-only.
    let boot = unsafe { &*(argument as *const BootInfo) };
    journal::begin(boot.tsc_hz);
    match start::start(boot) {
        Ok(service) => service.run(),
        Err(failure) => {
            println!("[resmgr] {failure}");
            shutdown::end(boot, false)
        }
    }
}
