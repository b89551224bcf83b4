//! Answers to exits.

mod memory;
mod port;
mod registers;

pub use registers::host_cpuid;

use pillion_abi::vcpu::{Exit, State, dirty};
use pillion_vmm_devices::{GeneralProtection, hypercall};

use crate::{
    channel,
    lifecycle::End,
    machine::{Machine, state},
    report,
};

const INVALID_OPCODE: u64 = 6;

/// Answers an exit. Returns how Linux ended, if it did.
pub fn handle(machine: &mut Machine, reason: Exit, value: u64) -> Option<End> {
    match reason {
        Exit::Notified => {
            channel::notified(machine, value);
            None
        }
        Exit::Port => port::handle(machine),
        Exit::Memory => memory::handle(machine),
        Exit::ReadMsr => registers::read_msr(machine, value as u32),
        Exit::WriteMsr => registers::write_msr(machine, value as u32),
        Exit::Cpuid => registers::cpuid(machine),
        Exit::Hypercall if machine.channels.window => {
            hypercall(machine);
            None
        }
        Exit::Refused | Exit::Hypercall | Exit::ControlRegister => {
            raise(state(), INVALID_OPCODE);
            None
        }
        Exit::Halted => Some(End::Halted),
        Exit::Shutdown => {
            report::state(state());
            Some(End::TripleFault)
        }
        Exit::Invalid | Exit::Unexpected | Exit::Exception => {
            report::state(state());
            Some(End::Invalid(state().fault.get().info))
        }
    }
}

/// A call of Linux's module; others than the guest's kernel have no such instruction.
fn hypercall(machine: &mut Machine) {
    let s = state();
    match hypercall::decode(&s.gpr, s.cs.get().selector, machine.channels.tasks) {
        Some(made) => {
            channel::hypercall(machine, made);
            advance(state(), hypercall::LENGTH);
        }
        None => raise(s, INVALID_OPCODE),
    }
}

/// Goes on after an instruction.
fn advance(state: &State, bytes: u64) {
    state.rip.set(state.rip.get().wrapping_add(bytes));
    state.dirty.update(|bits| bits | dirty::CORE);
}

/// Delivers an exception instead of completing the instruction.
fn raise(state: &State, event: u64) {
    state.event.set(event);
    state.dirty.update(|bits| bits | dirty::EVENT);
}

/// Completes an access to a model-specific register of two bytes' length, or refuses it.
fn finish(state: &State, result: Result<(), GeneralProtection>) {
    match result {
        Ok(()) => advance(state, 2),
        Err(GeneralProtection) => raise(state, GeneralProtection::EVENT),
    }
}
