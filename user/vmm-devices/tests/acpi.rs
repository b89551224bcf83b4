//! The firmware's tables, and those that Linux finds.

mod common;

use common::{Ram, at, checksum};
use pillion_vmm_devices::acpi::{Copy, Error, Processor, RootPointer, SIZE, Tables, io_mmu_functions};
use pillion_vmm_devices::answer::Answer;
use pillion_vmm_devices::power::{Fadt, Power};
use pillion_vmm_devices::withheld::TABLES;
use proptest::prelude::*;

const MADT: u64 = 0x600;

fn table(name: &[u8; 4], body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; 36];
    bytes[..4].copy_from_slice(name);
    bytes.extend(body);
    let length = bytes.len() as u32;
    bytes[4..8].copy_from_slice(&length.to_le_bytes());
    checksum(&mut bytes, 9);
    bytes
}

fn pointer() -> RootPointer {
    let mut root = *b"RSD PTR \0TEST  \x02\0\0\0\0\x24\0\0\0\0\x02\0\0\0\0\0\0\0\0\0\0";
    checksum(&mut root[..20], 8);
    checksum(&mut root, 32);
    root
}

/// Four processors of which the second is ours, two I/O APICs, an override, NMI lines of all
/// processors and of the third one.
fn madt() -> Vec<u8> {
    let mut body = vec![0, 0, 0xe0, 0xfe, 1, 0, 0, 0];
    for (name, id) in [(10, 0), (11, 4), (12, 8)] {
        body.extend([0, 8, name, id, 1, 0, 0, 0]);
    }
    body.extend([9, 16, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 13, 0, 0, 0]);
    body.extend([1, 12, 0, 0, 0, 0, 0xc0, 0xfe, 0, 0, 0, 0]);
    body.extend([1, 12, 1, 0, 0, 0x10, 0xc0, 0xfe, 24, 0, 0, 0]);
    body.extend([2, 10, 0, 0, 2, 0, 0, 0, 0, 0]);
    body.extend([4, 6, 0xff, 0, 0, 1]);
    body.extend([4, 6, 12, 0, 0, 1]);
    body.extend([0x10, 16, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0]);
    table(b"APIC", &body)
}

/// An XSDT at 0x200 that lists an FADT at 0x400, the MADT, an HPET, an IVRS and an SSDT.
fn machine() -> Ram {
    let mut ram = Ram::new(0, 0x2000);
    let entries = [0x400_u64, MADT, 0x800, 0x900, 0xa00];
    ram.put(0x200, &table(b"XSDT", &entries.map(u64::to_le_bytes).concat()));
    let mut fadt = [0; 244 - 36];
    let mut put = |at: usize, bytes: &[u8]| fadt[at - 36..at - 36 + bytes.len()].copy_from_slice(bytes);
    put(46, &[9]);
    put(48, &[0xb2, 0, 0, 0, 0xa1, 0xa0]);
    put(56, &0x600_u32.to_le_bytes());
    put(64, &0x604_u32.to_le_bytes());
    put(76, &0x608_u32.to_le_bytes());
    put(88, &[4, 2, 0, 4, 0, 0]);
    put(113, &[4]);
    put(116, &[1, 8, 0, 1, 0xf9, 0x0c, 0, 0, 0, 0, 0, 0, 0x0f]);
    ram.put(0x400, &table(b"FACP", &fadt));
    ram.put(MADT, &madt());
    ram.put(0x800, &table(b"HPET", &[0; 20]));
    let block = |kind: u8, function: u8| [&[kind, 0, 24, 0, function, 0, 0x40, 0][..], &[0; 16]].concat();
    ram.put(0x900, &table(b"IVRS", &[vec![0; 12], block(0x10, 2), block(0x20, 9), block(0x40, 0x10)].concat()));
    ram.put(0xa00, &table(b"SSDT", &[1, 2, 3]));
    ram
}

fn copy(ram: &Ram) -> Copy {
    Copy::new(ram, &pointer(), &[Processor { apic_id: 4 }], &[0xfec0_0000]).unwrap()
}

/// Memory with the copies at an address, as Linux reads it.
fn placed(ram: &Ram, copy: &Copy, base: u64) -> (Ram, RootPointer) {
    let mut seen = Ram::new(0, 0x4000);
    seen.put(0, &ram.bytes);
    let page = copy.at(base);
    seen.put(base, &page);
    (seen, *page.first_chunk().unwrap())
}

#[test]
fn the_fadt_is_found() {
    let mut ram = machine();
    let find = |ram: &Ram| Tables::find(ram, &pointer()).and_then(|tables| Fadt::find(ram, &tables));
    let fadt = find(&ram).unwrap();
    assert_eq!(
        (fadt.pm1a_control, fadt.pm1b_control, fadt.reset, fadt.sci),
        (Some(0x604), None, Some((0xcf9, 0x0f)), 9)
    );
    assert_eq!((fadt.command, fadt.enable, fadt.pm1a_event), (Some(0xb2), 0xa1, Some(0x600)));
    assert_eq!(
        fadt.blocks[..4],
        [(0x600, 4), (0, 4), (0, 0), (0x608, 4)].map(|(at, n)| if at == 0 { (0, 0) } else { (at, n) })
    );
    ram.bytes[0x450] ^= 1;
    assert_eq!(find(&ram), Err(Error::BadTable(0x400)));
    let mut bad = pointer();
    bad[17] ^= 1;
    assert_eq!(Tables::find(&ram, &bad).unwrap_err(), Error::BadRoot);
    ram.bytes[0x200] = b'Y';
    assert_eq!(find(&ram), Err(Error::BadTable(0x200)));
}

#[test]
fn io_mmus_are_known() {
    let ram = machine();
    let tables = Tables::find(&ram, &pointer()).unwrap();
    assert_eq!(io_mmu_functions(&ram, &tables).collect::<Vec<_>>(), [2, 0x10]);
}

/// Linux finds right checksums, one processor, the I/O APICs that are modelled, no IOMMU and no
/// HPET; all other tables are where they were.
#[test]
fn linux_finds_copies() {
    let ram = machine();
    let copy = copy(&ram);
    let names: Vec<_> =
        TABLES.iter().enumerate().filter(|(i, _)| copy.withheld >> i & 1 != 0).map(|(_, w)| w.what).collect();
    assert_eq!((names, copy.dropped), (vec![*b"IVRS", *b"HPET"], 0));
    let (seen, root) = placed(&ram, &copy, 0x3000);
    let tables = Tables::find(&seen, &root).unwrap();
    let addresses: Vec<_> = tables.addresses(&seen).collect();
    assert_eq!((addresses.len(), addresses[2]), (3, 0xa00), "the SSDT is the firmware's own");
    let fadt = Fadt::find(&seen, &tables).unwrap();
    assert_eq!((fadt.command, fadt.enable, fadt.pm1a_control), (None, 0, Some(0x604)));
    let at = tables.with(&seen, *b"FACP").unwrap().address as usize;
    assert_eq!(seen.bytes[at + 96..at + 100], [101, 0, 0xe9, 3], "no state deeper than HLT");
    let found = tables.with(&seen, *b"APIC").unwrap();
    let mut bytes = vec![0; found.length as usize];
    found.read(&seen, &mut bytes).unwrap();
    let expected: &[&[u8]] = &[
        &[0, 8, 11, 4, 1, 0, 0, 0],
        &[1, 12, 0, 0, 0, 0, 0xc0, 0xfe, 0, 0, 0, 0],
        &[2, 10, 0, 0, 2, 0, 0, 0, 0, 0],
        &[4, 6, 0xff, 0, 0, 1],
    ];
    assert_eq!(bytes[44..], expected.concat());
}

/// What of the MADT does not fit into its copy, or follows a damaged entry, is counted.
#[test]
fn lost_interrupt_entries_are_counted() {
    let lost = |more: &[u8]| {
        let mut ram = machine();
        ram.put(0x1000, &table(b"APIC", &[&madt()[36..], more].concat()));
        ram.put(0x200, &table(b"XSDT", &[0x400_u64, 0x1000].map(u64::to_le_bytes).concat()));
        copy(&ram).madt_lost
    };
    let line = [2, 10, 0, 5, 5, 0, 0, 0, 0, 0];
    assert_eq!(lost(&line), 0);
    // The copy has 1,024 bytes: 44 before the entries, and the 36 that `linux_finds_copies` lists.
    assert_eq!(lost(&line.repeat(94)), 0);
    assert_eq!(lost(&line.repeat(97)), 30);
    assert_eq!(lost(&[&line[..], &[2, 0, 7]].concat()), 3, "the length of the last entry is wrong");
}

/// The entries that Linux finds in a MADT with those processors.
fn entries_of(processors: &[u32], size: usize) -> Vec<u8> {
    let ram = machine();
    let own: Vec<_> = processors.iter().map(|apic_id| Processor { apic_id: *apic_id }).collect();
    let copy = Copy::new(&ram, &pointer(), &own, &[]).unwrap();
    let (seen, root) = placed(&ram, &copy, 0x3000);
    let at = Tables::find(&seen, &root).unwrap().with(&seen, *b"APIC").unwrap().address as usize + 44;
    seen.bytes[at..at + size].to_vec()
}

/// A processor is identified by an entry of another kind than the first, and by none.
#[test]
fn the_processor_is_named() {
    let wide = [9, 16, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 13, 0, 0, 0];
    assert_eq!(entries_of(&[0x100], 16), wide, "its ID does not fit into a byte");
    assert_eq!(entries_of(&[77], 8), [0, 8, 10, 77, 1, 0, 0, 0], "the first");
    assert_eq!(entries_of(&[0xff], 4), [9, 16, 0, 0], "a byte with that ID would be everybody");
}

/// Several processors have an entry each, in the given order, and keep their NMI lines.
#[test]
fn several_processors_are_named() {
    let first = [0, 8, 12, 8, 1, 0, 0, 0];
    let wide = [9, 16, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 13, 0, 0, 0];
    let unknown = [0, 8, 10, 77, 1, 0, 0, 0];
    let rest = [[2, 10, 0, 0, 2, 0, 0, 0, 0, 0].as_slice(), &[4, 6, 0xff, 0, 0, 1], &[4, 6, 12, 0, 0, 1]].concat();
    let expected = [&first[..], &wide, &unknown, &rest].concat();
    assert_eq!(entries_of(&[8, 0x100, 77], expected.len()), expected);
    let (one, zero) = ([0, 8, 11, 4, 1, 0, 0, 0], [0, 8, 10, 0, 1, 0, 0, 0]);
    assert_eq!(entries_of(&[4, 0, 8, 0x100, 77], 48)[..16], [one, zero].concat());
    assert_eq!(entries_of(&[4, 0, 8, 0x100, 77], 48)[40..], [0, 8, 0, 77, 1, 0, 0, 0], "no entry is left for it");
}

proptest! {
    /// With any damage there is no panic, and the tables offered to Linux have right checksums and
    /// list nothing that is withheld.
    #[test]
    fn any_acpi_tables(changes in prop::collection::vec((0x200_usize..0xb00, any::<u8>()), 0..8), fix in any::<bool>(), damage in prop::option::of((0_usize..36, any::<u8>())), port in any::<u16>()) {
        let mut ram = machine();
        for (at, byte) in changes {
            ram.bytes[at] = byte;
        }
        let mut root = pointer();
        if let Some((at, byte)) = damage {
            root[at] = byte;
        }
        if fix {
            for at in [0x200, 0x400, 0x600, 0x800, 0x900, 0xa00] {
                let length = u32::from_le_bytes(ram.bytes[at + 4..at + 8].try_into().unwrap()) as usize;
                let end = ram.bytes.len().min(at + length.max(10));
                checksum(&mut ram.bytes[at..end], 9);
            }
            checksum(&mut root[..20], 8);
            checksum(&mut root, 32);
        }
        if let Ok(tables) = Tables::find(&ram, &root) {
            let _ = io_mmu_functions(&ram, &tables).count();
            if let Ok(fadt) = Fadt::find(&ram, &tables) {
                let mut power = Power::new(fadt);
                let _ = power.ports().count();
                prop_assert!(power.write(at(port, 1), 0) != Some(Answer::Machine(0x2000)));
            }
        }
        if let Ok(copy) = Copy::new(&ram, &root, &[Processor { apic_id: 4 }], &[0xfec0_0000]) {
            let (seen, root) = placed(&ram, &copy, 0x3000);
            prop_assert!(copy.at(0x3000).len() == SIZE);
            let tables = Tables::find(&seen, &root).unwrap();
            for address in tables.addresses(&seen) {
                let name: Option<[u8; 4]> = seen.bytes.get(address as usize..).and_then(|b| b.first_chunk().copied());
                prop_assert!(!TABLES.iter().any(|withheld| Some(withheld.what) == name));
            }
            prop_assert!(tables.with(&seen, *b"FACP").is_ok() && tables.with(&seen, *b"APIC").is_ok());
        }
    }
}
