//! The PCI functions of tasks: where in memory their registers lie, for Linux must not get them.

use alloc::vec::Vec;
use pillion_abi::boot::{Range, range_kind, slot};
use pillion_runtime::{port_in, port_out, println};
use pillion_system::System;
use pillion_vmm_devices::pci::{ConfigAccess, ConfigSpace, Function, memory_of};

const ADDRESS: u16 = 0xcf8;
const DATA: u16 = 0xcfc;

/// Configuration space, accessed through its ports.
struct Ports;

impl ConfigAccess for Ports {
    fn read(&mut self, function: Function, register: u8) -> u32 {
        let _ = port_out(slot::PORTS, ADDRESS, 4, function.address(register));
        port_in(slot::PORTS, DATA, 4).unwrap_or(u32::MAX)
    }
}

impl ConfigSpace for Ports {
    fn write(&mut self, function: Function, register: u8, value: u32) {
        let _ = port_out(slot::PORTS, ADDRESS, 4, function.address(register));
        let _ = port_out(slot::PORTS, DATA, 4, value);
    }
}

/// Reports which functions of tasks do not exist: the system file's author probably meant another
/// function, which Linux now has.
pub fn say_missing(system: &System) {
    for (task, device) in system.tasks.iter().flat_map(|task| task.devices.iter().map(move |device| (task, device))) {
        // Register 0 holds vendor and device; where nothing answers it reads as ones.
        if Ports.read(Function::from_id(device.requester_id()), 0) & 0xffff == 0xffff {
            println!(
                "[resmgr] this machine has no PCI function {device} for task {}; `ls /sys/bus/pci/devices` in Linux lists those that it has",
                task.name
            );
        }
    }
}

/// The memory in which functions of tasks answer. Call it before any task runs: it switches the
/// functions off for a moment to measure them.
pub fn registers(system: &System) -> Vec<Range> {
    let functions = system.tasks.iter().flat_map(|task| &task.devices).map(|device| device.requester_id());
    let memory = functions.flat_map(|id| memory_of(&mut Ports, Function::from_id(id)).into_iter().flatten());
    memory.map(|(base, size)| Range { base, size, kind: range_kind::DEVICE }).collect()
}
