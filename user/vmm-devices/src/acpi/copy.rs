//! The tables that Linux finds: copies of the root pointer, the root table, the FADT and the MADT
//! in a page of Linux's own memory. All others stay where they are; the root table does not list
//! those in [`crate::withheld::TABLES`].

use super::madt::{self, Processor};
use super::walk::{Error, RootPointer, Tables};
use super::{HEADER, seal};
use crate::guest_memory::{GuestMemory, read_u32};
use crate::withheld::TABLES;

/// Bytes of the copies.
pub const SIZE: usize = 4096;

/// Most tables that the copy of the root table lists.
const MOST: usize = 96;
/// Length of the longest known FADT (version 6.5).
const FADT: usize = 280;

/// The material of the copies.
#[derive(Clone, Debug)]
pub struct Copy {
    pointer: RootPointer,
    others: [u64; MOST],
    other_count: usize,
    fadt: ([u8; FADT], usize),
    madt: ([u8; madt::LONGEST], usize),
    /// Tables that are not listed: bit `i` for [`TABLES`]`[i]`.
    pub withheld: u16,
    /// Tables for which there was no room.
    pub dropped: usize,
    /// Bytes of the MADT that its copy lacks because they are damaged or do not fit.
    pub madt_lost: usize,
}

impl Copy {
    /// Reads the machine's tables. `own` are Linux's processors, the one that starts it first;
    /// `io_apics` holds the addresses of its I/O APICs. Fails as
    /// [`Error`] says; a damaged FADT or MADT is an error, because Linux cannot do without.
    pub fn new(
        memory: &impl GuestMemory,
        pointer: &RootPointer,
        own: &[Processor],
        io_apics: &[u32],
    ) -> Result<Copy, Error> {
        let tables = Tables::find(memory, pointer)?;
        let mut copy = Copy {
            pointer: *pointer,
            others: [0; MOST],
            other_count: 0,
            fadt: ([0; FADT], 0),
            madt: ([0; madt::LONGEST], 0),
            withheld: 0,
            dropped: 0,
            madt_lost: 0,
        };
        for address in tables.addresses(memory) {
            copy.sort(memory, address);
        }
        copy.fadt.1 = tables.with(memory, *b"FACP")?.read(memory, &mut copy.fadt.0)?;
        mend_fadt(&mut copy.fadt.0[..copy.fadt.1]);
        let mut bytes = [0; 16 << 10];
        let found = tables.with(memory, *b"APIC")?;
        let size = found.read(memory, &mut bytes)?;
        if size < madt::FIXED {
            return Err(Error::BadTable(found.address));
        }
        let (length, lost) = madt::edit(&bytes[..size], own, io_apics, &mut copy.madt.0);
        copy.madt.1 = length;
        copy.madt_lost = lost + found.length as usize - size;
        Ok(copy)
    }

    /// Sorts in one table of the root table.
    fn sort(&mut self, memory: &impl GuestMemory, address: u64) {
        let signature = read_u32(memory, address).unwrap_or(0).to_le_bytes();
        if let Some(which) = TABLES.iter().position(|line| line.what == signature) {
            self.withheld |= 1 << which;
        } else if signature != *b"FACP" && signature != *b"APIC" {
            match self.others.get_mut(self.other_count) {
                Some(free) => {
                    *free = address;
                    self.other_count += 1;
                }
                None => self.dropped += 1,
            }
        }
    }

    /// The copies as they must appear at address `base`, the root pointer first.
    pub fn at(&self, base: u64) -> [u8; SIZE] {
        let mut page = [0; SIZE];
        let mut end = 64;
        let mut put = |bytes: &[u8]| {
            let at = end;
            // All copies together are shorter than the page.
            if let Some(to) = page.get_mut(at..at + bytes.len()) {
                to.copy_from_slice(bytes);
            }
            end = (at + bytes.len()).next_multiple_of(16);
            base + at as u64
        };
        let fadt = put(&self.fadt.0[..self.fadt.1]);
        let madt = put(&self.madt.0[..self.madt.1]);
        let mut root = [0; HEADER + (MOST + 2) * 8];
        let others = self.others.iter().take(self.other_count).copied();
        let count = self.other_count + 2;
        root[..4].copy_from_slice(b"XSDT");
        let length = HEADER + count * 8;
        root[4..8].copy_from_slice(&(length as u32).to_le_bytes());
        root[8] = 1;
        root[10..HEADER].copy_from_slice(&self.pointer_names());
        for (entry, address) in root[HEADER..].chunks_exact_mut(8).zip([fadt, madt].into_iter().chain(others)) {
            entry.copy_from_slice(&address.to_le_bytes());
        }
        seal(&mut root[..length], 9);
        let xsdt = put(&root[..length]);
        page[..36].copy_from_slice(&self.pointer_at(xsdt));
        page
    }

    /// The maker's names for the tables: bytes 10 to 35 of a header, as the machine's root table
    /// would have them; the firmware's name comes from the root pointer.
    fn pointer_names(&self) -> [u8; HEADER - 10] {
        let mut names = [0; HEADER - 10];
        names[..6].copy_from_slice(&self.pointer[9..15]);
        names[6..14].copy_from_slice(b"PILLION ");
        names
    }

    /// A root pointer of version 2 with the XSDT alone.
    fn pointer_at(&self, xsdt: u64) -> RootPointer {
        let mut pointer = self.pointer;
        pointer[15] = 2;
        pointer[16..20].fill(0);
        pointer[20..24].copy_from_slice(&36_u32.to_le_bytes());
        pointer[24..32].copy_from_slice(&xsdt.to_le_bytes());
        pointer[32..].fill(0);
        seal(&mut pointer[..20], 8);
        seal(&mut pointer, 32);
        pointer
    }
}

/// Presents a machine that is always in ACPI mode (SMI_CMD zero, 5.2.9), because the firmware's
/// command port is the monitor's. The ports of P_BLK offer no state deeper than HLT, because a
/// latency above 100 or 1,000 µs marks a state as absent.
fn mend_fadt(fadt: &mut [u8]) {
    for (at, value) in [(48, 0_u32), (52, 0)] {
        if let Some(field) = fadt.get_mut(at..at + 4) {
            field.copy_from_slice(&value.to_le_bytes());
        }
    }
    for (at, value) in [(96, 101_u16), (98, 1001)] {
        if let Some(field) = fadt.get_mut(at..at + 2) {
            field.copy_from_slice(&value.to_le_bytes());
        }
    }
    if let Some(count) = fadt.get_mut(95) {
        *count = 0;
    }
    if let Some(length) = u32::try_from(fadt.len()).ok().filter(|l| *l >= HEADER as u32) {
        fadt[4..8].copy_from_slice(&length.to_le_bytes());
        seal(fadt, 9);
    }
}
