//! The Pillion microhypervisor.
//!
//! `arch` is the machine and `pillion_core` the kernel's logic. The modules here join them: object
//! memory ([`hardware`]), kernel entries ([`entry`]), interrupts ([`interrupt`]), running guests
//! ([`guest`], [`virtualisation`]), the first task ([`root`]), the trace buffer ([`trace`]), and
//! what several processors share ([`lock`]) and send each other ([`post`]).
#![no_std]
#![no_main]

pub mod arch;
mod entry;
mod guest;
mod hardware;
mod interrupt;
mod lock;
mod post;
mod root;
mod shootdown;
mod trace;
mod virtualisation;

use arch::{BootParams, log};

/// The kernel, from the boot code to the first task.
///
/// # Safety
/// Called once, on the first CPU, while all others sleep, with its structure, memory, interrupts
/// and clock set up. `boot` is what the boot loader handed over.
pub unsafe fn kernel_main(boot: &'static BootParams) -> ! {
    entry::set_options(boot.command_line());
    // SAFETY: the only call, and the CPU's structure is set up, says the caller.
    let cpu = unsafe { arch::Cpu::current() };
    // SAFETY: as above.
    let k = unsafe { entry::init(cpu) };
    // SAFETY: the only calls, at boot, says the caller.
    unsafe {
        virtualisation::init(cpu);
        trace::init();
    }
    if arch::processors() > 1 {
        arch::wake_others();
        match post::greet(k) {
            Ok(()) => log!("[boot] {} other processors answer", arch::processors() - 1),
            Err(silent) => {
                arch::stop_others();
                log!(
                    "[boot] processor {silent} runs, but no message reaches it, or it does not answer: each call on \
                     it would wait without end; switch it off in the firmware"
                );
                arch::halt()
            }
        }
    }
    // SAFETY: the caller vouches for the parameters.
    if let Err(reason) = unsafe { root::start(k, boot) } {
        arch::stop_others();
        log!("[boot] the first task cannot be started: {reason}");
        arch::halt()
    }
    entry::leave(k)
}

/// The kernel of another processor, which has nothing to run at first.
///
/// # Safety
/// Called once on each other CPU, after [`kernel_main`] woke it, with its structure set up.
pub unsafe fn kernel_other() -> ! {
    // SAFETY: the only calls on this CPU, whose structure is set up, says the caller; it offers
    // what the first one does, or would not have been started.
    let k = unsafe {
        let cpu = arch::Cpu::current();
        virtualisation::init_other(cpu);
        entry::init(cpu)
    };
    // The message that woke it may have been that of a letter.
    post::receive(k);
    entry::leave(k)
}

#[panic_handler]
fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    arch::stop_others();
    log!("[kernel] {info}");
    arch::halt()
}
