//! The real ports: which of them Linux uses without an exit, and PCI configuration on its behalf.

use pillion_runtime::{call, info::slot};
use pillion_vmm_devices::{
    notes,
    pci::{ConfigAccess, Filter, Function, Quiesce},
    power::Fadt,
};

use crate::machine::Machine;

const CONFIG_ADDRESS: u16 = 0xcf8;
const CONFIG_DATA: u16 = 0xcfc;

/// Where system management interrupts are asked for: the firmware's, which takes as long as it likes.
const FIRMWARE: (u32, u32) = (0xb2, 2);

/// A slot for capabilities that are needed for one call.
const SCRATCH: u32 = 48;

/// Ports that the kernel opens in one call.
const STEP: u32 = 1024;

/// Buses that are looked through when devices are made quiet.
const BUSES: u16 = 8;

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

/// The first range at or after `from` that Linux does not get.
fn next_taken(machine: &Machine, from: u32) -> Option<(u32, u32)> {
    let info = machine.info();
    let hidden = info.hidden_ports.iter().take(info.hidden_port_count as usize).map(|[first, count]| (*first, *count));
    let power = machine.power.ports().into_iter().flatten().map(|(first, count)| (first.into(), count.into()));
    [(u32::from(CONFIG_ADDRESS), 8), (u32::from(notes::PORT), 1), FIRMWARE]
        .into_iter()
        .chain(hidden)
        .chain(power)
        .filter(|(first, count)| first + count > from && *count != 0)
        .min()
}

/// Whether some of the ports belong to the real-time side, or to the firmware when it has nothing left to do for Linux.
pub fn is_hidden(machine: &Machine, port: u16, width: u8) -> bool {
    let end = u32::from(port) + u32::from(width);
    let touches = |(first, count): (u32, u32)| u32::from(port) < first + count && end > first;
    let info = machine.info();
    let ranges = info.hidden_ports.iter().take(info.hidden_port_count as usize);
    ranges.into_iter().any(|[first, count]| touches((*first, *count))) || machine.acpi && touches(FIRMWARE)
}

/// Whether the machine is in ACPI mode. If not, Linux has to ask the firmware for it.
pub fn is_acpi_on(fadt: &Fadt) -> bool {
    const ENABLED: u32 = 1;
    fadt.pm1a_control.is_none_or(|port| call::port_in(slot::PORTS, port, 2).unwrap_or(0) & ENABLED != 0)
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

struct Real;

impl ConfigAccess for Real {
    fn read(&mut self, function: Function, register: u8) -> u32 {
        config_read(function.address(register), CONFIG_DATA, 4)
    }
}

/// Takes the bus from Linux's devices.
pub fn quiesce(filter: &Filter) {
    for write in Quiesce::new(filter, Real, BUSES) {
        let port = CONFIG_DATA + u16::from(write.register & 2);
        config_write(write.function.address(write.register & !3), port, 2, write.value.into());
    }
}
