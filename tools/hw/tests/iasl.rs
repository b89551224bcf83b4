//! What is read in MADT and FADT is what ACPICA's disassembler reads in them.
//!
//! It is not part of this repository: `./x test hw` fetches it, and names it in the environment.
//! Without it this test does nothing.

mod shapes;

use pillion_hw::machine::Machine;
use pillion_hw::tables::Tables;
use std::path::Path;
use std::process::Command;

/// The variable with the program's path.
const PROGRAM: &str = "PILLION_IASL";

/// A table as the disassembler writes it: names and values, in order.
fn disassembled(iasl: &str, folder: &Path, table: &[u8]) -> Vec<(String, String)> {
    std::fs::write(folder.join("table.dat"), table).unwrap();
    let output = Command::new(iasl).args(["-d", "table.dat"]).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = std::fs::read_to_string(folder.join("table.dsl")).unwrap();
    let text = text.split("Raw Table Data").next().unwrap_or_default();
    let field = |line: &str| {
        let (name, value) = line.split_once(" : ")?;
        let name = name.rsplit_once(']').map_or(name, |(_, name)| name);
        let value = value.trim().split(' ').next().unwrap_or_default();
        Some((name.trim().to_owned(), value.to_owned()))
    };
    text.lines().filter_map(field).collect()
}

fn hex(text: &str) -> u64 {
    u64::from_str_radix(text, 16).unwrap()
}

/// The entries of a MADT, each from its type on.
fn entries(fields: &[(String, String)]) -> impl Iterator<Item = &[(String, String)]> {
    let starts: Vec<usize> =
        fields.iter().enumerate().filter(|(_, (name, _))| name == "Subtable Type").map(|(i, _)| i).collect();
    let ends: Vec<usize> = starts.iter().skip(1).copied().chain([fields.len()]).collect();
    starts.into_iter().zip(ends).map(|(start, end)| &fields[start..end])
}

fn value(fields: &[(String, String)], name: &str) -> u64 {
    let found = fields.iter().find(|(other, _)| other == name).unwrap_or_else(|| panic!("no {name} in {fields:?}"));
    hex(&found.1)
}

fn compare_madt(fields: &[(String, String)], tables: &Tables) {
    let kernel = tables.as_the_kernel();
    let (mut processors, mut io_apics, mut overrides) = (Vec::new(), Vec::new(), Vec::new());
    for entry in entries(fields) {
        let number = |name| value(entry, name);
        let mut add = |id: u64| {
            if number("Processor Enabled") == 1 && !processors.contains(&(id as u32)) {
                processors.push(id as u32);
            }
        };
        match number("Subtable Type") {
            0 => add(number("Local Apic ID")),
            9 => add(number("Processor x2Apic ID")),
            1 => io_apics.push((number("Address") as u32, number("Interrupt") as u32)),
            2 => overrides.push((number("Source") as u8, number("Interrupt") as u32, number("Trigger Mode") == 3)),
            _ => {}
        }
    }
    assert_eq!(kernel.processors.as_slice(), processors);
    let found: Vec<_> = kernel.io_apics.as_slice().iter().map(|one| (one.address, one.first_line)).collect();
    assert_eq!(found, io_apics);
    let found: Vec<_> = kernel.overrides.as_slice().iter().map(|one| (one.isa, one.line, one.level)).collect();
    assert_eq!(found, overrides);
}

fn compare_fadt(fields: &[(String, String)], tables: &Tables) {
    let fadt = tables.fadt().unwrap();
    let port = |name| Some(value(fields, name) as u16).filter(|port| *port != 0);
    assert_eq!(fadt.command, port("SMI Command Port"));
    assert_eq!(fadt.pm1a_event, port("PM1A Event Block Address"));
    assert_eq!(fadt.pm1a_control, port("PM1A Control Block Address"));
    assert_eq!(tables.as_the_kernel().pm_timer, port("PM Timer Block Address").unwrap_or(0));
    assert_eq!(u64::from(fadt.sci), value(fields, "SCI Interrupt"));
    // Older tables end before it.
    if let Some(at) = fields.iter().position(|(name, _)| name == "Reset Register") {
        let register = &fields[at..];
        let is_port = value(fields, "Reset Register Supported (V2)") == 1 && value(register, "Space ID") == 1;
        let expected =
            is_port.then(|| (value(register, "Address") as u16, value(register, "Value to cause reset") as u8));
        assert_eq!(fadt.reset, expected);
    } else {
        assert_eq!(fadt.reset, None);
    }
}

#[test]
fn another_program_reads_the_same() {
    let Ok(iasl) = std::env::var(PROGRAM) else {
        eprintln!("{PROGRAM} names no disassembler: nothing is compared");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let mut compared = 0;
    for (name, shape) in shapes::all().into_iter().filter(|(name, _)| !["damaged", "not-root"].contains(name)) {
        let machine = Machine::read(&shape.0);
        let tables = machine.tables.unwrap_or_else(|why| panic!("{name}: {why}"));
        let fields = |file| disassembled(&iasl, folder.path(), shape.0.bytes(file).unwrap());
        compare_madt(&fields("acpi/APIC"), &tables);
        compare_fadt(&fields("acpi/FACP"), &tables);
        compared += 1;
    }
    assert_eq!(compared, 10);
}
