//! Handles exits.

mod effect;
mod port;
mod registers;
mod unmapped;

use pillion_abi::vcpu::{Exit, gpr};
use pillion_vmm_devices::hypercall;

use crate::{end::End, linux_log, vcpu, virtual_machine::VirtualMachine};

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
        Exit::Refused | Exit::Hypercall => vcpu::raise(INVALID_OPCODE),
        Exit::Halted => return Some(End::Halted),
        Exit::Shutdown => {
            linux_log::state(vcpu::state());
            return Some(End::TripleFault);
        }
        Exit::Invalid | Exit::Unexpected | Exit::Exception => {
            linux_log::state(vcpu::state());
            return Some(End::Invalid(vcpu::state().fault.get().info));
        }
    }
    None
}

/// A hypercall of Linux's module. The instruction works only in the guest's kernel.
fn hypercall(machine: &mut VirtualMachine) {
    let s = vcpu::state();
    match hypercall::decode(&s.gpr, s.cs.get().selector, machine.channels.tasks) {
        Some(made) => {
            let result = machine.channels.hypercall(&mut machine.bus.io_apics, made);
            s.gpr[gpr::RAX].set(result as u64);
            vcpu::advance(hypercall::LENGTH);
        }
        None => vcpu::raise(INVALID_OPCODE),
    }
}
