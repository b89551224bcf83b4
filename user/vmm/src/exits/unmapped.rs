//! Accesses to unmapped memory: the interrupt controllers, and memory that Linux must not use.

use pillion_runtime::now;
use pillion_vmm_devices::{
    GeneralProtection,
    instruction::{self, Access, Error},
};

use super::effect::carry_out;
use crate::{end::End, linux_log, linux_vcpu, virtual_machine::VirtualMachine};

const FETCH: u64 = 1 << 4;

pub fn handle(machine: &mut VirtualMachine) -> Option<End> {
    let s = linux_vcpu::state();
    let fault = s.fault.get();
    if fault.info & FETCH != 0 {
        linux_log::state(s);
        return Some(End::RanAway(fault.address));
    }
    match instruction::at_exit(&machine.memory, s) {
        Ok(access) => {
            let end = make(machine, fault.address, access);
            linux_vcpu::advance(access.length.into());
            return end;
        }
        Err(Error::Unsupported(bytes)) => linux_log::unsupported(s, bytes.as_slice()),
        Err(_) => linux_log::unsupported(s, &[]),
    }
    linux_vcpu::raise(GeneralProtection::EVENT);
    None
}

/// Carries out an instruction's access.
fn make(machine: &mut VirtualMachine, address: u64, access: Access) -> Option<End> {
    let s = linux_vcpu::state();
    match access.stored(&s.gpr) {
        Some(value) => {
            let effect = machine.bus.write_memory(address, access.width, value, now(), s);
            carry_out(machine, effect)
        }
        None => {
            access.load(&s.gpr, machine.bus.read_memory(address, access.width, now(), s));
            None
        }
    }
}
