//! The machine that the monitor runs on: its processor, its ports, and its PCI configuration.

use pillion_runtime::info::{self, monitor};
use pillion_runtime::{call, now};
use pillion_vmm_devices::cpuid::Registers;
use pillion_vmm_devices::pci::{ConfigAccess, ConfigSpace, Filter, Function, Quiesce};
use pillion_vmm_devices::power::Fadt;

use crate::linux_vcpu;

const CONFIG_ADDRESS: u16 = 0xcf8;
const CONFIG_DATA: u16 = 0xcfc;

/// A slot for capabilities that one call needs.
const SCRATCH: u32 = 48;

/// Ports that the kernel opens in one call.
const STEP: u32 = 1024;

/// The machine's CPUID.
pub fn cpuid(leaf: u32, subleaf: u32) -> Registers {
    let r = core::arch::x86_64::__cpuid_count(leaf, subleaf);
    [r.eax, r.ebx, r.ecx, r.edx]
}

/// Opens a range of ports, given as first port and count, to so many processors of Linux's.
pub fn open((mut first, count): (u32, u32), processors: usize) {
    let end = first + count;
    while first < end {
        let step = STEP.min(end - first);
        if call::ports_part(monitor::slot::PORTS, first as u16, step, SCRATCH).is_ok() {
            for index in 0..processors {
                let _ = call::vcpu_allow_ports(linux_vcpu::slot(index), SCRATCH);
            }
            let _ = call::cap_delete(0, SCRATCH);
        }
        first += step;
    }
}

/// How often to check for ACPI mode, a millisecond apart.
const PATIENCE: u32 = 1000;

/// Switches the machine to ACPI mode (ACPI 6.4, 16.3.1) if it is not in it. Returns whether it is
/// in it now.
pub fn enable_acpi(fadt: &Fadt) -> bool {
    const ENABLED: u32 = 1;
    let Some(port) = fadt.pm1a_control else { return true };
    let is_on = || call::port_in(monitor::slot::PORTS, port, 2).unwrap_or(0) & ENABLED != 0;
    if is_on() {
        return true;
    }
    let (Some(command), 1..) = (fadt.command, fadt.enable) else { return false };
    let _ = call::port_out(monitor::slot::PORTS, command, 1, fadt.enable.into());
    let pause = info::task().tsc_hz / 1000;
    (0..PATIENCE).any(|_| is_on() || call::sleep(now().saturating_add(pause)).is_err())
}

pub fn config_read(address: u32, port: u16, width: u8) -> u32 {
    let _ = call::port_out(monitor::slot::PORTS, CONFIG_ADDRESS, 4, address);
    call::port_in(monitor::slot::PORTS, port, width).unwrap_or(u32::MAX)
}

/// Writes configuration space.
pub fn config_write(address: u32, port: u16, width: u8, value: u32) {
    let _ = call::port_out(monitor::slot::PORTS, CONFIG_ADDRESS, 4, address);
    let _ = call::port_out(monitor::slot::PORTS, port, width, value);
}

/// Configuration space, accessed by doublewords.
pub struct Config;

impl ConfigAccess for Config {
    fn read(&mut self, function: Function, register: u8) -> u32 {
        config_read(function.address(register), CONFIG_DATA, 4)
    }
}

impl ConfigSpace for Config {
    fn write(&mut self, function: Function, register: u8, value: u32) {
        config_write(function.address(register), CONFIG_DATA, 4, value);
    }
}

/// Stops DMA and interrupts of Linux's devices.
pub fn quiesce(filter: &Filter) {
    for write in Quiesce::new(filter, Config) {
        let port = CONFIG_DATA + u16::from(write.register & 2);
        config_write(write.function.address(write.register & !3), port, 2, write.value.into());
    }
}
