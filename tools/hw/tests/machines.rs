//! Machines of different makers' shapes get the verdicts that the kernel would give.

mod shapes;

use pillion_hw::judge::Verdict::{self, Missing, Ok, Unknown, Without};
use pillion_hw::judge::{Judgement, judge};
use pillion_hw::machine::Machine;
use pillion_hw::{losses, report, show};
use shapes::Shape;

fn judged(shape: &Shape) -> Judgement {
    judge(&Machine::read(&shape.0))
}

/// Checks the final line's beginning, and rows: name, verdict, and a part of what is there.
fn expect(shape: &Shape, verdict: &str, rows: &[(&str, Verdict, &str)]) {
    let judgement = judged(shape);
    assert!(judgement.verdict.starts_with(verdict), "{}", judgement.verdict);
    for (what, verdict, here) in rows {
        let row = judgement.rows.iter().find(|row| row.what == *what).unwrap_or_else(|| panic!("no row {what}"));
        assert_eq!(row.verdict, *verdict, "{row:?}");
        assert!(row.here.contains(here), "{row:?}");
    }
}

fn lost(shape: &Shape) -> Vec<String> {
    losses::of(&Machine::read(&shape.0)).into_iter().map(|loss| loss.what).collect()
}

#[test]
fn a_desktop() {
    let desktop = shapes::desktop();
    let rows = [
        ("SVM", Ok, "32768 ASIDs"),
        ("SVM switched on", Ok, "yes"),
        ("TSC frequency", Ok, "port 0x808"),
        ("processors", Without, "16 enabled, 8"),
        ("I/O APICs", Ok, "0xfec01000 from line 24"),
        ("IOMMU", Ok, "1 units, IVRS"),
        ("UART at COM2", Without, "only COM1"),
        ("memory", Ok, "29.0 GiB of it above 4 GiB"),
        ("stolen time", Ok, "none in 800 ms"),
    ];
    expect(&desktop, "Pillion runs here.", &rows);
    let lost = lost(&desktop);
    for what in [
        "ACPI table IVRS",
        "ACPI table HPET",
        "ACPI table MCFG",
        "port 0xb2, commands to the firmware",
        "port 0xcf9, reset",
        "port 0x804, sleep (PM1 control)",
        "ports 0x800 to 0x87f that the FADT does not name",
        "2 of 3 PCI functions are read-only",
        "CPUID: MONITOR, MWAIT",
    ] {
        assert!(lost.iter().any(|one| one == what), "{what} of {lost:?}");
    }
}

#[test]
fn a_server() {
    let rows = [
        ("processors", Without, "9 enabled, 5"),
        ("I/O APICs", Without, "from line 120"),
        ("IOMMU", Ok, "3 units"),
        ("UART at COM2", Ok, "yes"),
        ("memory", Without, "above 4 GiB"),
    ];
    expect(&shapes::server(), "Pillion runs here.", &rows);
    let judgement = judged(&shapes::server());
    let note = |what| judgement.rows.iter().find(|row| row.what == what).unwrap().note.clone().unwrap();
    assert!(note("processors").contains("255"), "{}", note("processors"));
    assert!(note("memory").contains("1.0 GiB from 16 TiB on are not used"), "{}", note("memory"));
    assert!(lost(&shapes::server()).contains(&"2 I/O APICs, from line 64 on".to_owned()));
}

#[test]
fn a_laptop() {
    let rows = [
        ("SVM switched on", Missing, "off"),
        ("boot", Unknown, "by UEFI, with secure boot"),
        ("UART at COM2", Without, "nor COM1"),
        ("stolen time", Without, "3 times in 800 ms, 27.0 µs at most"),
    ];
    let verdict = "Pillion does not run with Linux here, only real-time tasks alone: SVM is switched off: enable it";
    expect(&shapes::laptop(), verdict, &rows);
    let mut on = shapes::laptop();
    on.0.put("msr", "0xc0010114 0x8\n");
    let verdict = "Pillion runs here if these are as needed, which is not known: boot.";
    expect(&on, verdict, &[("SVM switched on", Ok, "yes")]);
    on.0.put("firmware", "boot uefi\n");
    expect(&on, "Pillion runs here.", &[("boot", Ok, "by UEFI")]);
}

#[test]
fn an_intel_machine() {
    let rows = [
        ("SVM", Missing, "no, but VMX"),
        ("VMX", Without, "EPT, EPT of 1 GiB, VPID, unrestricted guest, MSR bitmaps, preemption timer"),
        ("TSC frequency", Ok, "3408.000 MHz, by CPUID"),
        ("stolen time", Without, "2 SMIs counted"),
    ];
    let verdict = "Pillion does not run with Linux here, only real-time tasks alone: this version needs AMD's SVM;";
    expect(&shapes::intel(), verdict, &rows);
    let judgement = judged(&shapes::intel());
    let note = judgement.rows.iter().find(|row| row.what == "IOMMU").unwrap().note.clone().unwrap();
    assert!(note.contains("DMA protection"), "{note}");
    let mut off = shapes::intel();
    off.0.put("msr", "0x3a 0x1\n0x480 0x0\n0x481 0x0\n0x482 0x0\n");
    expect(&off, verdict, &[("VMX", Without, "switched off by the firmware")]);
    off.0.put("msr", "");
    expect(&off, verdict, &[("VMX", Unknown, "could not be read")]);
}

#[test]
fn a_machine_without_what_old_pcs_had() {
    let rows =
        [("TSC frequency", Unknown, "no ACPI timer"), ("UART at COM2", Without, "nor COM1"), ("HPET", Ok, "no table")];
    expect(
        &shapes::legacy_free(),
        "Pillion runs here if these are as needed, which is not known: TSC frequency.",
        &rows,
    );
    let lost = lost(&shapes::legacy_free());
    assert!(!lost.iter().any(|what| what.starts_with("port")), "its reset register is in memory: {lost:?}");
}

#[test]
fn an_old_server() {
    let rows = [
        ("FSGSBASE", Missing, "no"),
        ("x2APIC", Without, "xAPIC"),
        ("ARAT", Without, "no"),
        ("flush by ASID", Without, "no"),
        ("protections", Without, "no SMEP, SMAP, UMIP"),
        ("I/O APICs", Ok, "0xfec80000 from line 24"),
        ("UART at COM2", Ok, "yes"),
    ];
    expect(&shapes::old_server(), "Pillion runs here, but no tasks in C: the processor lacks FSGSBASE", &rows);
    assert!(!lost(&shapes::old_server()).iter().any(|what| what.ends_with("reset")));
}

#[test]
fn virtual_machines() {
    let rows = [
        ("real hardware", Without, "virtual (KVMKVMKVM)"),
        ("TSC frequency", Ok, "2400.000 MHz"),
        ("invariant TSC", Without, "no"),
        ("UART at COM2", Ok, "COM1 is Linux's"),
    ];
    expect(&shapes::virtual_with_svm(), "Pillion runs here.", &rows);
    let verdict = "Pillion does not run with Linux here, only real-time tasks alone: the hypervisor";
    expect(&shapes::virtual_without_svm(), verdict, &[("SVM", Missing, "no")]);
}

#[test]
fn damaged_tables() {
    let rows = [("ACPI tables", Without, "5 read"), ("processors", Ok, "one runs"), ("I/O APICs", Ok, "0xfec00000")];
    expect(&shapes::damaged(), "Pillion runs here.", &rows);
}

#[test]
fn torn_memory() {
    let rows = [
        ("memory at 2 MiB", Missing, "no"),
        ("below 640 KiB", Without, "no"),
        ("memory", Without, "of it above 4 GiB"),
    ];
    expect(&shapes::torn(), "Pillion does not run here: there is no memory from 2 to 8 MiB", &rows);
}

#[test]
fn a_processor_that_does_not_suffice() {
    let verdict = "Pillion does not run here: the processor lacks NX";
    expect(&shapes::without_nx(), verdict, &[("processor", Missing, "without NX")]);
    let mut far = shapes::old_server();
    far.0.put("msr", "0x1b 0x1fee00900\n0xc0010114 0x0\n");
    expect(&far, "Pillion does not run here: the local APIC's registers", &[("x2APIC", Missing, "no")]);
}

#[test]
fn somebody_who_is_not_root() {
    let rows = [
        ("SVM switched on", Unknown, "needs root"),
        ("ACPI tables", Unknown, "needs root"),
        ("IOMMU", Ok, "IVRS"),
        ("HPET", Ok, "withheld"),
    ];
    let verdict = "Pillion runs here if these are as needed, which is not known: TSC frequency, SVM switched on.";
    expect(&shapes::not_root(), verdict, &rows);
    assert!(lost(&shapes::not_root()).contains(&"ACPI table HPET".to_owned()));
    let mut with_kvm = shapes::not_root();
    with_kvm.0.put("firmware", "boot bios\nkvm yes\n");
    expect(&with_kvm, "Pillion runs here", &[("SVM switched on", Ok, "KVM uses it")]);
}

#[test]
fn tables_alone() {
    let mut tables = Shape::default();
    tables.0.put("facp.dat", shapes::PC.table());
    let rows = [("processor", Unknown, "no file cpuid"), ("ACPI tables", Ok, "1 read"), ("I/O APICs", Without, "MADT")];
    expect(&tables, "Pillion runs here if these are as needed, which is not known: processor, SVM,", &rows);
}

/// Eighty columns, and what a program reads agrees with what people do.
#[test]
fn reports_of_all() {
    for (name, shape) in shapes::all() {
        let (judgement, losses) = (judged(&shape), losses::of(&Machine::read(&shape.0)));
        let text = show::text(&judgement, &losses);
        for line in text.lines() {
            assert!(line.chars().count() <= 80 && !line.ends_with(' '), "{name}: {line:?}");
        }
        let json = report::json(&judgement, &losses);
        assert_eq!(json["runs"], judgement.runs(), "{name}");
        assert_eq!(json["rows"].as_array().unwrap().len(), judgement.rows.len());
        assert_eq!(json["withheld"].as_array().unwrap().len(), losses.len());
        for row in judgement.rows.iter().filter(|row| matches!(row.verdict, Missing | Without)) {
            assert!(row.note.is_some(), "{name}: {row:?} needs a note");
        }
    }
}
