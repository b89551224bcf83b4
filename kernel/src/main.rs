//! The Pillion microhypervisor.
//!
//! `arch` is the machine and `pillion_core` the kernel's logic. The modules here join them: object
//! memory ([`hardware`]), kernel entries ([`entry`]), interrupts ([`interrupt`]), running guests
//! ([`guest`], [`virtualisation`]), the first task ([`root`]) and the trace buffer ([`trace`]).
#![no_std]
#![no_main]

pub mod arch;
mod entry;
mod guest;
mod hardware;
mod interrupt;
mod root;
mod trace;
mod virtualisation;

use arch::{BootParams, log};

/// Called by the boot code with memory, interrupts and clock set up.
pub fn kernel_main(boot: &'static BootParams) -> ! {
    // SAFETY: the boot code prepared the CPU's structure.
    let cpu = unsafe { arch::Cpu::current() };
    entry::set_options(boot.command_line());
    // SAFETY: the boot code calls this function once, on the one CPU that runs.
    let k = unsafe { entry::init(cpu) };
    virtualisation::init();
    trace::init();
    if let Err(reason) = root::start(k, boot) {
        log!("[boot] the first task cannot be started: {reason}");
        arch::halt()
    }
    entry::first_exit(k)
}

#[panic_handler]
fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    log!("[kernel] {info}");
    arch::halt()
}
