//! Memory that is not mapped: the interrupt controllers, and what Linux has no business with.

use pillion_runtime::now;
use pillion_vmm_devices::{
    GeneralProtection, apic,
    instruction::{self, Access, Error},
    ones,
};

use super::{advance, raise};
use crate::{
    channel,
    lifecycle::End,
    lines,
    machine::{Machine, state},
    report,
};

const FETCH: u64 = 1 << 4;

pub fn handle(machine: &mut Machine) -> Option<End> {
    let s = state();
    if s.fault.get().info & FETCH != 0 {
        report::state(s);
        return Some(End::RanAway(s.fault.get().address));
    }
    match instruction::at_exit(&machine.memory, s) {
        Ok(access) => {
            carry_out(machine, access);
            advance(s, access.length.into());
        }
        Err(Error::Unsupported(bytes)) => {
            report::unsupported(s, bytes.as_slice());
            raise(s, GeneralProtection::EVENT);
        }
        Err(_) => {
            report::unsupported(s, &[]);
            raise(s, GeneralProtection::EVENT);
        }
    }
    None
}

fn carry_out(machine: &mut Machine, access: Access) {
    let s = state();
    let address = s.fault.get().address;
    match access.stored(&s.gpr) {
        Some(value) => write(machine, address, access.width, value),
        None => {
            let value = read(machine, address, access.width);
            access.load(&s.gpr, value);
        }
    }
}

fn read(machine: &mut Machine, address: u64, width: u8) -> u64 {
    if let Some(value) = machine.io_apics.read(address, width) {
        return value;
    }
    if let Some(offset) = within(address, apic::BASE, 0x1000) {
        return machine.apic.read_memory(offset, width, now(), &machine.shared());
    }
    ones(width)
}

fn write(machine: &mut Machine, address: u64, width: u8, value: u64) {
    if let Some(changed) = machine.io_apics.write(address, width, value) {
        if let Some(route) = changed {
            lines::hand(route);
        }
        channel::unmasked(machine);
    } else if let Some(offset) = within(address, apic::BASE, 0x1000) {
        let before = machine.shared();
        let mut shared = before;
        let effect = machine.apic.write_memory(offset, width, value, now(), &mut shared);
        shared.store(&before, state());
        machine.carry_out(effect);
    }
}

fn within(address: u64, base: u64, size: u64) -> Option<u64> {
    let offset = address.checked_sub(base)?;
    (offset < size).then_some(offset)
}
