//! Handles exits.

mod effect;
mod port;
mod registers;
mod unmapped;

use pillion_abi::vcpu::{Exit, gpr};
use pillion_runtime::info::monitor_bit;
use pillion_vmm_devices::hypercall::{self, Hypercall};

use crate::{end::End, linux_log, linux_vcpu::Vcpu, processor::Processor, virtual_machine::VirtualMachine};

const INVALID_OPCODE: u64 = 6;

/// Handles an exit of a processor. Returns how Linux ended, if it did.
pub fn handle(machine: &mut VirtualMachine, own: &mut Processor, reason: Exit, value: u64) -> Option<End> {
    match reason {
        Exit::Notified => notified(machine, own, value),
        Exit::Port => return port::handle(machine, &own.vcpu),
        Exit::Memory => return unmapped::handle(machine, own),
        Exit::ReadMsr => registers::read_msr(machine, own, value as u32),
        Exit::WriteMsr => return registers::write_msr(machine, own, value as u32),
        Exit::Cpuid => registers::cpuid(own),
        Exit::Hypercall if machine.channels.window => hypercall(machine, &own.vcpu),
        Exit::Refused | Exit::Hypercall => own.vcpu.raise(INVALID_OPCODE),
        Exit::Halted => return own.halt(machine),
        Exit::Shutdown => {
            linux_log::state(own.vcpu.state);
            return Some(End::TripleFault);
        }
        Exit::Invalid | Exit::Unexpected | Exit::Exception => {
            linux_log::state(own.vcpu.state);
            return Some(End::Invalid(own.vcpu.state.fault.get().info));
        }
    }
    None
}

/// The notification of a processor's thread was signalled.
fn notified(machine: &mut VirtualMachine, own: &mut Processor, bits: u64) {
    if bits & monitor_bit::LOOK != 0 {
        own.look(machine);
    }
    ring(machine, &own.vcpu, bits);
}

/// Rings the doorbell, if the bits say so.
fn ring(machine: &mut VirtualMachine, vcpu: &Vcpu, bits: u64) {
    if let Some(message) = machine.channels.notified(&mut machine.bus.io_apics, bits) {
        machine.send(vcpu, message);
    }
}

/// A hypercall of Linux's module. The instruction works only in the guest's kernel.
fn hypercall(machine: &mut VirtualMachine, vcpu: &Vcpu) {
    let s = vcpu.state;
    match hypercall::decode(&s.gpr, s.cs.get().selector, machine.channels.tasks) {
        Some(made) => {
            s.gpr[gpr::RAX].set(machine.channels.hypercall(made) as u64);
            vcpu.advance(hypercall::LENGTH);
            if let Hypercall::Hello(_) = made {
                // Deliver what tasks signalled before the module was loaded.
                ring(machine, vcpu, monitor_bit::DOORBELL);
            }
        }
        None => vcpu.raise(INVALID_OPCODE),
    }
}
