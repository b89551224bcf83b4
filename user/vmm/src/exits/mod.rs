//! Handles exits.

mod effect;
mod port;
mod registers;
mod unmapped;

use pillion_abi::vcpu::{Exit, gpr};
use pillion_vmm_devices::hypercall;

use crate::{end::End, linux_log, linux_vcpu, virtual_machine::VirtualMachine};

const INVALID_OPCODE: u64 = 6;

/// Handles an exit. Returns how Linux ended, if it did.
pub fn handle(machine: &mut VirtualMachine, reason: Exit, value: u64) -> Option<End> {
    match reason {
        Exit::Notified => machine.channels.notified(&mut machine.bus.io_apics, value),
        Exit::Port => return port::handle(machine),
        Exit::Memory => return unmapped::handle(machine),
        Exit::ReadMsr => registers::read_msr(machine, value as u32),
        Exit::WriteMsr => return registers::write_msr(machine, value as u32),
        Exit::Cpuid => registers::cpuid(machine),
        Exit::Hypercall if machine.channels.window => hypercall(machine),
        Exit::Refused | Exit::Hypercall => linux_vcpu::raise(INVALID_OPCODE),
        Exit::Halted => return Some(End::Halted),
        Exit::Shutdown => {
            linux_log::state(linux_vcpu::state());
            return Some(End::TripleFault);
        }
        Exit::Invalid | Exit::Unexpected | Exit::Exception => {
            linux_log::state(linux_vcpu::state());
            return Some(End::Invalid(linux_vcpu::state().fault.get().info));
        }
    }
    None
}

/// A hypercall of Linux's module. The instruction works only in the guest's kernel.
fn hypercall(machine: &mut VirtualMachine) {
    let s = linux_vcpu::state();
    match hypercall::decode(&s.gpr, s.cs.get().selector, machine.channels.tasks) {
        Some(made) => {
            let result = machine.channels.hypercall(&mut machine.bus.io_apics, made);
            s.gpr[gpr::RAX].set(result as u64);
            linux_vcpu::advance(hypercall::LENGTH);
        }
        None => linux_vcpu::raise(INVALID_OPCODE),
    }
}
