//! The ACPI tables that matter: interrupt controllers (MADT), the power-management timer (FADT) and the window of PCI's configuration
//! space (MCFG).
//!
//! The tables are the firmware's. Every length is checked, every loop is bounded, and what makes no sense is left out.

use pillion_abi::boot::PciWindow;

use crate::bytes::{Memory, sums_to_zero, u16_at, u32_at, u64_at};

/// Most I/O APICs.
pub const IO_APICS: usize = 8;
/// Most interrupt source overrides: one for each line of the ISA bus.
pub const OVERRIDES: usize = 16;
/// Most bytes of a table that are looked at.
const TABLE_LIMIT: u32 = 1 << 20;
/// Most tables that are looked at.
const TABLES: usize = 128;

/// An I/O APIC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IoApic {
    /// Physical address.
    pub address: u32,
    /// Number of its first line among all lines.
    pub first_line: u32,
}

/// Where a line of the ISA bus really is, and how it behaves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Override {
    /// Line of the ISA bus.
    pub isa: u8,
    /// Line among those of all I/O APICs.
    pub line: u32,
    /// Level-triggered.
    pub level: bool,
    /// Active low.
    pub low: bool,
}

/// A list with room for `N`.
#[derive(Clone, Copy, Debug)]
pub struct List<T, const N: usize> {
    items: [T; N],
    count: usize,
}

impl<T: Copy + Default, const N: usize> List<T, N> {
    fn new() -> Self {
        List { items: [T::default(); N], count: 0 }
    }

    /// Appends an item if there is room.
    fn push(&mut self, item: T) {
        if let Some(free) = self.items.get_mut(self.count) {
            *free = item;
            self.count += 1;
        }
    }

    /// The items.
    #[must_use]
    pub fn as_slice(&self) -> &[T] {
        self.items.get(..self.count).unwrap_or(&[])
    }
}

/// What the tables say.
#[derive(Clone, Copy, Debug)]
pub struct Tables {
    /// The I/O APICs; the customary one when there is no MADT.
    pub io_apics: List<IoApic, IO_APICS>,
    /// Interrupt source overrides.
    pub overrides: List<Override, OVERRIDES>,
    /// CPUs that are enabled.
    pub cpus: usize,
    /// Port of the power-management timer, or 0.
    pub pm_timer: u16,
    /// Where the configuration space of PCI's first segment is mapped; all zeros when it is not.
    pub pci_window: PciWindow,
}

/// Reads the tables that the root pointer at that address leads to.
pub fn read(memory: &impl Memory, rsdp: u64) -> Tables {
    let mut tables = Tables {
        io_apics: List::new(),
        overrides: List::new(),
        cpus: 0,
        pm_timer: 0,
        pci_window: PciWindow::default(),
    };
    if rsdp != 0 {
        let _ = walk(memory, rsdp, &mut tables);
    }
    tables.cpus = tables.cpus.max(1);
    if tables.io_apics.as_slice().is_empty() {
        tables.io_apics.push(IoApic { address: 0xfec0_0000, first_line: 0 });
    }
    tables
}

fn walk(memory: &impl Memory, rsdp: u64, tables: &mut Tables) -> Option<()> {
    const OLD: usize = 20;
    const NEW: usize = 36;
    let pointer = memory.bytes(rsdp, OLD)?;
    if !pointer.starts_with(b"RSD PTR ") || !sums_to_zero(pointer) {
        return None;
    }
    let new = memory.bytes(rsdp, NEW).filter(|all| pointer.get(15).is_some_and(|v| *v >= 2) && sums_to_zero(all));
    let extended = new.and_then(|all| u64_at(all, 24)).and_then(|address| table(memory, address));
    if let Some(root) = extended.filter(|root| root.starts_with(b"XSDT")) {
        for i in 0..TABLES {
            read_table(memory, u64_at(root, HEADER + i * 8)?, tables);
        }
        return Some(());
    }
    let root = table(memory, u32_at(pointer, 16)?.into()).filter(|root| root.starts_with(b"RSDT"))?;
    for i in 0..TABLES {
        read_table(memory, u32_at(root, HEADER + i * 4)?.into(), tables);
    }
    Some(())
}

const HEADER: usize = 36;

/// A table with a right checksum.
fn table(memory: &impl Memory, address: u64) -> Option<&[u8]> {
    let length = u32_at(memory.bytes(address, HEADER)?, 4)?;
    if length > TABLE_LIMIT {
        return None;
    }
    memory.bytes(address, length as usize).filter(|all| all.len() >= HEADER && sums_to_zero(all))
}

fn read_table(memory: &impl Memory, address: u64, tables: &mut Tables) {
    let Some(table) = table(memory, address) else { return };
    if table.starts_with(b"APIC") {
        let _ = read_madt(table, tables);
    } else if table.starts_with(b"FACP") {
        let port = u32_at(table, 76).and_then(|port| u16::try_from(port).ok());
        tables.pm_timer = port.unwrap_or(0);
    } else if table.starts_with(b"MCFG") {
        let _ = read_mcfg(table, tables);
    }
}

/// The first entry of segment 0 that can be (PCI Firmware Specification 3.3, 4.1.2).
fn read_mcfg(table: &[u8], tables: &mut Tables) -> Option<()> {
    const ENTRY: usize = 16;
    for i in 0..TABLES {
        let entry = table.get(HEADER + 8 + i * ENTRY..)?.get(..ENTRY)?;
        let (base, segment) = (u64_at(entry, 0)?, u16_at(entry, 8)?);
        let (first_bus, last_bus) = (*entry.get(10)?, *entry.get(11)?);
        if segment == 0 && first_bus <= last_bus && base.is_multiple_of(1 << 20) && base != 0 {
            tables.pci_window = PciWindow { base, first_bus: first_bus.into(), last_bus: last_bus.into() };
            return Some(());
        }
    }
    Some(())
}

fn read_madt(table: &[u8], tables: &mut Tables) -> Option<()> {
    const ENABLED: u32 = 1;
    let mut offset = HEADER + 8;
    loop {
        let kind = *table.get(offset)?;
        let length = usize::from(*table.get(offset + 1)?);
        let entry = table.get(offset..offset + length)?;
        match kind {
            0 if u32_at(entry, 4)? & ENABLED != 0 => tables.cpus += 1,
            1 => tables.io_apics.push(IoApic { address: u32_at(entry, 4)?, first_line: u32_at(entry, 8)? }),
            2 => tables.overrides.push(read_override(entry)?),
            9 if u32_at(entry, 8)? & ENABLED != 0 => tables.cpus += 1,
            _ => {}
        }
        // An entry without a length would hold us here for good.
        offset += length.max(2);
    }
}

/// Lines of the ISA bus are edge-triggered and active high unless an override says otherwise.
fn read_override(entry: &[u8]) -> Option<Override> {
    let flags = u16_at(entry, 8)?;
    Some(Override { isa: *entry.get(3)?, line: u32_at(entry, 4)?, level: flags >> 2 & 3 == 3, low: flags & 3 == 3 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec;
    use std::vec::Vec;

    struct Flat(Vec<u8>);

    impl Memory for Flat {
        fn bytes(&self, address: u64, length: usize) -> Option<&[u8]> {
            let start = usize::try_from(address).ok()?;
            self.0.get(start..start.checked_add(length)?)
        }
    }

    fn put(memory: &mut Flat, at: usize, bytes: &[u8]) {
        memory.0[at..at + bytes.len()].copy_from_slice(bytes);
    }

    fn seal(memory: &mut Flat, at: usize, length: usize, sum_at: usize) {
        memory.0[at + sum_at] = 0;
        let sum = memory.0[at..at + length].iter().fold(0u8, |s, b| s.wrapping_add(*b));
        memory.0[at + sum_at] = 0u8.wrapping_sub(sum);
    }

    fn header(memory: &mut Flat, at: usize, name: &[u8; 4], body: &[u8]) {
        put(memory, at, name);
        put(memory, at + 4, &((HEADER + body.len()) as u32).to_le_bytes());
        put(memory, at + HEADER, body);
        seal(memory, at, HEADER + body.len(), 9);
    }

    fn machine() -> Flat {
        let mut m = Flat(vec![0; 4096]);
        put(&mut m, 16, b"RSD PTR ");
        put(&mut m, 32, &0x100u32.to_le_bytes());
        seal(&mut m, 16, 20, 8);
        header(&mut m, 0x100, b"RSDT", &[0, 2, 0, 0, 0, 4, 0, 0, 0, 5, 0, 0]);
        let mut madt = vec![0u8; 8];
        madt.extend([0, 8, 0, 0, 1, 0, 0, 0]);
        madt.extend([0, 8, 1, 1, 0, 0, 0, 0]);
        madt.extend([1, 12, 0, 0, 0, 0, 0xc0, 0xfe, 0, 0, 0, 0]);
        madt.extend([2, 10, 0, 9, 9, 0, 0, 0, 0x0d, 0]);
        madt.extend([2, 10, 0, 0, 2, 0, 0, 0, 0, 0]);
        header(&mut m, 0x200, b"APIC", &madt);
        let mut fadt = vec![0u8; 60];
        fadt[40..44].copy_from_slice(&0x608u32.to_le_bytes());
        header(&mut m, 0x400, b"FACP", &fadt);
        let mut mcfg = vec![0u8; 8];
        mcfg.extend([0, 0, 0, 0xc0, 0, 0, 0, 0, 1, 0, 0, 255, 0, 0, 0, 0]);
        mcfg.extend([0, 0, 0, 0xb0, 0, 0, 0, 0, 0, 0, 0, 255, 0, 0, 0, 0]);
        header(&mut m, 0x500, b"MCFG", &mcfg);
        m
    }

    #[test]
    fn finds_controllers_and_timer() {
        let t = read(&machine(), 16);
        assert_eq!(t.cpus, 1);
        assert_eq!(t.pm_timer, 0x608);
        assert_eq!(t.pci_window, PciWindow { base: 0xb000_0000, first_bus: 0, last_bus: 255 }, "segment 0 only");
        assert_eq!(t.pci_window.page(0x900), Some(0xb000_0000 + (0x900 << 12)));
        assert_eq!(t.io_apics.as_slice(), [IoApic { address: 0xfec0_0000, first_line: 0 }]);
        assert_eq!(t.overrides.as_slice()[0], Override { isa: 9, line: 9, level: true, low: false });
        assert_eq!(t.overrides.as_slice()[1], Override { isa: 0, line: 2, level: false, low: false });
    }

    #[test]
    fn garbage_is_survived() {
        let mut seed = 7u64;
        for round in 0..20_000u32 {
            let mut m = machine();
            for _ in 0..1 + round % 8 {
                seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                let at = (seed >> 33) as usize % 0x600;
                m.0[at] = (seed >> 24) as u8;
            }
            // Right checksums, so that the damage is looked at.
            seal(&mut m, 16, 20, 8);
            for at in [0x100, 0x200, 0x400, 0x500] {
                let length = (u32_at(&m.0, at + 4).unwrap() as usize).clamp(36, 4096 - at);
                seal(&mut m, at, length, 9);
            }
            assert!(!read(&m, 16).io_apics.as_slice().is_empty());
            let _ = read(&m, seed);
        }
    }
}
