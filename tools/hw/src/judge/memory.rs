//! Memory.

use super::{Row, Stakes};
use crate::machine::Machine;
use crate::memory::{IMAGE, draw};
use crate::tables::Tables;
use pillion_core::x86_64::processor;
use pillion_firmware::PHYSICAL_LIMIT;

pub fn rows(machine: &Machine) -> Vec<Row> {
    let image = Row::new("memory at 2 MiB", "the kernel", Stakes::Everything);
    let map = match &machine.memory {
        Ok(map) if !map.is_empty() => map,
        Ok(_) => return vec![image.unknown("Linux's map is empty")],
        Err(why) => return vec![image.unknown(why)],
    };
    let nothing = Tables::place(&[]);
    let tables = machine.tables.as_ref().unwrap_or(&nothing).as_the_kernel();
    let cpuid = machine.cpuid.as_ref().ok();
    let memory = draw(map, cpuid, &tables);
    let mut rows = vec![
        image.either(
            memory.has_image,
            "yes",
            &format!("there is no memory from {} to {} MiB, where the kernel is loaded", IMAGE.0 >> 20, IMAGE.1 >> 20),
        ),
        Row::new("below 640 KiB", "other processors", Stakes::Nothing).either(
            memory.has_real_mode,
            "yes",
            "there is no free page below 640 KiB, where other processors begin: only the first one runs",
        ),
        amount(&memory),
    ];
    if memory.tables_high {
        let note = "tables that lie above 4 GiB are not read by the kernel: Linux has the registers that they name";
        rows.push(Row::new("tables' place", "withholding", Stakes::Nothing).not("ACPI memory above 4 GiB", note));
    }
    let no_reach = cpuid.is_some_and(|cpuid| processor::device_reach(|leaf, sub| cpuid.leaf(leaf, sub)).is_none());
    if memory.devices_high && no_reach {
        let note = "devices there do not work, as the processor has no pages of 1 GiB";
        rows.push(Row::new("high devices", "devices", Stakes::Nothing).not("above 4 GiB", note));
    }
    rows
}

fn amount(memory: &crate::memory::Memory) -> Row {
    let row = Row::new("memory", "tasks, Linux", Stakes::Nothing);
    let here = format!("{}, {} of it above 4 GiB; {} ranges", size(memory.ram), size(memory.high), memory.ranges);
    let (ranges, bytes) = memory.forgotten;
    let mut notes = Vec::new();
    if memory.unread != 0 || ranges != 0 {
        let entries = memory.unread;
        notes.push(format!(
            "the map is too long: {entries} entries not read, {ranges} ranges ({}) not used",
            size(bytes)
        ));
    }
    if memory.beyond != 0 {
        notes.push(format!("{} from {} on are not used", size(memory.beyond), size(PHYSICAL_LIMIT)));
    }
    if notes.is_empty() { row.ok(here) } else { row.not(here, notes.join("; ")) }
}

/// A number of bytes for people.
fn size(bytes: u64) -> String {
    match bytes {
        0 => "none".into(),
        1..0x10_0000 => format!("{} KiB", bytes >> 10),
        0x10_0000..0x4000_0000 => format!("{} MiB", bytes >> 20),
        _ if bytes >> 40 != 0 && bytes & 0xff_ffff_ffff == 0 => format!("{} TiB", bytes >> 40),
        _ => format!("{}.{} GiB", bytes >> 30, (bytes >> 20 & 1023) * 10 / 1024),
    }
}
