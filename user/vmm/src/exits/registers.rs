//! CPUID and model-specific registers.

use pillion_abi::vcpu::gpr;
use pillion_runtime::now;
use pillion_vmm_devices::{GeneralProtection, answer::Effect, cpuid, steal_time};

use super::effect::carry_out;
use crate::{end::End, host, processor::Processor, virtual_machine::VirtualMachine};

/// Length of CPUID, RDMSR and WRMSR in bytes.
const LENGTH: u64 = 2;

pub fn cpuid(own: &mut Processor) {
    let s = own.vcpu.state;
    let (leaf, subleaf) = (s.gpr[gpr::RAX].get() as u32, s.gpr[gpr::RCX].get() as u32);
    (own.cpuid.cr4, own.cpuid.xcr0) = (s.cr4.get(), s.xcr0.get());
    let [a, b, c, d] = cpuid::cpuid(host::cpuid(leaf, subleaf), leaf, subleaf, &own.cpuid);
    for (register, value) in [(gpr::RAX, a), (gpr::RBX, b), (gpr::RCX, c), (gpr::RDX, d)] {
        s.gpr[register].set(value.into());
    }
    own.vcpu.advance(LENGTH);
}

pub fn read_msr(machine: &VirtualMachine, own: &Processor, number: u32) {
    let s = own.vcpu.state;
    let value = match number {
        steal_time::MSR => Ok(own.local.steal_time.read()),
        _ => machine.bus.read_msr(&own.local, number, now(), s),
    };
    match value {
        Ok(value) => {
            s.gpr[gpr::RAX].set(value & 0xffff_ffff);
            s.gpr[gpr::RDX].set(value >> 32);
            own.vcpu.advance(LENGTH);
        }
        Err(GeneralProtection) => own.vcpu.raise(GeneralProtection::EVENT),
    }
}

pub fn write_msr(machine: &mut VirtualMachine, own: &mut Processor, number: u32) -> Option<End> {
    let s = own.vcpu.state;
    let value = s.gpr[gpr::RDX].get() << 32 | s.gpr[gpr::RAX].get() & 0xffff_ffff;
    let written = match number {
        steal_time::MSR => own.local.steal_time.write(value, &mut machine.memory).map(|()| Effect::None),
        _ => machine.bus.write_msr(&mut own.local, number, value, now(), s),
    };
    match written {
        Ok(effect) => {
            own.vcpu.advance(LENGTH);
            return carry_out(machine, &own.vcpu, effect);
        }
        Err(GeneralProtection) => own.vcpu.raise(GeneralProtection::EVENT),
    }
    None
}
