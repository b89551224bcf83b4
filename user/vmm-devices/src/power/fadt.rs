//! The FADT, found from the root pointer (ACPI 6.4, 5.2.5 to 5.2.9). Every table is bounded and its checksum counts.

use crate::memory::{GuestMemory, read_u32, read_u64};

/// What of the FADT matters here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fadt {
    /// Port of the PM1a control register.
    pub pm1a_control: Option<u16>,
    /// Port of the PM1b control register.
    pub pm1b_control: Option<u16>,
    /// Port of the reset register and the value that resets.
    pub reset: Option<(u16, u8)>,
    /// Interrupt line of the system control interrupt.
    pub sci: u16,
}

/// Why there is no FADT to be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// A table is not in memory that can be read.
    Unreadable(u64),
    /// No root pointer, or one with a wrong checksum.
    BadRoot,
    /// A table with a wrong length, signature or checksum.
    BadTable(u64),
    /// The root table does not name an FADT.
    Missing,
}

/// Longest table that is looked at, in bytes; the FADT and the root table are far shorter.
const LONGEST: u32 = 64 << 10;
const HEADER: u32 = 36;

/// A table whose length and checksum are right.
struct Table {
    address: u64,
    length: u32,
}

impl Fadt {
    /// Finds and reads the FADT.
    ///
    /// # Errors
    /// As [`Error`] says.
    pub fn find(memory: &impl GuestMemory, rsdp: u64) -> Result<Fadt, Error> {
        let (root, entry_size) = root_table(memory, rsdp)?;
        let count = (root.length - HEADER) / entry_size;
        for index in 0..count {
            let slot = root.address.wrapping_add(u64::from(HEADER + index * entry_size));
            let address = match entry_size {
                8 => read_u64(memory, slot),
                _ => read_u32(memory, slot).map(u64::from),
            };
            let address = address.ok_or(Error::Unreadable(slot))?;
            if read_u32(memory, address) == Some(u32::from_le_bytes(*b"FACP")) {
                return parse(memory, &table(memory, address)?);
            }
        }
        Err(Error::Missing)
    }
}

/// The XSDT, or the RSDT where there is none, and the size of its entries.
fn root_table(memory: &impl GuestMemory, rsdp: u64) -> Result<(Table, u32), Error> {
    let mut root = [0; 36];
    if !memory.read(rsdp, &mut root[..20]) {
        return Err(Error::Unreadable(rsdp));
    }
    if &root[..8] != b"RSD PTR " || sum(&root[..20]) != 0 {
        return Err(Error::BadRoot);
    }
    let rsdt = u32::from_le_bytes([root[16], root[17], root[18], root[19]]);
    if root[15] >= 2 && memory.read(rsdp, &mut root) && sum(&root) == 0 {
        let mut xsdt = [0; 8];
        xsdt.copy_from_slice(&root[24..32]);
        let address = u64::from_le_bytes(xsdt);
        if address != 0 {
            return expect(memory, address, b"XSDT").map(|table| (table, 8));
        }
    }
    expect(memory, u64::from(rsdt), b"RSDT").map(|table| (table, 4))
}

fn expect(memory: &impl GuestMemory, address: u64, signature: &[u8; 4]) -> Result<Table, Error> {
    match read_u32(memory, address) {
        None => Err(Error::Unreadable(address)),
        Some(found) if found == u32::from_le_bytes(*signature) => table(memory, address),
        Some(_) => Err(Error::BadTable(address)),
    }
}

/// Checks a table's length and checksum.
fn table(memory: &impl GuestMemory, address: u64) -> Result<Table, Error> {
    let length = read_u32(memory, address.wrapping_add(4)).ok_or(Error::Unreadable(address))?;
    if !(HEADER..=LONGEST).contains(&length) || address.checked_add(u64::from(length)).is_none() {
        return Err(Error::BadTable(address));
    }
    let mut total = 0_u8;
    let mut done = 0;
    while done < length {
        let mut piece = [0; 64];
        let size = (length - done).min(64) as usize;
        if !memory.read(address + u64::from(done), &mut piece[..size]) {
            return Err(Error::Unreadable(address));
        }
        total = total.wrapping_add(sum(&piece[..size]));
        done += size as u32;
    }
    if total == 0 { Ok(Table { address, length }) } else { Err(Error::BadTable(address)) }
}

fn sum(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0, |total, byte| total.wrapping_add(*byte))
}

/// Reads the fields (5.2.9, table 5.9). The extended blocks count where the table is long enough and they are ports.
fn parse(memory: &impl GuestMemory, table: &Table) -> Result<Fadt, Error> {
    let mut bytes = [0; 256];
    let size = (table.length as usize).min(bytes.len());
    if !memory.read(table.address, &mut bytes[..size]) {
        return Err(Error::Unreadable(table.address));
    }
    // What the table is too short for stays zero, which stands for "not there" everywhere.
    let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    let port = |at: usize| match u16::try_from(word(at)) {
        Ok(0) | Err(_) => None,
        Ok(port) => Some(port),
    };
    let extended = |at: usize| if bytes[at] == 1 && word(at + 8) == 0 { port(at + 4) } else { None };
    let supported = word(112) & 1 << 10 != 0;
    Ok(Fadt {
        pm1a_control: extended(172).or(port(64)),
        pm1b_control: extended(184).or(port(68)),
        reset: extended(116).filter(|_| supported).map(|port| (port, bytes[128])),
        sci: u16::from_le_bytes([bytes[46], bytes[47]]),
    })
}
