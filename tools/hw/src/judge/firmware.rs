//! What the ACPI tables name: processors, I/O APICs, registers that are withheld.

use super::{Row, Stakes};
use crate::machine::Machine;
use crate::tables::Tables;
use pillion_core::x86_64::processor::{MAX_CPUS, reaches};
use pillion_firmware::acpi;

/// Lines that Linux can have: `pillion_vmm_devices` models so many.
pub const LINES: u32 = pillion_vmm_devices::ioapic::LINES as u32;

const IO_MMUS: [[u8; 4]; 3] = [*b"IVRS", *b"DMAR", *b"VIOT"];

pub fn rows(machine: &Machine) -> Vec<Row> {
    let read = machine.tables.as_ref().map(|tables| (tables, tables.as_the_kernel())).map_err(Clone::clone);
    vec![tables(&read), processors(&read), io_apics(&read), io_mmu(machine, &read), hpet(machine)]
}

type Read<'a> = Result<(&'a Tables, acpi::Tables), String>;

fn tables(read: &Read) -> Row {
    let row = Row::new("ACPI tables", "interrupts, time", Stakes::Nothing);
    match read {
        Err(why) => row.unknown(why),
        Ok((tables, found)) => match found.registers.lost() + found.io_apics.lost() {
            0 => row.ok(format!("{} read", tables.count())),
            lost => row.not(
                format!("{} read", tables.count()),
                format!(
                    "{lost} tables, or registers that they name, are damaged or too many: Linux has those registers"
                ),
            ),
        },
    }
}

fn processors(read: &Read) -> Row {
    let row = Row::new("processors", "tasks, Linux", Stakes::Nothing);
    let found = match read {
        Err(why) => return row.unknown(why),
        Ok((_, found)) => found,
    };
    let named = found.processors.as_slice();
    let all = named.len() + found.processors.lost();
    let reachable = named.iter().filter(|apic| reaches(**apic)).count();
    let run = reachable.min(MAX_CPUS);
    let here = format!("{all} enabled, {run} of them can run");
    match all {
        0 => row.ok("no table names any: one runs"),
        _ if run == all => row.ok(here),
        _ if reachable > run => row.not(here, format!("{} processors stay off: at most {MAX_CPUS} run", all - run)),
        _ => row.not(here, "processors whose local APIC has number 255 or above stay off: devices cannot address them"),
    }
}

fn io_apics(read: &Read) -> Row {
    let row = Row::new("I/O APICs", "interrupt lines", Stakes::Nothing);
    let found = match read {
        Err(why) => return row.unknown(why),
        Ok((tables, _)) if !tables.has(*b"APIC") => {
            return row.not("no table (MADT)", "the kernel tries the customary one, at 0xfec00000");
        }
        Ok((_, found)) => found.io_apics.as_slice(),
    };
    let places: Vec<String> =
        found.iter().map(|one| format!("{:#x} from line {}", one.address, one.first_line)).collect();
    let high = found.iter().filter(|one| one.first_line >= LINES).count();
    match high {
        0 => row.ok(places.join(", ")),
        _ => {
            row.not(places.join(", "), format!("lines from {LINES} on are not Linux's: {high} I/O APICs are withheld"))
        }
    }
}

fn hpet(machine: &Machine) -> Row {
    let row = Row::new("HPET", "nothing", Stakes::Nothing);
    match (machine.has_table(*b"HPET"), names_are_known(machine)) {
        (true, _) => row.ok("yes; withheld from Linux"),
        (false, Ok(())) => row.ok("no table names one"),
        (false, Err(why)) => row.unknown(why),
    }
}

/// Whether the tables are known, at least by their names.
fn names_are_known(machine: &Machine) -> Result<(), &str> {
    let unknown = machine.tables.as_ref().err().filter(|_| machine.table_names.is_empty());
    unknown.map_or(Ok(()), |why| Err(why))
}

fn io_mmu(machine: &Machine, read: &Read) -> Row {
    let row = Row::new("IOMMU", "nothing yet", Stakes::Nothing);
    let tables: Vec<String> = IO_MMUS
        .iter()
        .filter(|name| machine.has_table(**name))
        .map(|name| String::from_utf8_lossy(name).into_owned())
        .collect();
    let confined = "no IOMMU is used, so Linux's devices can write any memory";
    if tables.is_empty() {
        let row = match names_are_known(machine) {
            Ok(()) => row.ok("no table names one"),
            Err(why) => row.unknown(why),
        };
        return row.noting(confined);
    }
    let units = read.as_ref().map_or(0, |(_, found)| found.io_mmus.as_slice().len());
    let count = if units == 0 { String::new() } else { format!("{units} units, ") };
    let wants = read.as_ref().is_ok_and(|(tables, _)| wants_protection(tables));
    let also = if wants {
        ". The firmware asks for protection at boot (DMAR): switch DMA protection off in its set-up"
    } else {
        ""
    };
    row.ok(format!("{count}{}; withheld from Linux", tables.join(", "))).noting(format!("{confined}{also}"))
}

/// The flag of the DMAR by which firmware asks that devices be confined from the beginning (VT-d
/// 4.0, 8.1): it may leave the IOMMU on.
fn wants_protection(tables: &Tables) -> bool {
    const OPT_IN: u8 = 1 << 2;
    tables.bytes_of(*b"DMAR").and_then(|table| table.get(37)).is_some_and(|flags| flags & OPT_IN != 0)
}
