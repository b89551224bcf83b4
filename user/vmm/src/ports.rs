//! The real ports: which of them Linux uses without an exit, and PCI configuration on its behalf.

use pillion_abi::boot::range_kind;
use pillion_runtime::{
    call,
    info::{self, slot},
    now,
};
use pillion_vmm_devices::{
    notes,
    pci::{Change, ConfigAccess, ConfigSpace, Filter, Function, Kept, Quiesce},
    power::Fadt,
};

use crate::machine::Machine;

const CONFIG_ADDRESS: u16 = 0xcf8;
const CONFIG_DATA: u16 = 0xcfc;

/// A slot for capabilities that are needed for one call.
const SCRATCH: u32 = 48;

/// Ports that the kernel opens in one call.
const STEP: u32 = 1024;

/// Opens all ports to Linux but those that a model or the real-time side has.
pub fn open(machine: &Machine) {
    let mut from = 0u32;
    while from < 0x1_0000 {
        let taken = next_taken(machine, from);
        let end = taken.map_or(0x1_0000, |(first, _)| first);
        while from < end {
            let count = STEP.min(end - from);
            allow(from as u16, count);
            from += count;
        }
        if let Some((first, count)) = taken {
            from = from.max(first + count);
        }
    }
}

fn allow(first: u16, count: u32) {
    if call::ports_part(slot::PORTS, first, count, SCRATCH).is_ok() {
        let _ = call::vcpu_allow_ports(slot::VCPU, SCRATCH);
        let _ = call::cap_delete(0, SCRATCH);
    }
}

/// Ports of PCI configuration and of notes.
const OWN: [(u32, u32); 2] = [(CONFIG_ADDRESS as u32, 8), (notes::PORT as u32, 1)];

/// All that Linux does not get: what models answer, and what the real-time side has. In no order.
fn taken(machine: &Machine) -> impl Iterator<Item = (u32, u32)> {
    let hidden = machine.hidden_ports().iter().map(|[first, count]| (*first, *count));
    OWN.into_iter().chain(hidden).chain(machine.power.ports()).filter(|(_, count)| *count != 0)
}

/// The first range at or after `from` that Linux does not get.
fn next_taken(machine: &Machine, from: u32) -> Option<(u32, u32)> {
    taken(machine).filter(|(first, count)| first + count > from).min()
}

/// Looks for ACPI mode so many times, a millisecond apart.
const PATIENCE: u32 = 1000;

/// Brings the machine into ACPI mode (ACPI 6.4, 16.3.1) if it is not. Returns whether it is then.
pub fn enable_acpi(fadt: &Fadt) -> bool {
    const ENABLED: u32 = 1;
    let Some(port) = fadt.pm1a_control else { return true };
    let is_on = || call::port_in(slot::PORTS, port, 2).unwrap_or(0) & ENABLED != 0;
    if is_on() {
        return true;
    }
    let (Some(command), 1..) = (fadt.command, fadt.enable) else { return false };
    let _ = call::port_out(slot::PORTS, command, 1, fadt.enable.into());
    let pause = info::task().tsc_hz / 1000;
    (0..PATIENCE).any(|_| is_on() || call::sleep(now().saturating_add(pause)).is_err())
}

/// What no device of Linux's may be moved over.
impl Kept for Machine {
    fn memory(&self, base: u64, size: u64) -> bool {
        let end = base.saturating_add(size);
        let info = self.info();
        let ranges = info.ranges.iter().take(info.range_count as usize);
        ranges.filter(|r| r.kind != range_kind::DEVICE).any(|r| r.base < end && base < r.base.saturating_add(r.size))
    }

    fn ports(&self, first: u32, count: u32) -> bool {
        taken(self).any(|(from, many)| from < first + count && first < from + many)
    }
}

/// Reads configuration space.
pub fn config_read(address: u32, port: u16, width: u8) -> u32 {
    let _ = call::port_out(slot::PORTS, CONFIG_ADDRESS, 4, address);
    call::port_in(slot::PORTS, port, width).unwrap_or(u32::MAX)
}

/// Writes configuration space.
pub fn config_write(address: u32, port: u16, width: u8, value: u32) {
    let _ = call::port_out(slot::PORTS, CONFIG_ADDRESS, 4, address);
    let _ = call::port_out(slot::PORTS, port, width, value);
}

/// Writes configuration space for Linux, if the guard allows it.
pub fn guest_config_write(machine: &Machine, address: u32, port: u16, width: u8, value: u32) {
    let register = (address & 0xfc) as u8 | (port & 3) as u8;
    let change = Change { function: Function::of(address), register, width, value };
    if machine.pci.allows(&mut Real, machine, change) {
        config_write(address, port, width, value);
    }
}

struct Real;

impl ConfigAccess for Real {
    fn read(&mut self, function: Function, register: u8) -> u32 {
        config_read(function.address(register), CONFIG_DATA, 4)
    }
}

impl ConfigSpace for Real {
    fn write(&mut self, function: Function, register: u8, value: u32) {
        config_write(function.address(register), CONFIG_DATA, 4, value);
    }
}

/// Takes the bus from Linux's devices.
pub fn quiesce(filter: &Filter) {
    for write in Quiesce::new(filter, Real) {
        let port = CONFIG_DATA + u16::from(write.register & 2);
        config_write(write.function.address(write.register & !3), port, 2, write.value.into());
    }
}
