//! Answers to exits.

mod memory;
mod port;
mod registers;

pub use registers::host_cpuid;

use pillion_abi::vcpu::{Exit, State, dirty};
use pillion_vmm_devices::GeneralProtection;

use crate::{
    lifecycle::End,
    machine::{Machine, state},
    report,
};

const INVALID_OPCODE: u64 = 6;

/// Answers an exit. Returns how Linux ended, if it did.
pub fn handle(machine: &mut Machine, reason: Exit, value: u64) -> Option<End> {
    match reason {
        Exit::Notified => None,
        Exit::Port => port::handle(machine),
        Exit::Memory => memory::handle(machine),
        Exit::ReadMsr => registers::read_msr(machine, value as u32),
        Exit::WriteMsr => registers::write_msr(machine, value as u32),
        Exit::Cpuid => registers::cpuid(machine),
        Exit::Xsetbv | Exit::Refused | Exit::Hypercall | Exit::ControlRegister => {
            raise(state(), INVALID_OPCODE);
            None
        }
        Exit::Halted => Some(End::Halted),
        Exit::Shutdown => {
            report::state(state());
            Some(End::TripleFault)
        }
        Exit::Invalid | Exit::Unexpected => {
            report::state(state());
            Some(End::Invalid(state().fault.info))
        }
    }
}

/// Goes on after an instruction.
fn advance(state: &mut State, bytes: u64) {
    state.rip = state.rip.wrapping_add(bytes);
    state.dirty |= dirty::CORE;
}

/// Delivers an exception instead of completing the instruction.
fn raise(state: &mut State, event: u64) {
    state.event = event;
    state.dirty |= dirty::EVENT;
}

/// Completes an access to a model-specific register of two bytes' length, or refuses it.
fn finish(state: &mut State, result: Result<(), GeneralProtection>) {
    match result {
        Ok(()) => advance(state, 2),
        Err(GeneralProtection) => raise(state, GeneralProtection::EVENT),
    }
}
