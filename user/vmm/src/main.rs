//! The VM monitor for Linux: loads it, runs it, handles the exits that the kernel leaves to it, and
//! restarts it when it ends.
//!
//! A thread runs each of Linux's processors, on the processor of the machine that it is. What they
//! share is behind a lock ([`virtual_machine`]); what is a processor's own is with its thread
//! ([`processor`]). When Linux ends, all leave it, and the first one's thread starts it again.
//!
//! Everything that can be decided without the machine is in `pillion_vmm_devices`; this crate
//! connects it to system calls and memory.
#![no_std]
#![no_main]

mod channel;
mod command_line;
mod end;
mod exits;
mod firmware;
mod host;
mod lifecycle;
mod linux_log;
mod linux_vcpu;
mod lock;
mod processor;
mod seat;
mod virtual_machine;
mod watchdog;
mod window;

use pillion_abi::NEVER;
use pillion_runtime::info::{self, monitor::PROCESSORS, slot};
use pillion_runtime::{call, task};

use end::End;
use lifecycle::Lifecycle;
use lock::Lock;
use processor::Processor;
use seat::Seat;
use virtual_machine::VirtualMachine;

task!(main);

fn main(_: u64) -> ! {
    // SAFETY: this is the monitor.
    let linux = unsafe { info::linux() };
    let count = linux.processors().len();
    let machine = VirtualMachine::new(linux);
    let mut life = Lifecycle::new(linux);
    machine.bus.free_ports().for_each(|ports| host::open(ports, count));
    // SAFETY: the task starts with this thread, which is the first processor's.
    let mut first = unsafe { Processor::new(0, &machine) };
    let machine = Lock::new(machine);
    let seats: [Seat<'_>; PROCESSORS] = core::array::from_fn(|index| Seat { machine: &machine, index });
    for seat in seats.iter().take(count).skip(1) {
        // SAFETY: this function does not return, so the seats and the machine stay.
        unsafe { seat.fill() };
    }
    loop {
        let end = live(&machine, &mut first, &mut life);
        life.after(end, &machine);
    }
}

/// Loads Linux and runs it until it ends and all its processors have left it.
fn live(machine: &Lock<VirtualMachine>, first: &mut Processor, life: &mut Lifecycle) -> End {
    let booted = first.boot(&mut machine.lock(), life.next());
    if let Err(reason) = booted {
        return End::CannotStart(reason);
    }
    life.started();
    first.run(machine);
    // The last one that leaves signals.
    while machine.lock().is_running() {
        let _ = call::wait(slot::NOTIFICATION, NEVER);
    }
    let ended = machine.lock().ended;
    ended.unwrap_or(End::Broken("the first processor left Linux before its end"))
}
