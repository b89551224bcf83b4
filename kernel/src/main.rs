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

/// The kernel, from the boot code to the first task.
///
/// # Safety
/// Called once, on the one CPU that runs, with its structure, memory, interrupts and clock set up.
/// `boot` is what the boot loader handed over.
pub unsafe fn kernel_main(boot: &'static BootParams) -> ! {
    entry::set_options(boot.command_line());
    // SAFETY: the only call, and the CPU's structure is set up, says the caller.
    let k = unsafe { entry::init(arch::Cpu::current()) };
    // SAFETY: the only calls, at boot, says the caller.
    unsafe {
        virtualisation::init();
        trace::init();
    }
    // SAFETY: the caller vouches for the parameters.
    if let Err(reason) = unsafe { root::start(k, boot) } {
        log!("[boot] the first task cannot be started: {reason}");
        arch::halt()
    }
    entry::leave(k)
}

#[panic_handler]
fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    log!("[kernel] {info}");
    arch::halt()
}
