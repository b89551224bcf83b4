//! The ACPI tables that matter: interrupt controllers (MADT), the power-management timer and the
//! registers that switch the machine off (FADT, and one object of the DSDT or an SSDT), and the
//! places of registers that no guest may have: the window of PCI's configuration space
//! (MCFG), the HPET, IOMMUs (IVRS, DMAR).
//!
//! The tables are the firmware's. Every length is checked, every loop is bounded, and what makes no
//! sense is ignored; registers that are lost by this, and tables that may name some, are counted.

use pillion_abi::boot::{PowerOff, Range, range_kind};

use crate::bytes::{Memory, sums_to_zero, u16_at, u32_at, u64_at};

/// Maximum number of I/O APICs.
pub const IO_APICS: usize = pillion_abi::boot::IO_APICS;
/// Bytes of an I/O APIC's registers that the kernel uses.
pub const IO_APIC_SIZE: u32 = 0x20;
/// Maximum number of ranges of registers that the tables name: windows, timers, IOMMUs.
pub const REGISTERS: usize = 24;
/// Maximum number of interrupt source overrides: one for each line of the ISA bus.
pub const OVERRIDES: usize = 16;
/// Maximum number of processors that are looked at.
pub const PROCESSORS: usize = 64;
/// Maximum size of a table in bytes; a longer one is ignored.
const TABLE_LIMIT: u32 = 1 << 20;
/// Maximum number of tables that are looked at.
const TABLES: usize = 128;

/// An I/O APIC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IoApic {
    /// Physical address.
    pub address: u32,
    /// Number of its first line among all lines.
    pub first_line: u32,
}

/// Where a line of the ISA bus really goes, and how it behaves.
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

/// A list with room for `N` items.
#[derive(Clone, Copy, Debug)]
pub struct List<T, const N: usize> {
    items: [T; N],
    count: usize,
    lost: usize,
}

impl<T: Copy + Default, const N: usize> List<T, N> {
    fn new() -> Self {
        List { items: [T::default(); N], count: 0, lost: 0 }
    }

    /// Appends an item if it could be read and there is room.
    fn add(&mut self, item: Option<T>) {
        if let (Some(item), Some(free)) = (item, self.items.get_mut(self.count)) {
            *free = item;
            self.count += 1;
        } else {
            self.lost += 1;
        }
    }

    /// Number of items that could not be read or that there was no room for.
    #[must_use]
    pub fn lost(&self) -> usize {
        self.lost
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
    /// The I/O APICs; the customary one if the tables name none.
    pub io_apics: List<IoApic, IO_APICS>,
    /// Interrupt source overrides.
    pub overrides: List<Override, OVERRIDES>,
    /// Numbers of the local APICs of all enabled processors, in the tables' order.
    pub processors: List<u32, PROCESSORS>,
    /// Port of the power-management timer, or 0.
    pub pm_timer: u16,
    /// How to switch the machine off: ports from the FADT, and types from `\_S5`.
    pub power_off: PowerOff,
    has_types: bool,
    /// Windows of PCI's configuration space, HPETs and IOMMUs.
    pub registers: List<Range, REGISTERS>,
    /// The IOMMUs among them.
    pub io_mmus: List<IoMmu, REGISTERS>,
}

/// An IOMMU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IoMmu {
    /// Physical address of its registers.
    pub address: u64,
    /// Intel's, else AMD's.
    pub intel: bool,
}

/// Reads the tables that the root pointer at that address leads to.
pub fn read(memory: &impl Memory, rsdp: u64) -> Tables {
    let mut tables = Tables {
        io_apics: List::new(),
        overrides: List::new(),
        processors: List::new(),
        pm_timer: 0,
        power_off: PowerOff { ports: [0; 2], types: [0; 2] },
        has_types: false,
        registers: List::new(),
        io_mmus: List::new(),
    };
    if rsdp != 0 && walk(memory, rsdp, &mut tables).is_none() {
        tables.registers.lost += 1;
    }
    if !tables.has_types {
        tables.power_off = PowerOff::default();
    }
    if tables.io_apics.as_slice().is_empty() {
        tables.io_apics.add(Some(IoApic { address: 0xfec0_0000, first_line: 0 }));
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
        read_root(memory, root, 8, tables);
        return Some(());
    }
    let root = table(memory, u32_at(pointer, 16)?.into()).filter(|root| root.starts_with(b"RSDT"))?;
    read_root(memory, root, 4, tables);
    Some(())
}

/// Reads the tables that a root table names by addresses of `width` bytes.
fn read_root(memory: &impl Memory, root: &[u8], width: usize, tables: &mut Tables) {
    let addresses = root.get(HEADER..).unwrap_or_default().chunks_exact(width);
    tables.registers.lost += addresses.len().saturating_sub(TABLES);
    for bytes in addresses.take(TABLES) {
        let address = bytes.iter().rev().fold(0, |high, byte| high << 8 | u64::from(*byte));
        read_table(memory, address, tables);
    }
}

const HEADER: usize = 36;

/// A table with a correct checksum.
fn table(memory: &impl Memory, address: u64) -> Option<&[u8]> {
    let length = u32_at(memory.bytes(address, HEADER)?, 4)?;
    if length > TABLE_LIMIT {
        return None;
    }
    memory.bytes(address, length as usize).filter(|all| all.len() >= HEADER && sums_to_zero(all))
}

fn read_table(memory: &impl Memory, address: u64, tables: &mut Tables) {
    const WITH_REGISTERS: [&[u8]; 5] = [b"APIC", b"MCFG", b"HPET", b"IVRS", b"DMAR"];
    let Some(table) = table(memory, address) else {
        let name = memory.bytes(address, 4);
        tables.registers.lost += usize::from(name.is_none_or(|name| WITH_REGISTERS.contains(&name)));
        return;
    };
    if table.starts_with(b"APIC") {
        read_madt(table, tables);
    } else if table.starts_with(b"FACP") {
        let port = |at: usize| u32_at(table, at).and_then(|port| u16::try_from(port).ok()).unwrap_or(0);
        tables.pm_timer = port(76);
        tables.power_off.ports = [port(64), port(68)];
        if let Some(dsdt) = u32_at(table, 40).and_then(|address| self::table(memory, address.into())) {
            tables.find_types(dsdt);
        }
    } else if table.starts_with(b"SSDT") {
        tables.find_types(table);
    } else if table.starts_with(b"MCFG") {
        read_mcfg(table, tables);
    } else if table.starts_with(b"HPET") {
        read_hpet(table, tables);
    } else if table.starts_with(b"IVRS") {
        read_ivrs(table, tables);
    } else if table.starts_with(b"DMAR") {
        read_dmar(table, tables);
    }
}

impl Tables {
    fn add_registers(&mut self, base: Option<u64>, size: u64) {
        self.registers.add(base.map(|base| Range { base, size, kind: range_kind::WITHHELD }));
    }

    /// Looks for the sleep types in a table of definitions, unless another had them.
    fn find_types(&mut self, table: &[u8]) {
        if let Some(types) = types(table).filter(|_| !self.has_types) {
            (self.power_off.types, self.has_types) = (types, true);
        }
    }

    /// Adds a processor that is enabled, with the number of its local APIC (ACPI 6.4, 5.2.12.2 and
    /// 5.2.12.12). A processor can be named twice: those below 255 may have an entry of each kind.
    fn add_processor(&mut self, apic: Option<u32>, flags: Option<u32>) {
        const ENABLED: u32 = 1;
        let is_known = || self.processors.as_slice().iter().any(|known| Some(*known) == apic);
        if flags.is_none_or(|flags| flags & ENABLED != 0) && !is_known() {
            self.processors.add(apic);
        }
    }
}

/// The sleep types of the object `\_S5` in a table of definitions. It is a name for a package of
/// numbers, of which the first two count (ACPI 6.4, 7.4.2.6; its bytes: 20.2.5.1, 20.2.5.4).
fn types(table: &[u8]) -> Option<[u16; 2]> {
    const NAME: &[u8] = b"\x08_S5_\x12";
    const ROOT_NAME: &[u8] = b"\x08\\_S5_\x12";
    let body = table.get(HEADER..)?;
    let behind = |name: &[u8]| Some(body.windows(name.len()).position(|window| window == name)? + name.len());
    let package = body.get(behind(NAME).or_else(|| behind(ROOT_NAME))?..)?;
    // Its length takes a byte, and as many more as the upper bits say; a byte with their number
    // comes before the elements.
    let elements = package.get(2 + usize::from(package.first()? >> 6)..)?;
    let (first, rest) = number(elements)?;
    // One number for both registers, where there is no second.
    let second = number(rest).map_or(first, |(second, _)| second);
    Some([first, second])
}

/// The number at the beginning of encoded objects, if it can be a sleep type, and what follows.
fn number(objects: &[u8]) -> Option<(u16, &[u8])> {
    const BYTE: u8 = 0x0a;
    let (value, length) = match *objects.first()? {
        value @ (0 | 1) => (value, 1),
        BYTE => (*objects.get(1)?, 2),
        _ => return None,
    };
    (value < 8).then_some((value.into(), objects.get(length..)?))
}

/// The entries of a table from an offset on. Each states its length after its first bytes; the last
/// one may be cut short.
fn entries(table: &[u8], from: usize, least: usize, length: fn(&[u8]) -> Option<usize>) -> impl Iterator<Item = &[u8]> {
    let mut rest = table.get(from..).unwrap_or_default();
    core::iter::from_fn(move || {
        // An entry of length 0 must not hold the loop here.
        let length = length(rest).unwrap_or(rest.len()).max(least).min(rest.len());
        let (entry, others) = rest.split_at_checked(length)?;
        rest = others;
        (!entry.is_empty()).then_some(entry)
    })
}

/// The windows of all segments (PCI Firmware Specification 3.3, 4.1.2).
fn read_mcfg(table: &[u8], tables: &mut Tables) {
    const ENTRY: usize = 16;
    for entry in table.get(HEADER + 8..).unwrap_or_default().chunks(ENTRY) {
        let (base, size) = window(entry).unzip();
        tables.add_registers(base, size.unwrap_or(0));
    }
}

/// Base and size of the window of an entry of the MCFG: 1 MiB for each bus.
fn window(entry: &[u8]) -> Option<(u64, u64)> {
    let base = u64_at(entry, 0).filter(|base| *base != 0)?;
    let (first, last) = (u64::from(*entry.get(10)?), u64::from(*entry.get(11)?));
    let buses = last.checked_sub(first)? + 1;
    Some((base.checked_add(first << 20)?, buses << 20))
}

/// The registers of an HPET, if they are in memory (IA-PC HPET Specification 1.0a, 3.2.4).
fn read_hpet(table: &[u8], tables: &mut Tables) {
    const SIZE: u64 = 0x400;
    const IN_MEMORY: u8 = 0;
    if table.get(40).is_none_or(|place| *place == IN_MEMORY) {
        tables.add_registers(u64_at(table, 44), SIZE);
    }
}

/// AMD's IOMMUs (48882, 5.2.2): the same one can have several blocks.
fn read_ivrs(table: &[u8], tables: &mut Tables) {
    /// Sizes with and without the counters.
    const SIZES: [u64; 2] = [512 << 10, 16 << 10];
    for entry in entries(table, HEADER + 12, 4, |rest| u16_at(rest, 2).map(usize::from)) {
        let address = u64_at(entry, 8);
        let is_known = tables.io_mmus.as_slice().iter().any(|known| Some(known.address) == address);
        if matches!(entry.first(), Some(0x10 | 0x11 | 0x40)) && !is_known {
            let [large, small] = SIZES;
            let is_large = address.is_some_and(|address| address.is_multiple_of(large));
            tables.io_mmus.add(address.map(|address| IoMmu { address, intel: false }));
            tables.add_registers(address, if is_large { large } else { small });
        }
    }
}

/// Intel's IOMMUs (VT-d 4.0, 8.3): the registers take a power of two of pages.
fn read_dmar(table: &[u8], tables: &mut Tables) {
    const UNIT: u16 = 0;
    const PAGE: u64 = 4096;
    for entry in entries(table, HEADER + 12, 4, |rest| u16_at(rest, 2).map(usize::from)) {
        if u16_at(entry, 0) == Some(UNIT) {
            let (address, pages) = (u64_at(entry, 8), entry.get(5).map_or(0, |size| size & 0xf));
            tables.io_mmus.add(address.map(|address| IoMmu { address, intel: true }));
            tables.add_registers(address, PAGE << pages);
        }
    }
}

fn read_madt(table: &[u8], tables: &mut Tables) {
    for entry in entries(table, HEADER + 8, 2, |rest| rest.get(1).copied().map(usize::from)) {
        match entry.first() {
            Some(0) => tables.add_processor(entry.get(3).copied().map(u32::from), u32_at(entry, 4)),
            Some(1) => tables.io_apics.add(read_io_apic(entry)),
            Some(2) => tables.overrides.add(read_override(entry)),
            Some(9) => tables.add_processor(u32_at(entry, 4), u32_at(entry, 8)),
            _ => {}
        }
    }
}

fn read_io_apic(entry: &[u8]) -> Option<IoApic> {
    let possible = |address: &u32| address.is_multiple_of(16) && address.checked_add(IO_APIC_SIZE - 1).is_some();
    Some(IoApic { address: u32_at(entry, 4).filter(possible)?, first_line: u32_at(entry, 8)? })
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

    #[test]
    fn what_is_lost_is_counted() {
        let mut list = List::<u8, 2>::new();
        [1, 2, 3, 4].into_iter().for_each(|item| list.add(Some(item)));
        assert_eq!((list.as_slice(), list.lost()), ([1, 2].as_slice(), 2));
    }

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

    /// The root table and those that it names.
    const TABLES_AT: [usize; 8] = [0x100, 0x200, 0x400, 0x500, 0x600, 0x700, 0x800, DSDT];
    /// The FADT names it.
    const DSDT: usize = 0x880;

    fn machine() -> Flat {
        let mut m = Flat(vec![0; 4096]);
        put(&mut m, 16, b"RSD PTR ");
        put(&mut m, 32, &0x100u32.to_le_bytes());
        seal(&mut m, 16, 20, 8);
        let root: Vec<u8> =
            TABLES_AT.iter().skip(1).filter(|at| **at != DSDT).flat_map(|at| (*at as u32).to_le_bytes()).collect();
        header(&mut m, 0x100, b"RSDT", &root);
        let mut madt = vec![0u8; 8];
        madt.extend([0, 8, 0, 0, 1, 0, 0, 0]);
        madt.extend([0, 8, 1, 1, 0, 0, 0, 0]);
        madt.extend([0, 8, 2, 4, 1, 0, 0, 0]);
        madt.extend([9, 16, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0]);
        madt.extend([9, 16, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0]);
        madt.extend([1, 12, 0, 0, 0, 0, 0xc0, 0xfe, 0, 0, 0, 0]);
        madt.extend([1, 12, 1, 0, 0, 0x10, 0xc0, 0xfe, 24, 0, 0, 0]);
        madt.extend([2, 10, 0, 9, 9, 0, 0, 0, 0x0d, 0]);
        madt.extend([2, 10, 0, 0, 2, 0, 0, 0, 0, 0]);
        header(&mut m, 0x200, b"APIC", &madt);
        let mut fadt = vec![0u8; 60];
        fadt[40..44].copy_from_slice(&0x608u32.to_le_bytes());
        fadt[28..32].copy_from_slice(&0x604u32.to_le_bytes());
        fadt[32..36].copy_from_slice(&0x614u32.to_le_bytes());
        fadt[4..8].copy_from_slice(&(DSDT as u32).to_le_bytes());
        header(&mut m, DSDT, b"DSDT", b"\x10\x05_SB_\x08_S5_\x12\x06\x04\x0a\x05\x01\0\0\x08_S4_");
        header(&mut m, 0x400, b"FACP", &fadt);
        let mut mcfg = vec![0u8; 8];
        mcfg.extend([0, 0, 0, 0xc0, 0, 0, 0, 0, 1, 0, 0, 255, 0, 0, 0, 0]);
        mcfg.extend([0, 0, 0, 0xb0, 0, 0, 0, 0, 0, 0, 0, 255, 0, 0, 0, 0]);
        header(&mut m, 0x500, b"MCFG", &mcfg);
        let mut hpet = vec![0u8; 20];
        hpet[10..12].copy_from_slice(&[0xd0, 0xfe]);
        header(&mut m, 0x600, b"HPET", &hpet);
        let mut ivrs = vec![0u8; 12];
        for (kind, base) in [(0x10, 0xfed8_0000_u64), (0x11, 0xfed8_0000), (0x20, 1), (0x40, 0xfd20_4000)] {
            ivrs.extend([kind, 0, 24, 0, 2, 0, 0x40, 0]);
            ivrs.extend(base.to_le_bytes());
            ivrs.extend([0; 8]);
        }
        header(&mut m, 0x700, b"IVRS", &ivrs);
        let mut dmar = vec![0u8; 12];
        dmar.extend([1, 0, 8, 0, 0, 0, 0, 0]);
        dmar.extend([0, 0, 16, 0, 0, 1, 0, 0, 0, 0, 0xd9, 0xfe, 0, 0, 0, 0]);
        header(&mut m, 0x800, b"DMAR", &dmar);
        m
    }

    #[test]
    fn finds_controllers_and_timer() {
        let t = read(&machine(), 16);
        assert_eq!(t.processors.as_slice(), [0, 4, 0x100]);
        assert_eq!(t.pm_timer, 0x608);
        assert_eq!(t.power_off, PowerOff { ports: [0x604, 0x614], types: [5, 1] });
        let second = IoApic { address: 0xfec0_1000, first_line: 24 };
        assert_eq!(t.io_apics.as_slice(), [IoApic { address: 0xfec0_0000, first_line: 0 }, second]);
        let registers: Vec<_> = t.registers.as_slice().iter().map(|r| (r.base, r.size)).collect();
        let windows = [(0xc000_0000, 1 << 28), (0xb000_0000, 1 << 28)];
        let others = [(0xfed0_0000, 0x400), (0xfed8_0000, 0x8_0000), (0xfd20_4000, 0x4000), (0xfed9_0000, 0x2000)];
        assert_eq!(registers, [windows.as_slice(), &others].concat());
        let io_mmus: Vec<_> = t.io_mmus.as_slice().iter().map(|i| (i.address, i.intel)).collect();
        assert_eq!(io_mmus, [(0xfed8_0000, false), (0xfd20_4000, false), (0xfed9_0000, true)]);
        assert_eq!(t.overrides.as_slice()[0], Override { isa: 9, line: 9, level: true, low: false });
        assert_eq!(t.overrides.as_slice()[1], Override { isa: 0, line: 2, level: false, low: false });
    }

    /// A machine with one table, of that body.
    fn with(name: &[u8; 4], body: &[u8]) -> Tables {
        let mut m = machine();
        header(&mut m, 0x100, b"RSDT", &0x900_u32.to_le_bytes());
        header(&mut m, 0x900, name, body);
        read(&m, 16)
    }

    #[test]
    fn sleep_types_are_found_as_compilers_write_them() {
        let of = |body: &[u8]| types(&[&[0; HEADER], body].concat());
        assert_eq!(of(b"\x08_S5_\x12\x06\x04\0\0\0\0"), Some([0, 0]));
        assert_eq!(of(b"..\x08\\_S5_\x12\x0a\x04\x0a\x07\x0a\x07\0\0"), Some([7, 7]));
        assert_eq!(of(b"\x08_S5_\x12\x46\0\x02\x0a\x05\x01"), Some([5, 1]), "a length of two bytes");
        assert_eq!(of(b"\x08_S5_\x12\x04\x01\x0a\x05"), Some([5, 5]), "of one number");
        assert_eq!(of(b"\x08_S5_\x12\x06\x04\x0a\x08\0\0\0"), None, "no type");
        assert_eq!(of(b"\x08_S5_\x12\x06\x04\x0c\x05\0\0\0"), None, "no byte");
        assert_eq!(of(b"\x14\x08_S5_\0"), None, "a method");
        assert_eq!(of(b"\x08_S5_\x12"), None);
        assert_eq!(of(b"\x08_S5_\x12\xff"), None);
        assert_eq!(of(b""), None);
        let name = with(b"SSDT", b"\x08_S5_\x12\x06\x04\x0a\x05\x0a\x05\0\0");
        assert_eq!((name.power_off.ports, name.power_off.types), ([0, 0], [5, 5]), "without a FADT, no ports");
    }

    #[test]
    fn io_apics_that_are_cut_short_are_lost_and_the_rest_is_read() {
        let short = [1, 8, 1, 0, 0, 0x20, 0xc0, 0xfe];
        let whole = [1, 12, 1, 0, 0, 0x10, 0xc0, 0xfe, 24, 0, 0, 0];
        let tables = with(b"APIC", &[[0; 8].as_slice(), &short, &whole, &[1, 0], &[1, 12, 2]].concat());
        assert_eq!(tables.io_apics.as_slice(), [IoApic { address: 0xfec0_1000, first_line: 24 }]);
        assert_eq!(tables.io_apics.lost(), 3);
    }

    #[test]
    fn io_apics_where_none_can_be_are_lost() {
        let at = |address: u32| [[1, 12, 1, 0].as_slice(), &address.to_le_bytes(), &[0; 4]].concat();
        let some = [0xfec0_1008, 0xffff_fff0, 0xffff_ffe0, 0xfec0_1010].map(at).concat();
        let tables = with(b"APIC", &[[0; 8].as_slice(), &some].concat());
        let addresses: Vec<_> = tables.io_apics.as_slice().iter().map(|found| found.address).collect();
        assert_eq!((addresses, tables.io_apics.lost()), (vec![0xffff_ffe0, 0xfec0_1010], 2));
    }

    #[test]
    fn registers_that_are_cut_short_are_lost() {
        let mcfg = [0, 0, 0, 0xc0, 0, 0, 0, 0, 1, 0, 0, 255, 0, 0, 0, 0];
        let beyond = [0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0, 255, 255, 0, 0, 0, 0];
        let backwards = [0, 0, 0, 0xc0, 0, 0, 0, 0, 1, 0, 9, 8, 0, 0, 0, 0];
        let window = |entry: &[u8]| [&[0; 8], entry, &mcfg[..8]].concat();
        let ivrs = |unit: [u8; 16]| [&[0; 12], unit.as_slice(), &[0x10, 0, 8, 0, 2, 0, 0x40, 0]].concat();
        let unit = [0x11, 0, 16, 0, 2, 0, 0x40, 0, 0, 0, 0xd8, 0xfe, 0, 0, 0, 0];
        let dmar = [0, 0, 16, 0, 0, 1, 0, 0, 0, 0, 0xd9, 0xfe, 0, 0, 0, 0];
        for (name, body, there, lost) in [
            (b"MCFG", window(&mcfg), 1, 1),
            (b"MCFG", window(&beyond), 0, 2),
            (b"MCFG", window(&backwards), 0, 2),
            (b"MCFG", window(&[0; 16]), 0, 2),
            (b"HPET", vec![0; 15], 0, 1),
            (b"IVRS", ivrs(unit), 1, 1),
            (b"DMAR", [[0; 12].as_slice(), &dmar, &dmar[..8]].concat(), 1, 1),
            (b"DMAR", [[0; 12].as_slice(), &[0, 0, 8, 0, 0, 0, 0, 0], &dmar].concat(), 1, 1),
        ] {
            let tables = with(name, &body);
            assert_eq!((tables.registers.as_slice().len(), tables.registers.lost()), (there, lost), "{name:?}");
        }
    }

    #[test]
    fn damaged_tables_are_lost() {
        let mut m = machine();
        m.0[0x500 + 50] ^= 1;
        m.0[0x400 + 50] ^= 1;
        let tables = read(&m, 16);
        assert_eq!((tables.registers.as_slice().len(), tables.registers.lost()), (4, 1), "the MCFG, not the FADT");
    }

    #[test]
    fn a_damaged_root_is_lost() {
        let lost = |at: usize| {
            let mut m = machine();
            m.0[at] ^= 1;
            read(&m, 16).registers.lost()
        };
        assert_eq!((lost(16 + 3), lost(16 + 17), lost(0x100), lost(0x100 + 9)), (1, 1, 1, 1));
        assert_eq!((read(&machine(), 0).registers.lost(), read(&machine(), u64::MAX).registers.lost()), (0, 1));
    }

    #[test]
    fn tables_out_of_reach_are_lost() {
        let mut m = machine();
        let root = [0x500_u32, 4096, 0, 0x600, u32::MAX].map(u32::to_le_bytes).concat();
        header(&mut m, 0x100, b"RSDT", &root);
        let tables = read(&m, 16);
        assert_eq!((tables.registers.as_slice().len(), tables.registers.lost()), (3, 2), "0 is no table");
    }

    #[test]
    fn tables_that_are_too_many_are_lost() {
        for (table, there, lost) in [(127, 1, 0), (128, 0, 1), (140, 0, 13)] {
            let mut m = machine();
            let root = [[0; 4].repeat(table), 0x600_u32.to_le_bytes().to_vec()].concat();
            header(&mut m, 0xa00, b"RSDT", &root);
            put(&mut m, 32, &0xa00_u32.to_le_bytes());
            seal(&mut m, 16, 20, 8);
            let tables = read(&m, 16);
            assert_eq!((tables.registers.as_slice().len(), tables.registers.lost()), (there, lost), "{table}");
        }
    }

    /// As many entries as nobody has, most of them of another kind.
    #[test]
    fn the_last_of_many_entries_is_read() {
        let dmar = [0, 0, 16, 0, 0, 1, 0, 0, 0, 0, 0xd9, 0xfe, 0, 0, 0, 0];
        let body = [[0; 12].as_slice(), &[1, 0, 4, 0].repeat(200), &dmar].concat();
        assert_eq!(with(b"DMAR", &body).registers.as_slice().len(), 1);
    }

    #[test]
    fn garbage_is_survived() {
        let mut seed = 7u64;
        for round in 0..20_000u32 {
            let mut m = machine();
            for _ in 0..1 + round % 8 {
                seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                let at = (seed >> 33) as usize % 0x900;
                m.0[at] = (seed >> 24) as u8;
            }
            // Correct checksums, so that the damaged tables are read.
            seal(&mut m, 16, 20, 8);
            for at in TABLES_AT {
                let length = (u32_at(&m.0, at + 4).unwrap() as usize).clamp(36, 4096 - at);
                seal(&mut m, at, length, 9);
            }
            assert!(!read(&m, 16).io_apics.as_slice().is_empty());
            let _ = read(&m, seed);
        }
    }
}
