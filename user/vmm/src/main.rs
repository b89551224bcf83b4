//! The VM monitor for Linux: loads it, runs it, handles the exits that the kernel leaves to it, and
//! restarts it when it ends.
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
mod virtual_machine;
mod watchdog;
mod window;

use pillion_abi::vcpu::Exit;
use pillion_runtime::info::{self, monitor};
use pillion_runtime::{call, task};

use end::End;
use lifecycle::Lifecycle;
use virtual_machine::VirtualMachine;

task!(main);

fn main(_: u64) -> ! {
    // SAFETY: this is the monitor.
    let linux = unsafe { info::linux() };
    let mut machine = VirtualMachine::new(linux, info::task().tsc_hz);
    let mut life = Lifecycle::new(linux);
    machine.bus.free_ports().for_each(host::open);
    watchdog::connect();
    loop {
        let end = match machine.boot(life.next()) {
            Ok(()) => {
                life.started();
                run(&mut machine)
            }
            Err(reason) => End::CannotStart(reason),
        };
        life.after(end, &mut machine);
    }
}

/// Runs Linux until it ends.
fn run(machine: &mut VirtualMachine) -> End {
    machine.watchdog.start();
    loop {
        machine.before_entry();
        let end = match call::vcpu_run(monitor::slot::VCPU) {
            Ok([reason, value]) => match Exit::from_raw(reason) {
                Some(reason) => {
                    machine.exits.count(reason);
                    exits::handle(machine, reason, value)
                }
                None => Some(End::Broken("the kernel gave an unknown reason")),
            },
            Err(_) => Some(End::Broken("the kernel refused to run the vCPU")),
        };
        if let Some(end) = end.or_else(|| machine.watchdog.hung(linux_vcpu::state()).then_some(End::Hung)) {
            return end;
        }
    }
}
