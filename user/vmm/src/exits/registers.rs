//! CPUID and model-specific registers.

use pillion_abi::vcpu::gpr;
use pillion_runtime::now;
use pillion_vmm_devices::{
    GeneralProtection, apic,
    cpuid::{self, Registers},
};

use super::{advance, finish};
use crate::{
    lifecycle::End,
    machine::{Machine, state},
};

/// The machine's own answer.
pub fn host_cpuid(leaf: u32, subleaf: u32) -> Registers {
    let r = core::arch::x86_64::__cpuid_count(leaf, subleaf);
    [r.eax, r.ebx, r.ecx, r.edx]
}

pub fn cpuid(machine: &mut Machine) -> Option<End> {
    let s = state();
    let (leaf, subleaf) = (s.gpr[gpr::RAX].get() as u32, s.gpr[gpr::RCX].get() as u32);
    (machine.cpuid.cr4, machine.cpuid.xcr0) = (s.cr4.get(), s.xcr0.get());
    let [a, b, c, d] = cpuid::cpuid(host_cpuid(leaf, subleaf), leaf, subleaf, &machine.cpuid);
    for (register, value) in [(gpr::RAX, a), (gpr::RBX, b), (gpr::RCX, c), (gpr::RDX, d)] {
        s.gpr[register].set(value.into());
    }
    advance(s, 2);
    None
}

fn is_local_apic(number: u32) -> bool {
    matches!(number, apic::MSR_BASE | apic::MSR_DEADLINE | apic::MSR_FIRST..=apic::MSR_LAST)
}

pub fn read_msr(machine: &mut Machine, number: u32) -> Option<End> {
    let s = state();
    let read = if is_local_apic(number) {
        machine.apic.read_msr(number, now(), &machine.shared())
    } else {
        machine.msrs.read(number, now())
    };
    if let Ok(value) = read {
        s.gpr[gpr::RAX].set(value & 0xffff_ffff);
        s.gpr[gpr::RDX].set(value >> 32);
    }
    finish(s, read.map(|_| ()));
    None
}

pub fn write_msr(machine: &mut Machine, number: u32) -> Option<End> {
    let s = state();
    let value = s.gpr[gpr::RDX].get() << 32 | s.gpr[gpr::RAX].get() & 0xffff_ffff;
    let written = if is_local_apic(number) {
        write_local_apic(machine, number, value)
    } else {
        machine.msrs.write(number, value)
    };
    finish(s, written);
    None
}

fn write_local_apic(machine: &mut Machine, number: u32, value: u64) -> Result<(), GeneralProtection> {
    let before = machine.shared();
    let mut shared = before;
    let effect = machine.apic.write_msr(number, value, now(), &mut shared)?;
    shared.store(&before, state());
    machine.carry_out(effect);
    Ok(())
}
