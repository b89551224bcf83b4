//! From the root pointer to the tables.

use super::{HEADER, sum, u16_at, u32_at};
use crate::guest_memory::{GuestMemory, read_u32, read_u64};

/// The root pointer (5.2.5.3); zeros if there is none. It is held by value, because a boot loader
/// may have handed over a copy, which has no address in Linux's memory.
pub type RootPointer = [u8; 36];

/// Why a table cannot be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// A table is not in readable memory.
    Unreadable(u64),
    /// There is no root pointer, or its checksum is wrong.
    BadRoot,
    /// A table has a wrong length, signature or checksum.
    BadTable(u64),
    /// The root table does not list such a table.
    Missing,
}

/// Longest table that is read, in bytes.
const LONGEST: u32 = 64 << 10;

/// Most entries of the root table that are read.
const MOST: u32 = 256;

/// A table whose length and checksum are right.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// Its address.
    pub address: u64,
    /// Its length in bytes.
    pub length: u32,
}

impl Table {
    /// Reads the table's first bytes into `into`, as far as both go. Returns how many.
    pub fn read(&self, memory: &impl GuestMemory, into: &mut [u8]) -> Result<usize, Error> {
        let size = (self.length as usize).min(into.len());
        let into = into.get_mut(..size).ok_or(Error::BadTable(self.address))?;
        if memory.read(self.address, into) { Ok(size) } else { Err(Error::Unreadable(self.address)) }
    }
}

/// The root table: the XSDT, or the RSDT if there is no XSDT.
#[derive(Clone, Copy, Debug)]
pub struct Tables {
    root: Table,
    entry_size: u32,
}

impl Tables {
    /// Finds the root table. Fails as [`Error`] says.
    pub fn find(memory: &impl GuestMemory, pointer: &RootPointer) -> Result<Tables, Error> {
        if !pointer.starts_with(b"RSD PTR ") || sum(&pointer[..20]) != 0 {
            return Err(Error::BadRoot);
        }
        let [.., a, b, c, d, e, f, g, h, _, _, _, _] = *pointer;
        let xsdt = u64::from_le_bytes([a, b, c, d, e, f, g, h]);
        if pointer[15] >= 2 && sum(pointer) == 0 && xsdt != 0 {
            return expect(memory, xsdt, b"XSDT").map(|root| Tables { root, entry_size: 8 });
        }
        let rsdt = u32_at(pointer, 16).ok_or(Error::BadRoot)?;
        expect(memory, rsdt.into(), b"RSDT").map(|root| Tables { root, entry_size: 4 })
    }

    /// Addresses of the tables, 256 at most.
    pub fn addresses<'a, M: GuestMemory>(&self, memory: &'a M) -> impl Iterator<Item = u64> + use<'a, M> {
        let Tables { root, entry_size } = *self;
        let count = ((root.length - HEADER as u32) / entry_size).min(MOST);
        (0..count).filter_map(move |index| {
            let slot = root.address.wrapping_add(u64::from(HEADER as u32 + index * entry_size));
            if entry_size == 8 { read_u64(memory, slot) } else { read_u32(memory, slot).map(u64::from) }
        })
    }

    /// The first table with that signature. Fails as [`Error`] says.
    pub fn with(&self, memory: &impl GuestMemory, signature: [u8; 4]) -> Result<Table, Error> {
        let named = |address: &u64| read_u32(memory, *address) == Some(u32::from_le_bytes(signature));
        let address = self.addresses(memory).find(named).ok_or(Error::Missing)?;
        table(memory, address)
    }
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
    if !(HEADER as u32..=LONGEST).contains(&length) || address.checked_add(u64::from(length)).is_none() {
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

/// The PCI functions that are IOMMUs, from AMD's table (IOMMU specification 48882, 5.2.2), as
/// `bus << 8 | device << 3 | function`.
pub fn io_mmu_functions<M: GuestMemory>(memory: &M, tables: &Tables) -> impl Iterator<Item = u16> + use<M> {
    const BLOCKS: usize = 48;
    const KINDS: [u8; 3] = [0x10, 0x11, 0x40];
    let mut bytes = [0; 4096];
    let size = tables.with(memory, *b"IVRS").and_then(|table| table.read(memory, &mut bytes)).unwrap_or(0);
    let mut at = BLOCKS;
    core::iter::from_fn(move || {
        while let Some(block) = bytes.get(at..size) {
            let (kind, length, function) = (*block.first()?, u16_at(block, 2)?, u16_at(block, 4)?);
            // A block of length 0 would make the loop endless.
            at += usize::from(length).max(4);
            if KINDS.contains(&kind) {
                return Some(function);
            }
        }
        None
    })
}
