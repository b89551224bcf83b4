//! Whatever a boot loader hands over, the kernel goes on with a map that is sorted and without overlaps.

use pillion_abi::boot::{REGIONS, range_kind};
use pillion_firmware::{bytes::Memory, multiboot, params::BootParams, pvh};
use proptest::prelude::*;

struct Bytes(Vec<u8>);

impl Memory for Bytes {
    fn bytes(&self, physical: u64, length: usize) -> Option<&[u8]> {
        let from = usize::try_from(physical).ok()?;
        self.0.get(from..from.checked_add(length)?)
    }
}

fn put(memory: &mut [u8], at: usize, value: u64, width: usize) {
    memory[at..at + width].copy_from_slice(&value.to_le_bytes()[..width]);
}

/// Start information at 0 as QEMU gives it: a map of three entries, a module, a command line.
fn start_info() -> Vec<u8> {
    let mut m = vec![0; 1024];
    put(&mut m, 0, 0x336e_c578, 4);
    put(&mut m, 4, 1, 4);
    put(&mut m, 12, 1, 4);
    for (at, value) in [(16, 200), (24, 300), (32, 0xf_5000), (40, 400)] {
        put(&mut m, at, value, 8);
    }
    put(&mut m, 48, 3, 4);
    put(&mut m, 200, 0x3000_0000, 8);
    put(&mut m, 208, 0x12_3456, 8);
    m[300..309].copy_from_slice(b"seconds=5");
    for (i, (base, size, kind)) in
        [(0, 0x9_fc00, 1), (0x10_0000, 0x3ff0_0000, 1), (0xfffc_0000, 0x4_0000, 2)].into_iter().enumerate()
    {
        put(&mut m, 400 + i * 24, base, 8);
        put(&mut m, 408 + i * 24, size, 8);
        put(&mut m, 416 + i * 24, kind, 4);
    }
    m
}

fn check(params: &mut BootParams) {
    params.draw_map(0x20_0000, 0x60_0000);
    params.finish();
    let map = params.memory();
    assert!(map.len() <= REGIONS);
    for pair in map.windows(2) {
        assert!(pair[0].base + pair[0].size <= pair[1].base, "{pair:x?}");
    }
    assert!(map.iter().all(|r| r.size != 0 && (r.base | r.size) % 4096 == 0), "{map:x?}");
}

#[test]
fn what_a_good_loader_says_is_understood() {
    let mut params = BootParams::new();
    assert!(pvh::parse(&Bytes(start_info()), 0, &mut params).is_some());
    assert_eq!((params.command_line(), params.rsdp), (b"seconds=5".as_slice(), 0xf_5000));
    check(&mut params);
    let kinds = |kind| params.memory().iter().filter(|r| r.kind == kind).map(|r| r.size).sum::<u64>();
    assert_eq!(kinds(range_kind::BUNDLE), 0x12_4000);
    assert_eq!(kinds(range_kind::KERNEL), 0x40_0000);
    assert_eq!(kinds(range_kind::RAM), 0x9_f000 + 0x3ff0_0000 - 0x12_4000 - 0x40_0000);
    assert_eq!(kinds(range_kind::DEVICE), 0x4_0000);
}

proptest! {
    #[test]
    fn damaged_start_information(damage in prop::collection::vec((0usize..480, any::<u8>()), 0..40)) {
        let mut memory = start_info();
        for (at, value) in damage {
            memory[at] = value;
        }
        let mut params = BootParams::new();
        let _ = pvh::parse(&Bytes(memory), 0, &mut params);
        check(&mut params);
    }

    #[test]
    fn damaged_tags(mut tags in prop::collection::vec(any::<u8>(), 0..600), kinds in prop::collection::vec((0usize..64, 0u8..16, 8u8..64), 0..12)) {
        for (place, kind, size) in kinds {
            let at = 8 + place * 8;
            if at + 8 <= tags.len() {
                put(&mut tags, at, kind.into(), 4);
                put(&mut tags, at + 4, size.into(), 4);
            }
        }
        if tags.len() >= 4 {
            let length = tags.len() as u64;
            put(&mut tags, 0, length, 4);
        }
        let mut params = BootParams::new();
        let mut rsdp = [0; multiboot::RSDP_SIZE];
        let _ = multiboot::parse(&Bytes(tags), 0, &mut params, &mut rsdp);
        check(&mut params);
    }
}
