//! The processor, apart from virtualisation.

use super::{Row, Stakes};
use crate::cpuid::Cpuid;
use crate::machine::{Known, Machine, register};
use crate::tables::Tables;
use pillion_core::x86_64::processor::{
    self as rules, FSGSBASE, HUGE_PAGES, INVARIANT_TSC, Leaf, SMAP, SMEP, UMIP, X2APIC,
};
use pillion_firmware::ALWAYS_MAPPED;

/// CPUID as the rules want it.
pub fn of(cpuid: &Cpuid) -> impl Fn(u32, u32) -> Leaf + Copy + '_ {
    |leaf, subleaf| cpuid.leaf(leaf, subleaf)
}

pub fn rows(machine: &Machine) -> Vec<Row> {
    let cpuid = match &machine.cpuid {
        Ok(cpuid) => cpuid,
        Err(why) => return vec![Row::new("processor", "everything", Stakes::Everything).unknown(why)],
    };
    let has = |feature| rules::detect(of(cpuid)) & feature != 0;
    let protections = [(SMEP, "SMEP"), (SMAP, "SMAP"), (UMIP, "UMIP")];
    let named = |wanted: bool| -> Vec<&str> {
        protections.iter().filter(|(bit, _)| has(*bit) == wanted).map(|(_, name)| *name).collect()
    };
    let protected = Row::new("protections", "the kernel's safety", Stakes::Nothing);
    vec![
        basics(cpuid),
        Row::new("FSGSBASE", "tasks in C", Stakes::TasksInC).either(
            has(FSGSBASE),
            "yes",
            "the processor lacks FSGSBASE, which the runtime of tasks in C needs: use a newer one",
        ),
        match named(false).as_slice() {
            [] => protected.ok(named(true).join(", ")),
            lacking => protected
                .not(format!("no {}", lacking.join(", ")), "the kernel is less protected against its own errors"),
        },
        Row::new("1 GiB pages", "devices above 4 GiB", Stakes::Nothing).either(
            has(HUGE_PAGES),
            "yes",
            "devices whose memory lies above 4 GiB do not work: place them below in the firmware's set-up",
        ),
        local_apic(cpuid, &machine.register(register::APIC_BASE)),
        Row::new("invariant TSC", "time", Stakes::Nothing).either(
            has(INVARIANT_TSC),
            "yes",
            "the time-stamp counter may change its speed, or stop: time is wrong then. The kernel does not refuse \
             such a machine; in an emulator or a virtual machine the counter is usually even all the same",
        ),
        frequency(machine, cpuid),
        Row::new("ARAT", "timer while idle", Stakes::Nothing).either(
            cpuid.has(6, 0, 2),
            "yes",
            "the processor does not say that its timer runs in all sleep states. Pillion sleeps by HLT only: switch \
             enhanced halt (C1E) off in the firmware's set-up, in which the timer may stop",
        ),
    ]
}

fn basics(cpuid: &Cpuid) -> Row {
    const LONG_MODE: u32 = 29;
    let row = Row::new("processor", "everything", Stakes::Everything);
    let is_long = cpuid.has(0x8000_0001, 3, LONG_MODE);
    let lacks: Vec<&str> = (!is_long).then_some("64-bit mode").into_iter().chain(rules::missing(of(cpuid))).collect();
    match lacks.as_slice() {
        [] => row.ok(cpuid.model()),
        _ => row.not(
            format!("{}, without {}", cpuid.model(), lacks.join(", ")),
            format!("the processor lacks {}: use a newer one", lacks.join(", ")),
        ),
    }
}

fn local_apic(cpuid: &Cpuid, base: &Known<Option<u64>>) -> Row {
    const ADDRESS: u64 = 0x000f_ffff_ffff_f000;
    let row = Row::new("x2APIC", "short paths", Stakes::Nothing);
    let is_far = matches!(base, Ok(Some(base)) if base & ADDRESS >= ALWAYS_MAPPED);
    if rules::detect(of(cpuid)) & X2APIC != 0 {
        return row.ok("yes");
    }
    if is_far {
        let note = "the local APIC's registers are above 4 GiB, out of reach: the firmware must place them below";
        return Row { stakes: Stakes::Everything, ..row }.not("no", note);
    }
    row.not(
        "no, xAPIC",
        "each end of an interrupt and each timer is an access to memory-mapped registers, which takes longer",
    )
}

fn frequency(machine: &Machine, cpuid: &Cpuid) -> Row {
    let row = Row::new("TSC frequency", "time", Stakes::Everything);
    if let Some(hz) = rules::told_tsc_hz(of(cpuid)) {
        return row.ok(format!("{}.{:03} MHz, by CPUID", hz / 1_000_000, hz / 1000 % 1000));
    }
    let tables = match &machine.tables {
        Err(why) => return row.unknown(format!("not told by CPUID; ACPI tables: {why}")),
        Ok(tables) => tables,
    };
    match tables.as_the_kernel().pm_timer {
        0 if has_legacy_devices(tables) => row.ok("measured with the 8254"),
        0 => row.unknown("no ACPI timer, perhaps no 8254").noting(
            "CPUID does not tell the frequency, and the FADT names no timer and no devices of old PCs: without an 8254 \
             the kernel stops (a clock stands still)",
        ),
        port => row.ok(format!("measured with the ACPI timer, port {port:#x}")),
    }
}

/// Whether the FADT says that the machine has the devices of old PCs (ACPI 6.4, 5.2.9.3). One from
/// before that flag is of such a machine.
fn has_legacy_devices(tables: &Tables) -> bool {
    const REVISION: usize = 8;
    const FLAGS: usize = 109;
    let Some(fadt) = tables.bytes_of(*b"FACP") else { return true };
    let flags = fadt.get(FLAGS).filter(|_| fadt.get(REVISION).is_some_and(|revision| *revision >= 2));
    flags.is_none_or(|flags| flags & 1 != 0)
}
