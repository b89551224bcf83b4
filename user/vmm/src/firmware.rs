//! What the monitor reads from the firmware's tables. It reads them once, because Linux can write
//! them afterwards.

use pillion_runtime::{
    info::{LinuxInfo, monitor::PROCESSORS},
    println,
};
use pillion_vmm_devices::{
    acpi::{Copy, Error, Processor, RootPointer, Tables, io_mmu_functions},
    ioapic::IoApics,
    pci::{Filter, Function},
    power::Fadt,
    withheld::{TABLES, Withheld},
};

use crate::{host, window::Window};

/// Most I/O APICs whose addresses are compared.
const IO_APICS: usize = pillion_abi::boot::IO_APICS;

/// What the tables say.
pub struct Found {
    /// The FADT, or an empty one.
    pub fadt: Fadt,
    /// The tables for Linux to find.
    pub tables: Option<Copy>,
}

/// Reads the tables, hides IOMMUs, and switches the machine to ACPI mode: Linux cannot ask the
/// firmware for that.
pub fn find(memory: &Window, info: &LinuxInfo, io_apics: &IoApics, pci: &mut Filter) -> Found {
    let mut pointer: RootPointer = [0; 36];
    pointer.copy_from_slice(&info.root_pointer[..36]);
    let fadt = Tables::find(memory, &pointer).and_then(|tables| {
        for id in io_mmu_functions(memory, &tables) {
            let _ = pci.hide(Function::from_id(id));
        }
        Fadt::find(memory, &tables)
    });
    let mut addresses = [0; IO_APICS];
    for (to, address) in addresses.iter_mut().zip(io_apics.addresses()) {
        *to = address as u32;
    }
    let mut own = [Processor::default(); PROCESSORS];
    for (to, apic_id) in own.iter_mut().zip(info.processors()) {
        to.apic_id = *apic_id;
    }
    let tables = Copy::new(memory, &pointer, &own[..info.processors().len()], &addresses);
    say(&tables);
    let fadt = fadt.unwrap_or_default();
    if !host::enable_acpi(&fadt) {
        println!(
            "[vmm] the firmware does not enter ACPI mode: Linux will have no power button and no other ACPI events"
        );
    }
    Found { fadt, tables: tables.ok() }
}

fn say(tables: &Result<Copy, Error>) {
    match tables {
        Err(error) => println!("[vmm] Linux gets no ACPI tables: {error:?}; it looks for the firmware's by itself"),
        Ok(copy) => {
            let withheld = TABLES.iter().enumerate().filter(|(i, _)| copy.withheld >> i & 1 != 0);
            for (_, Withheld { what: name, why, .. }) in withheld {
                println!("[vmm] Linux does not find {}: {why}", core::str::from_utf8(name).unwrap_or("?"));
            }
            if copy.dropped != 0 {
                println!("[vmm] Linux does not find {} more tables: there are too many", copy.dropped);
            }
            if copy.madt_lost != 0 {
                println!(
                    "[vmm] Linux does not find {} bytes of the MADT: they are damaged, or too many",
                    copy.madt_lost
                );
            }
        }
    }
}
