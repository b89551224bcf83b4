//! CPUID and model-specific registers.

use pillion_abi::vcpu::gpr;
use pillion_runtime::now;
use pillion_vmm_devices::{GeneralProtection, cpuid};

use super::effect::carry_out;
use crate::{end::End, host, linux_vcpu, virtual_machine::VirtualMachine};

/// Length of CPUID, RDMSR and WRMSR in bytes.
const LENGTH: u64 = 2;

pub fn cpuid(machine: &mut VirtualMachine) {
    let s = linux_vcpu::state();
    let (leaf, subleaf) = (s.gpr[gpr::RAX].get() as u32, s.gpr[gpr::RCX].get() as u32);
    (machine.cpuid.cr4, machine.cpuid.xcr0) = (s.cr4.get(), s.xcr0.get());
    let [a, b, c, d] = cpuid::cpuid(host::cpuid(leaf, subleaf), leaf, subleaf, &machine.cpuid);
    for (register, value) in [(gpr::RAX, a), (gpr::RBX, b), (gpr::RCX, c), (gpr::RDX, d)] {
        s.gpr[register].set(value.into());
    }
    linux_vcpu::advance(LENGTH);
}

pub fn read_msr(machine: &VirtualMachine, number: u32) {
    let s = linux_vcpu::state();
    match machine.bus.read_msr(number, now(), s) {
        Ok(value) => {
            s.gpr[gpr::RAX].set(value & 0xffff_ffff);
            s.gpr[gpr::RDX].set(value >> 32);
            linux_vcpu::advance(LENGTH);
        }
        Err(GeneralProtection) => linux_vcpu::raise(GeneralProtection::EVENT),
    }
}

pub fn write_msr(machine: &mut VirtualMachine, number: u32) -> Option<End> {
    let s = linux_vcpu::state();
    let value = s.gpr[gpr::RDX].get() << 32 | s.gpr[gpr::RAX].get() & 0xffff_ffff;
    match machine.bus.write_msr(number, value, now(), s) {
        Ok(effect) => {
            linux_vcpu::advance(LENGTH);
            return carry_out(machine, effect);
        }
        Err(GeneralProtection) => linux_vcpu::raise(GeneralProtection::EVENT),
    }
    None
}
