//! Whatever a boot loader hands over, the kernel gets a map that is sorted and without overlaps.

use pillion_abi::boot::{REGIONS, Screen, range_kind, screen_kind};
use pillion_firmware::ranges::{Cached, cached};
use pillion_firmware::{acpi, bytes::Memory, multiboot, params::BootParams, pvh};
use proptest::prelude::*;

/// End of the processor's addresses.
const REACH: u64 = 1 << 40;

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
    params.draw_map(0x20_0000, 0x60_0000, REACH);
    params.finish();
    let map = params.memory();
    assert!(map.len() <= REGIONS);
    for pair in map.windows(2) {
        assert!(pair[0].base + pair[0].size <= pair[1].base, "{pair:x?}");
    }
    assert!(map.iter().all(|r| r.size != 0 && (r.base | r.size) % 4096 == 0), "{map:x?}");
}

/// The tables name a second I/O APIC; RAM where a table claims registers stays RAM.
#[test]
fn registers_are_withheld() {
    let mut tables = vec![0; 0x400];
    tables[16..24].copy_from_slice(b"RSD PTR ");
    put(&mut tables, 32, 0x100, 4);
    let mut body = vec![0; 8];
    body.extend([1, 12, 0, 0, 0, 0, 0xc0, 0xfe, 0, 0, 0, 0, 1, 12, 1, 0, 0, 0x10, 0xc0, 0xfe, 24, 0, 0, 0]);
    let hpet = [vec![0; 8], vec![0, 0, 0x10, 0, 0, 0, 0, 0], vec![0; 4]].concat();
    for (at, name, body) in [
        (0x100, b"RSDT", [0x200_u32, 0x300].map(u32::to_le_bytes).concat()),
        (0x200, b"APIC", body),
        (0x300, b"HPET", hpet),
    ] {
        tables[at..at + 4].copy_from_slice(name);
        put(&mut tables, at + 4, 36 + body.len() as u64, 4);
        tables[at + 36..at + 36 + body.len()].copy_from_slice(&body);
        let sum = tables[at..at + 36 + body.len()].iter().fold(0_u8, |sum, b| sum.wrapping_add(*b));
        tables[at + 9] = 0_u8.wrapping_sub(sum);
    }
    tables[24] = 0_u8.wrapping_sub(tables[16..36].iter().fold(0_u8, |sum, b| sum.wrapping_add(*b)));
    let tables = acpi::read(&Bytes(tables), 16);
    assert_eq!(tables.io_apics.as_slice().len(), 2);

    let mut params = BootParams::new();
    assert!(pvh::parse(&Bytes(start_info()), 0, &mut params).is_some());
    params.draw_map(0x20_0000, 0x60_0000, REACH);
    params.withhold(&tables);
    assert_eq!(params.finish(), (0, 0));
    let at = |address: u64| params.memory().iter().find(|r| (r.base..r.base + r.size).contains(&address)).unwrap().kind;
    for address in [0xfec0_0000, 0xfec0_1000, 0xfed0_0000, 0xfed8_0fff, 0xfee0_0000, 0xfeef_ffff] {
        assert_eq!(at(address), range_kind::WITHHELD, "{address:#x}");
    }
    assert_eq!(
        (at(0xfec0_2000), at(0xfed8_1000), at(0xfef0_0000)),
        (range_kind::HOLE, range_kind::HOLE, range_kind::HOLE)
    );
    assert_eq!((at(0x10_0000), at(0x20_0000)), (range_kind::RAM, range_kind::KERNEL));
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

/// Above 4 GiB devices may be wherever the firmware names nothing, up to where the processor's
/// addresses end.
#[test]
fn holes_above_4_gib() {
    const GIB: u64 = 1 << 30;
    let draw = |more: &[(u64, u64, u32)], reach| {
        let mut params = BootParams::new();
        params.add_range(0x10_0000, GIB, 1);
        more.iter().for_each(|(base, size, kind)| params.add_range(*base, *size, *kind));
        params.draw_map(0x20_0000, 0x60_0000, reach);
        params.withhold(&acpi::read(&Bytes(Vec::new()), 0));
        params.finish();
        let above = params.memory().iter().filter(|r| r.base + r.size > 4 * GIB);
        above.map(|r| (r.base.max(4 * GIB), r.base + r.size, r.kind)).collect::<Vec<_>>()
    };
    let (hole, withheld) = (range_kind::HOLE, range_kind::WITHHELD);
    let messages = (0xfd_0000_0000, 1 << 40, withheld);
    assert_eq!(draw(&[], 4 * GIB), [messages], "no reach, no hole");
    assert_eq!(draw(&[], 1 << 40), [(4 * GIB, 0xfd_0000_0000, hole), messages]);
    assert_eq!(
        draw(&[(4 * GIB, 2 * GIB - 0x800, 1), (8 * GIB, GIB, 2), (1 << 43, 1 << 50, 2)], 1 << 52),
        [
            (4 * GIB, 6 * GIB - 0x1000, range_kind::RAM),
            (6 * GIB - 0x1000, 8 * GIB, hole),
            (8 * GIB, 9 * GIB, range_kind::DEVICE),
            (9 * GIB, 0xfd_0000_0000, hole),
            messages,
            (1 << 40, 1 << 43, hole),
            (1 << 43, 1 << 44, range_kind::DEVICE),
        ]
    );
    let many: Vec<_> = (0..600).map(|i| (8 * GIB + i * 0x2000, 0x1000, 1)).collect();
    assert!(draw(&many, 1 << 40).iter().all(|r| r.2 != hole), "memory that was not read may be anywhere");
}

/// Tags as GRUB gives them, of kind and contents.
fn tags(all: &[(u32, Vec<u8>)]) -> Bytes {
    let mut bytes = vec![0; 8];
    for (kind, data) in all.iter().chain(&[(0, Vec::new())]) {
        bytes.extend([*kind, 8 + data.len() as u32].map(u32::to_le_bytes).concat());
        bytes.extend(data);
        bytes.resize(bytes.len().next_multiple_of(8), 0);
    }
    let total = bytes.len() as u64;
    put(&mut bytes, 0, total, 4);
    Bytes(bytes)
}

fn parsed(all: &[(u32, Vec<u8>)]) -> (BootParams, [u8; multiboot::RSDP_SIZE]) {
    let (mut params, mut rsdp) = (BootParams::new(), [0; multiboot::RSDP_SIZE]);
    multiboot::parse(&tags(all), 0, &mut params, &mut rsdp).unwrap();
    (params, rsdp)
}

/// A tag of kind 3: a module of 64 KiB, with its text.
fn module_tag(base: u32, text: &str) -> (u32, Vec<u8>) {
    (3, [&base.to_le_bytes(), &(base + 0x1_0000).to_le_bytes(), text.as_bytes(), &[0]].concat())
}

/// The first module is the bundle, whatever its text; the others have a name, and words for Linux.
#[test]
fn modules_are_understood() {
    let gib = [[24u32, 0].map(u32::to_le_bytes).concat(), [0, 1 << 30, 1].map(u64::to_le_bytes).concat()];
    let texts = ["any words", "vmlinuz root=/dev/sda1  quiet ", "", "a-name-that-is-longer-than-it-may-be", "initrd"];
    let texts = texts.map(str::to_owned).into_iter().chain(["system.toml more".into()]);
    let tags = (1..).zip(texts.chain((4..=18).map(|nth| format!("task-{nth}"))));
    let tags = tags.map(|(at, text)| module_tag(at * 0x100_0000, &text));
    let (mut params, _) = parsed(&[(6, gib.concat())].into_iter().chain(tags).collect::<Vec<_>>());
    let names = params.modules.map(|module| String::from_utf8(module.name.to_vec()).unwrap());
    let names = names.each_ref().map(|name| name.trim_end_matches('\0'));
    assert_eq!(names[..4], ["vmlinuz", "initrd", "system.toml", "task-4"]);
    assert_eq!(names[15], "task-16", "two find no place");
    let places = params.modules.map(|module| (module.range.base, module.range.size));
    assert_eq!(places[..3], [0x200_0000, 0x500_0000, 0x600_0000].map(|base| (base, 0x1_0000)));
    assert_eq!((params.bundle.base, params.ignored_modules), (0x100_0000, 4));
    assert!(params.module_words().starts_with(b"root=/dev/sda1  quiet more\0"));
    check(&mut params);
    let kept = params.memory().iter().filter(|r| r.kind == range_kind::BUNDLE).map(|r| r.size).sum::<u64>();
    assert_eq!(kept, 17 * 0x1_0000, "Linux does not get them");
}

/// Of more words than Linux takes there is no end, so that they are not taken for all.
#[test]
fn too_many_words_are_noticed() {
    let words = |count: usize| format!("vmlinuz {}", "w".repeat(count));
    let of = |text: &str| *parsed(&[module_tag(0x100_0000, ""), module_tag(0x200_0000, text)]).0.module_words();
    assert_eq!(of(&words(2047)).iter().position(|b| *b == 0), Some(2047));
    assert_eq!(of(&words(2048)).iter().position(|b| *b == 0), None);
    assert_eq!(of(&words(9000)).iter().position(|b| *b == 0), None);
}

/// A tag of kind 8: a screen of 1280 by 800 pixels at 2 GiB.
fn screen_tag(base: u64, pitch: u32, width: u32, bits: u8, kind: u8) -> Vec<u8> {
    let mut data = base.to_le_bytes().to_vec();
    data.extend([pitch, width, 800].map(u32::to_le_bytes).concat());
    data.extend([bits, kind, 0, 0, 16, 8, 8, 8, 0, 8]);
    data
}

/// The screen is handed over if it can be one, and is wholly where devices answer.
#[test]
fn a_screen_is_understood() {
    let map = |base: u64, size: u64| {
        let entry = [base.to_le_bytes(), size.to_le_bytes(), 1_u64.to_le_bytes()].concat();
        (6, [24_u32.to_le_bytes().to_vec(), vec![0; 4], entry].concat())
    };
    let of = |tag: Vec<u8>| {
        let (mut params, _) = parsed(&[map(0x10_0000, 0x3ff0_0000), (8, tag)]);
        check(&mut params);
        params.screen
    };
    let good = of(screen_tag(2 << 30, 5120, 1280, 32, 1));
    assert_eq!((good.base, good.pitch, good.width, good.height), (2 << 30, 5120, 1280, 800));
    assert_eq!((good.kind, good.bits, good.colours), (screen_kind::PIXELS, 32, [[16, 8], [8, 8], [0, 8], [0, 0]]));
    let text = of(screen_tag(0xb_8000, 160, 80, 16, 2));
    assert_eq!((text.kind, text.bits, text.colours), (screen_kind::TEXT, 16, [[0; 2]; 4]));
    let wrong = [
        ("of colours by number", screen_tag(2 << 30, 1280, 1280, 8, 0)),
        ("of lines that overlap", screen_tag(2 << 30, 5119, 1280, 32, 1)),
        ("of no bits", screen_tag(2 << 30, 5120, 1280, 0, 1)),
        ("of no width", screen_tag(2 << 30, 5120, 0, 32, 1)),
        ("of colours outside of a pixel", screen_tag(2 << 30, 5120, 1280, 16, 1)),
        ("beyond all addresses", screen_tag(u64::MAX - 4096, 5120, 1280, 32, 1)),
        ("in RAM", screen_tag(0x100_0000, 5120, 1280, 32, 1)),
        ("at RAM's end", screen_tag(0x4000_0000 - 0x1000, 5120, 1280, 32, 1)),
        ("cut short", screen_tag(2 << 30, 5120, 1280, 32, 1)[..29].to_vec()),
    ];
    for (what, tag) in wrong {
        assert_eq!(of(tag), Screen::default(), "{what}");
    }
}

/// Both versions may be there, in any order; the newer one is of use without the other.
#[test]
fn the_newer_root_pointer_counts() {
    let (old, new) = (b"RSD PTR old".to_vec(), [b"RSD PTR new".as_slice(), &[1; 25]].concat());
    for all in [[(14, old.clone()), (15, new.clone())], [(15, new.clone()), (14, old.clone())]] {
        assert_eq!(parsed(&all).1.as_slice(), new);
    }
    assert_eq!(parsed(&[(14, old.clone())]).1[..11], old);
    let mut pointer = [0; multiboot::RSDP_SIZE];
    pointer[..8].copy_from_slice(b"RSD PTR ");
    assert!(!multiboot::is_root_pointer(&pointer));
    pointer[8] = pointer[..20].iter().fold(0_u8, |sum, byte| sum.wrapping_sub(*byte));
    assert!(multiboot::is_root_pointer(&pointer));
}

/// A UEFI's map: hundreds of ranges, by which kinds of memory alternate that are the same here.
#[test]
fn neighbours_of_a_long_map_are_joined() {
    const MIB: u64 = 1 << 20;
    let mut params = BootParams::new();
    (1..2000).for_each(|i| params.add_range(i * MIB, MIB, if i % 500 == 0 { 2 } else { 1 }));
    params.draw_map(0x20_0000, 0x60_0000, REACH);
    assert_eq!((params.unread(), params.finish()), (0, (0, 0)));
    let ram = params.memory().iter().filter(|r| r.kind == range_kind::RAM);
    assert_eq!(ram.map(|r| r.size).sum::<u64>(), (1999 - 3) * MIB - 0x40_0000);
}

/// Each page of a firmware's map: the strictest kind of all entries that touch it.
fn strictest(entries: &[(u64, u64, u32)], page: u64) -> u64 {
    let (from, to) = (page * 4096, (page + 1) * 4096);
    let touching = || entries.iter().filter(|(base, size, _)| *size != 0 && *base < to && base + size > from);
    if touching().any(|entry| matches!(entry.2, 3 | 4)) {
        range_kind::ACPI
    } else if touching().any(|entry| entry.2 != 1) {
        range_kind::DEVICE
    } else if entries.iter().any(|(base, size, kind)| *kind == 1 && *base <= from && base + size >= to) {
        range_kind::RAM
    } else {
        range_kind::HOLE
    }
}

/// A copy that a firmware or a boot loader left half changed may lie before the root pointer.
#[test]
fn the_root_pointer_is_found_behind_a_stale_one() {
    let mut memory = Bytes(vec![0; 0x10_0000]);
    for at in [0xf_0000, 0xf_5af0, 0xf_fff0] {
        memory.0[at..at + 8].copy_from_slice(b"RSD PTR ");
    }
    assert_eq!(multiboot::find_rsdp(&memory), None);
    memory.0[0xf_5af0 + 8] = memory.0[0xf_5af0..][..20].iter().fold(0_u8, |sum, b| sum.wrapping_sub(*b));
    assert_eq!(multiboot::find_rsdp(&memory), Some(0xf_5af0));
}

/// The map before it is finished says what the page tables were made from.
#[test]
fn forgotten_memory_was_memory() {
    let crumb = |i: u64| 0x100_0000 + i * 0x3000;
    let mut params = BootParams::new();
    (0..200).for_each(|i| params.add_range(crumb(i), 0x1000, 1));
    params.draw_map(0x20_0000, 0x60_0000, REACH);
    params.withhold(&acpi::read(&Bytes(Vec::new()), 0));
    let all =
        |params: &BootParams| (0..200).all(|i| cached(params.memory(), crumb(i), crumb(i) + 0x1000) == Cached::All);
    assert!(all(&params));
    assert_ne!(params.finish(), (0, 0));
    assert!(!all(&params));
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Hundreds of ranges that overlap, in no order: what the firmware keeps is never taken for
    /// RAM, and what is left out is nobody's.
    #[test]
    fn long_maps_without_order(
        entries in prop::collection::vec((0_u64..0x400, 0_u64..0x3000, prop::sample::select(vec![1_u32, 1, 1, 2, 3, 4, 5, 7])), 300..500),
    ) {
        const BASE: u64 = 0x800_0000;
        let entries: Vec<_> = entries.iter().map(|(page, size, kind)| (BASE + page * 4096 + size % 5 * 1000, *size, *kind)).collect();
        let mut params = BootParams::new();
        entries.iter().for_each(|(base, size, kind)| params.add_range(*base, *size, *kind));
        params.draw_map(0x20_0000, 0x60_0000, REACH);
        let (_, lost) = params.finish();
        prop_assert!(params.memory().len() <= REGIONS && params.unread() == 0);
        let mut absent = 0;
        for page in BASE / 4096..BASE / 4096 + 0x400 {
            let wanted = strictest(&entries, page);
            match params.memory().iter().find(|r| r.base <= page * 4096 && page * 4096 < r.base + r.size) {
                Some(found) => prop_assert_eq!(found.kind, wanted, "page {:#x}", page),
                None => absent += 4096,
            }
        }
        prop_assert!(absent <= lost);
    }
}
