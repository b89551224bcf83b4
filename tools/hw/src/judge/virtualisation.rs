//! AMD's and Intel's virtualisation.

use super::{Row, Stakes};
use crate::cpuid::Cpuid;
use crate::judge::processor::of;
use crate::machine::{Known, Machine, register};
use pillion_core::x86_64::svm;

/// Leaf 1, ECX, bit 5.
const VMX: (u32, usize, u32) = (1, 2, 5);
/// Leaf 0x80000001, ECX, bit 2.
const SVM: (u32, usize, u32) = (0x8000_0001, 2, 2);

pub fn rows(machine: &Machine) -> Vec<Row> {
    let virtualisation = Row::new("SVM", "Linux", Stakes::Linux);
    let Ok(cpuid) = &machine.cpuid else { return vec![virtualisation.unknown("CPUID is not known")] };
    let (has_svm, has_vmx) = (cpuid.has(SVM.0, SVM.1, SVM.2), cpuid.has(VMX.0, VMX.1, VMX.2));
    if !has_svm {
        let mut rows = vec![missing(virtualisation, cpuid, has_vmx)];
        rows.extend(has_vmx.then(|| vmx(machine)));
        return rows;
    }
    let vm_cr = machine.register(svm::VM_CR);
    let on = switched_on(machine, cpuid, &vm_cr);
    let offer = match svm::offer(of(cpuid), || 0) {
        Err(remedy) => return vec![virtualisation.not("yes, but not enough", remedy), on],
        Ok(offer) => offer,
    };
    vec![
        virtualisation.ok(format!("yes, nested paging, {} ASIDs", offer.asids)),
        on,
        Row::new("next RIP", "exits of Linux", Stakes::Nothing).either(
            offer.next_rip,
            "yes",
            "the lengths of Linux's instructions that exit are assumed: one with a prefix is skipped wrongly",
        ),
        Row::new("flush by ASID", "exits of Linux", Stakes::Nothing).either(
            offer.flush_by_asid,
            "yes",
            "a change of Linux's memory drops all translations of the processor, not only Linux's",
        ),
    ]
}

/// Without SVM. What Pillion says itself is about QEMU as well, so a processor with VMX gets words
/// of its own.
fn missing(row: Row, cpuid: &Cpuid, has_vmx: bool) -> Row {
    let remedy = svm::offer(of(cpuid), || 0).err().unwrap_or_default();
    if has_vmx {
        let note = "this version needs AMD's SVM; Intel's VMX, which this processor has, is not supported yet";
        return row.not("no, but VMX", note);
    }
    match cpuid.hypervisor() {
        Some(name) => row.not(
            "no",
            format!("the hypervisor ({name}) offers no SVM to its guests: switch nested virtualisation on, or use the machine itself"),
        ),
        None => row.not("no", remedy),
    }
}

/// Whether the firmware left it on: the register says so, or KVM, which could not start otherwise.
fn switched_on(machine: &Machine, cpuid: &Cpuid, vm_cr: &Known<Option<u64>>) -> Row {
    let row = Row::new("SVM switched on", "Linux", Stakes::Linux);
    match vm_cr {
        Ok(Some(value)) => match svm::offer(of(cpuid), || *value) {
            Err(remedy) if svm::offer(of(cpuid), || 0).is_ok() => row.not("off", remedy),
            _ => row.ok("yes"),
        },
        _ if machine.firmware.kvm => row.ok("yes: KVM uses it"),
        Ok(None) => row.unknown("the register VM_CR could not be read"),
        Err(why) => row.unknown(why),
    }
}

/// What VMX offers, for the version that will use it (Intel SDM vol. 3, A.3 and A.10).
fn vmx(machine: &Machine) -> Row {
    const TRUE_CONTROLS: u64 = 1 << 55;
    let row = Row::new("VMX", "not used yet", Stakes::Nothing);
    let read = |number| machine.register(number).map(Option::unwrap_or_default);
    let read_all = || -> Known<String> {
        let control = read(register::FEATURE_CONTROL)?;
        let has_true = read(register::VMX_BASIC)? & TRUE_CONTROLS != 0;
        // The upper half of a register says which controls may be on.
        let may = |number, with: u32| read(if has_true { with } else { number }).map(|value| (value >> 32) as u32);
        let pin = may(register::VMX_PINBASED, register::VMX_TRUE_PINBASED)?;
        let first = may(register::VMX_PROCBASED, register::VMX_TRUE_PROCBASED)?;
        let second = if first >> 31 == 1 { (read(register::VMX_PROCBASED2)? >> 32) as u32 } else { 0 };
        let ept = read(register::VMX_EPT_VPID)?;
        let features = [
            ("EPT", second >> 1 & 1),
            ("EPT of 1 GiB", (ept >> 17 & 1) as u32),
            ("VPID", second >> 5 & 1),
            ("unrestricted guest", second >> 7 & 1),
            ("MSR bitmaps", first >> 28 & 1),
            ("preemption timer", pin >> 6 & 1),
        ];
        let list = |wanted| -> Vec<&str> {
            features.iter().filter(|(_, bit)| *bit == wanted).map(|(name, _)| *name).collect()
        };
        let lacking = list(0);
        let without = if lacking.is_empty() { String::new() } else { format!("; no {}", lacking.join(", ")) };
        // Locked, and not on outside of SMX.
        let off = if control & 5 == 1 { "; switched off by the firmware" } else { "" };
        Ok(format!("{}{without}{off}", list(1).join(", ")))
    };
    let note = "VMX is listed for a later version: nothing here says that Pillion works with it";
    match (&machine.registers, read_all()) {
        (Ok(all), Ok(_)) if !all.contains_key(&register::VMX_BASIC) => {
            row.unknown("yes; its registers could not be read").noting(note)
        }
        (_, Ok(features)) => row.not(features, note),
        (_, Err(why)) => row.unknown(format!("yes; its features: {why}")).noting(note),
    }
}
