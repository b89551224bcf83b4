//! Accesses to unmapped memory: the interrupt controllers, and memory that Linux must not use.

use pillion_runtime::now;
use pillion_vmm_devices::{
    GeneralProtection,
    instruction::{self, Access, Error},
};

use super::effect::carry_out;
use crate::{end::End, linux_log, processor::Processor, virtual_machine::VirtualMachine};

const FETCH: u64 = 1 << 4;

pub fn handle(machine: &mut VirtualMachine, own: &mut Processor) -> Option<End> {
    let s = own.vcpu.state;
    let fault = s.fault.get();
    if fault.info & FETCH != 0 {
        linux_log::state(s);
        return Some(End::RanAway(fault.address));
    }
    match instruction::at_exit(&machine.memory, s) {
        Ok(access) => {
            own.vcpu.advance(access.length.into());
            return make(machine, own, fault.address, access);
        }
        Err(Error::Unsupported(bytes)) => linux_log::unsupported(s, bytes.as_slice()),
        Err(_) => linux_log::unsupported(s, &[]),
    }
    own.vcpu.raise(GeneralProtection::EVENT);
    None
}

/// Carries out an instruction's access.
fn make(machine: &mut VirtualMachine, own: &mut Processor, address: u64, access: Access) -> Option<End> {
    let s = own.vcpu.state;
    match access.stored(&s.gpr) {
        Some(value) => {
            let effect = machine.bus.write_memory(&mut own.local, address, access.width, value, now(), s);
            carry_out(machine, &own.vcpu, effect)
        }
        None => {
            access.load(&s.gpr, machine.bus.read_memory(&own.local, address, access.width, now(), s));
            None
        }
    }
}
