//! Serial ports, the boot loader's world, a hypervisor, time that is stolen.

use super::{Row, Stakes};
use crate::machine::Machine;

/// First ports of COM1 and COM2.
const COM1: u64 = 0x3f8;
const COM2: u64 = 0x2f8;

pub fn rows(machine: &Machine) -> Vec<Row> {
    let mut rows = vec![uart(machine), boot(machine)];
    if let Some(name) = machine.cpuid.as_ref().ok().and_then(|cpuid| cpuid.hypervisor()) {
        let note = "this is a virtual machine: its hypervisor can take any time, and no figure of it says anything of \
                    hardware";
        rows.push(Row::new("real hardware", "real time", Stakes::Nothing).not(format!("virtual ({name})"), note));
    }
    rows.push(stolen(machine));
    rows
}

fn uart(machine: &Machine) -> Row {
    let row = Row::new("UART at COM2", "the log", Stakes::Nothing);
    let uarts = match &machine.uarts {
        Ok(uarts) => uarts,
        Err(why) => return row.unknown(why),
    };
    let has = |port| uarts.iter().any(|uart| uart.port == port && uart.kind != 0);
    match (has(COM2), has(COM1)) {
        (true, true) => row.ok("yes; COM1 is Linux's"),
        (true, false) => row.ok("yes"),
        (false, true) => row.not(
            "no, only COM1",
            "the log goes to memory and to Linux; `log=com1` sends it to COM1, and Linux has no serial console then",
        ),
        (false, false) => {
            row.not("no, nor COM1", "the log goes to memory and to Linux: if the boot fails, nobody sees why")
        }
    }
}

fn boot(machine: &Machine) -> Row {
    let row = Row::new("boot", "starting", Stakes::Everything);
    match machine.firmware.uefi {
        None => row.unknown("there is no file firmware"),
        Some(false) => row.ok("by a BIOS"),
        Some(true) if machine.firmware.secure => row
            .unknown("by UEFI, with secure boot")
            .noting("switch secure boot off in the firmware's set-up: the kernel is not signed"),
        Some(true) => row.ok("by UEFI"),
    }
}

fn stolen(machine: &Machine) -> Row {
    let row = Row::new("stolen time", "bounds of time", Stakes::Nothing);
    let found = match &machine.stolen {
        Ok(found) if found.looked_us != 0 => found,
        Ok(_) => return row.unknown("an interrupt came all the time"),
        Err(why) => return row.unknown(why),
    };
    let counted = found.counted.map_or(String::new(), |count| format!("; {count} SMIs counted"));
    let looked = found.looked_us / 1000;
    if found.gaps == 0 && found.counted.unwrap_or(0) == 0 {
        return row.ok(format!("none in {looked} ms{counted}"));
    }
    let longest = format!("{}.{} µs", found.longest_ns / 1000, found.longest_ns % 1000 / 100);
    row.not(
        format!("{} times in {looked} ms, {longest} at most{counted}", found.gaps),
        "the firmware (SMIs) or a hypervisor took the processor, which no bound includes: look longer with \
         `pillion-measure run smi --seconds 600`",
    )
}
