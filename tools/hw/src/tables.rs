//! ACPI tables as the kernel and the VM monitor find them: in memory, behind a root pointer.
//!
//! Linux shows the tables but not where they are, so they are placed anew, behind a root pointer
//! and a root table of our own.

use pillion_firmware::acpi;
use pillion_firmware::bytes::Memory;
use pillion_vmm_devices::acpi::{RootPointer, Tables as MonitorTables};
use pillion_vmm_devices::guest_memory::GuestMemory;
use pillion_vmm_devices::power::{Fadt, Power};

/// Where the root pointer is; 0 would mean that there is none.
const POINTER_AT: usize = 16;
const POINTER: usize = 36;
const ROOT_AT: usize = 64;
const HEADER: usize = 36;

/// Memory with tables in it.
#[derive(Clone, Debug)]
pub struct Tables {
    memory: Vec<u8>,
    signatures: Vec<[u8; 4]>,
}

impl Tables {
    /// Places tables in memory, as they are: damaged ones stay damaged.
    #[must_use]
    pub fn place(tables: &[&[u8]]) -> Tables {
        let count = tables.len();
        let mut memory = vec![0; ROOT_AT + HEADER + 8 * count];
        let mut signatures = Vec::new();
        for (i, table) in tables.iter().enumerate() {
            let at = memory.len().next_multiple_of(16);
            memory.resize(at, 0);
            memory.extend(*table);
            memory[ROOT_AT + HEADER + 8 * i..][..8].copy_from_slice(&(at as u64).to_le_bytes());
            signatures.extend(table.first_chunk().copied());
        }
        // A table that ends early is read on into what follows, as in a machine.
        memory.resize(memory.len() + HEADER, 0);
        let root = &mut memory[ROOT_AT..];
        root[..4].copy_from_slice(b"XSDT");
        root[4..8].copy_from_slice(&((HEADER + 8 * count) as u32).to_le_bytes());
        seal(&mut root[..HEADER + 8 * count], 9);
        let pointer = &mut memory[POINTER_AT..][..POINTER];
        pointer[..8].copy_from_slice(b"RSD PTR ");
        pointer[15] = 2;
        pointer[20..24].copy_from_slice(&(POINTER as u32).to_le_bytes());
        pointer[24..32].copy_from_slice(&(ROOT_AT as u64).to_le_bytes());
        seal(&mut pointer[..20], 8);
        seal(pointer, 32);
        Tables { memory, signatures }
    }

    /// Whether one has that signature.
    #[must_use]
    pub fn has(&self, signature: [u8; 4]) -> bool {
        self.signatures.contains(&signature)
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.signatures.len()
    }

    /// What the kernel reads in them.
    #[must_use]
    pub fn as_the_kernel(&self) -> acpi::Tables {
        acpi::read(self, POINTER_AT as u64)
    }

    /// Bytes of the first table with that signature whose checksum is right.
    #[must_use]
    pub fn bytes_of(&self, signature: [u8; 4]) -> Option<&[u8]> {
        let table = self.of_monitor()?.with(self, signature).ok()?;
        self.bytes(table.address, table.length as usize)
    }

    /// What the VM monitor reads in the FADT.
    #[must_use]
    pub fn fadt(&self) -> Option<Fadt> {
        Fadt::find(self, &self.of_monitor()?).ok()
    }

    /// The monitor's model of the registers that the FADT names.
    #[must_use]
    pub fn power(&self) -> Option<Power> {
        self.fadt().map(Power::new)
    }

    fn of_monitor(&self) -> Option<MonitorTables> {
        let pointer: RootPointer = *self.memory.get(POINTER_AT..)?.first_chunk()?;
        MonitorTables::find(self, &pointer).ok()
    }
}

impl Memory for Tables {
    fn bytes(&self, physical: u64, length: usize) -> Option<&[u8]> {
        let from = usize::try_from(physical).ok()?;
        self.memory.get(from..from.checked_add(length)?)
    }
}

impl GuestMemory for Tables {
    fn read(&self, guest_physical: u64, into: &mut [u8]) -> bool {
        let found = self.bytes(guest_physical, into.len());
        if let Some(from) = found {
            into.copy_from_slice(from);
        }
        found.is_some()
    }

    fn write(&mut self, _: u64, _: &[u8]) -> bool {
        false
    }
}

fn seal(bytes: &mut [u8], at: usize) {
    let sum = bytes.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
    bytes[at] = bytes[at].wrapping_sub(sum);
}
