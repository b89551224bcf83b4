//! Data from firmware and boot loader.

use super::ram::Ram;
use crate::input::Input;
use pillion_abi::boot::REGIONS;
use pillion_firmware::{acpi, bytes::Memory, multiboot, params::BootParams, pvh};
use pillion_vmm_devices::acpi::{RootPointer, Tables, io_mmu_functions};
use pillion_vmm_devices::power::Fadt;

struct Bytes<'a>(&'a [u8]);

impl Memory for Bytes<'_> {
    fn bytes(&self, physical: u64, length: usize) -> Option<&[u8]> {
        let from = usize::try_from(physical).ok()?;
        self.0.get(from..from.checked_add(length)?)
    }
}

/// Sets a checksum so that the bytes sum to zero.
fn checksum(bytes: &mut [u8], at: usize) {
    bytes[at] = 0;
    bytes[at] = bytes.iter().fold(0u8, |sum, byte| sum.wrapping_sub(*byte));
}

/// Tables that are searched for, and one that is not.
const NAMES: [[u8; 4]; 6] = [*b"FACP", *b"APIC", *b"MCFG", *b"IVRS", *b"DMAR", *b"XXXX"];

/// End of the processor's addresses.
const REACH: u64 = 1 << 40;

const ROOM: usize = 256;
const HEADER: usize = 36;

/// Offset of the root pointer.
const ROOT: usize = 16;

/// Any tables, with names searched for and right checksums, behind a root pointer of either kind.
pub fn acpi(bytes: &[u8]) {
    let memory = tables(&mut Input::new(bytes));
    let found = acpi::read(&Bytes(&memory), ROOT as u64);
    let processors = found.processors.as_slice();
    assert!((0..processors.len()).all(|i| !processors[..i].contains(&processors[i])));
    assert!(found.io_apics.as_slice().len() <= acpi::IO_APICS);
    assert!(found.overrides.as_slice().len() <= acpi::OVERRIDES);
    // The monitor walks them as well.
    let ram = Ram(memory);
    if let Ok(found) = Tables::find(&ram, &root_pointer(&ram)) {
        let _ = Fadt::find(&ram, &found);
        let _ = io_mmu_functions(&ram, &found).count();
    }
}

/// The root pointer of these tables.
pub fn root_pointer(memory: &Ram) -> RootPointer {
    std::array::from_fn(|at| memory.0[ROOT + at])
}

pub fn tables(input: &mut Input) -> Vec<u8> {
    let (kind, mut memory) = (input.u8(), vec![0; 8 * ROOM]);
    let root = if kind & 1 == 0 { *b"XSDT" } else { *b"RSDT" };
    let mut entries = Vec::new();
    for at in 2..8 {
        let address = if input.u8() == 0 { input.u64() } else { (at * ROOM) as u64 };
        entries.extend_from_slice(&address.to_le_bytes()[..if kind & 1 == 0 { 8 } else { 4 }]);
    }
    put_table(&mut memory[ROOM..2 * ROOM], &root, &entries, kind & 2 != 0);
    for at in 2..8 {
        let name = NAMES[usize::from(input.u8()) % NAMES.len()];
        let body: Vec<u8> = (0..input.u8()).map(|_| input.u8()).collect();
        put_table(&mut memory[at * ROOM..(at + 1) * ROOM], &name, &body, true);
    }
    let pointer = &mut memory[ROOT..ROOT + 36];
    pointer[..8].copy_from_slice(b"RSD PTR ");
    pointer[15] = kind >> 2 & 3;
    pointer[16..20].copy_from_slice(&(ROOM as u32).to_le_bytes());
    pointer[24..32].copy_from_slice(&(ROOM as u64).to_le_bytes());
    checksum(&mut pointer[..20], 8);
    checksum(pointer, 32);
    memory
}

/// Puts a table with this name; its checksum is right if `right`.
fn put_table(room: &mut [u8], name: &[u8], body: &[u8], right: bool) {
    let length = (HEADER + body.len()).min(room.len());
    room[..4].copy_from_slice(name);
    room[4..8].copy_from_slice(&(length as u32).to_le_bytes());
    room[HEADER..length].copy_from_slice(&body[..length - HEADER]);
    if right {
        checksum(&mut room[..length], 9);
    }
}

/// The memory map is sorted, without overlaps, and of whole pages.
pub fn boot(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let kind = input.u8();
    let mut memory = input.rest().to_vec();
    let mut params = BootParams::new();
    if kind & 1 == 0 {
        if memory.len() >= 4 {
            memory[..4].copy_from_slice(&0x336e_c578_u32.to_le_bytes());
        }
        let _ = pvh::parse(&Bytes(&memory), 0, &mut params);
    } else {
        let _ = multiboot::parse(&Bytes(&memory), 0, &mut params, &mut [0; multiboot::RSDP_SIZE]);
    }
    params.draw_map(0x20_0000, 0x60_0000, REACH);
    params.finish();
    let map = params.memory();
    assert!(map.len() <= REGIONS);
    for pair in map.windows(2) {
        assert!(pair[0].base + pair[0].size <= pair[1].base, "{pair:x?}");
    }
    assert!(map.iter().all(|range| range.size != 0 && (range.base | range.size) % 4096 == 0), "{map:x?}");
}
