//! Kernel images, placement and the zero page.

mod common;

use common::Ram;
use core::sync::atomic::Ordering::Relaxed;
use pillion_abi::boot::{Screen, screen_kind};
use pillion_abi::vcpu::{State, dirty};
use pillion_vmm_devices::boot::{Error, Header, Kind, Linux, Range, load, place, start_up, zero_page};
use proptest::prelude::*;

/// A `bzImage` with 4 KiB of protected-mode code that prefers 16 MiB and needs 8.
fn image() -> Vec<u8> {
    let mut image = vec![0; 1024 + 4096];
    image[0x1f1] = 1;
    image[0x1f4..0x1f8].copy_from_slice(&256_u32.to_le_bytes());
    image[0x1fe..0x200].copy_from_slice(&[0x55, 0xaa]);
    image[0x200..0x206].copy_from_slice(b"\xeb\x6aHdrS");
    image[0x206..0x208].copy_from_slice(&0x20f_u16.to_le_bytes());
    image[0x211] = 0xc1;
    image[0x22c..0x230].copy_from_slice(&0x7fff_ffff_u32.to_le_bytes());
    image[0x230..0x234].copy_from_slice(&0x20_0000_u32.to_le_bytes());
    image[0x234] = 1;
    image[0x236] = 1;
    image[0x238..0x23c].copy_from_slice(&2047_u32.to_le_bytes());
    image[0x258..0x260].copy_from_slice(&0x100_0000_u64.to_le_bytes());
    image[0x260..0x264].copy_from_slice(&0x80_0000_u32.to_le_bytes());
    image[1024] = 0xfc;
    image
}

fn ram(base: u64, size: u64) -> Range {
    Range { base, size, kind: Kind::Ram }
}

#[test]
fn a_kernel_is_loaded() {
    let image = image();
    let ranges =
        [ram(0, 0x9_f000), Range { base: 0xf_0000, size: 0x1_0000, kind: Kind::Reserved }, ram(0x10_0000, 0x3f0_0000)];
    let mut memory = Ram::new(0, 0x400_0000);
    let initrd = vec![7; 10_000];
    let screen = Screen {
        base: 0x12_c000_0000,
        pitch: 5184,
        width: 1280,
        height: 800,
        kind: screen_kind::PIXELS,
        bits: 32,
        colours: [[16, 8], [8, 8], [0, 8], [0, 0]],
    };
    let linux = Linux { image: &image, initrd: &initrd, command_line: b"quiet", ranges: &ranges, tables: None, screen };
    let state = State::default();
    load(&linux, &mut memory, &state).unwrap();
    assert_eq!(state.rip.get(), 0x100_0000);
    assert_eq!(memory.bytes[0x100_0000], 0xfc);
    let zero = state.gpr[6].get() as usize;
    assert_eq!(zero, 0x1_0000);
    let word = |at: usize| u32::from_le_bytes(memory.bytes[zero + at..zero + at + 4].try_into().unwrap());
    let initrd_at = word(0x218) as usize;
    assert_eq!(initrd_at, 0x400_0000 - 0x3000);
    assert_eq!((memory.bytes[initrd_at], word(0x21c)), (7, 10_000));
    let line = word(0x228) as usize;
    assert_eq!(&memory.bytes[line..line + 6], b"quiet\0");
    assert_eq!((word(0x70), memory.bytes[zero + 0x1e8], memory.bytes[zero + 0x210]), (0, 3, 0xff));
    assert_eq!((word(0x2d0 + 20), word(0x2d0 + 36)), (0xf_0000, 2));
    assert_eq!((word(0x202), memory.bytes[zero + 0x211]), (u32::from_le_bytes(*b"HdrS"), 1));
    assert_eq!(memory.bytes[zero + 0xf], 0x70);
    assert_eq!([0x12, 0x14, 0x16, 0x24].map(|at| word(at) & 0xffff), [1280, 800, 32, 5184]);
    assert_eq!([0x18, 0x1c, 0x36, 0x3a].map(word), [0xc000_0000, 5184 * 800, 2, 0x12]);
    assert_eq!(memory.bytes[zero + 0x26..zero + 0x2e], [8, 16, 8, 8, 8, 0, 0, 0]);
    let gdt = state.gdtr.get().base as usize;
    assert_eq!(memory.bytes[gdt + 0x10..gdt + 0x18], 0x00cf_9b00_0000_ffff_u64.to_le_bytes());
}

/// A VGA's text is described by lines and columns; what has no room in the description is left out.
#[test]
fn a_screen_is_described_if_its_numbers_fit() {
    let image = image();
    let header = Header::parse(&image).unwrap();
    let ranges = [ram(0, 0x400_0000)];
    let plan = place(&header, &ranges, 0, 0).unwrap();
    let describe = |screen| {
        let linux = Linux { image: &image, initrd: &[], command_line: b"", ranges: &ranges, tables: None, screen };
        let page = zero_page(&linux, &header, &plan).unwrap();
        page[..0x40].to_vec()
    };
    let text = Screen {
        base: 0xb_8000,
        pitch: 160,
        width: 80,
        height: 25,
        kind: screen_kind::TEXT,
        bits: 16,
        ..Screen::default()
    };
    assert_eq!(describe(text)[0x6..0x12], [3, 80, 0, 0, 0, 0, 0, 0, 25, 1, 16, 0]);
    let pixels = Screen { kind: screen_kind::PIXELS, ..text };
    let wrong = [
        Screen { width: 256, ..text },
        Screen { pitch: 1 << 16, ..pixels },
        Screen { pitch: 65_535, height: 65_538, ..pixels },
        Screen { kind: 3, ..text },
        Screen::default(),
    ];
    assert!(wrong.iter().all(|screen| describe(*screen).iter().all(|byte| *byte == 0)));
}

#[test]
fn each_defect_has_its_reason() {
    let defect = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut image = image();
        change(&mut image);
        Header::parse(&image).unwrap_err()
    };
    assert_eq!(defect(&|i| i.truncate(100)), Error::NotBzImage);
    assert_eq!(defect(&|i| i[0x202] = 0), Error::NotBzImage);
    assert_eq!(defect(&|i| i[0x206] = 9), Error::TooOld(0x209));
    assert_eq!(defect(&|i| i[0x211] = 0), Error::NotLoadedHigh);
    assert_eq!(defect(&|i| i[0x234] = 0), Error::NotRelocatable);
    assert_eq!(defect(&|i| i[0x236] = 0), Error::NotSixtyFourBit);
    assert_eq!(defect(&|i| i.truncate(1024 + 4000)), Error::Truncated);
    assert_eq!(defect(&|i| i[0x230] = 3), Error::BadHeader);
    assert_eq!(Error::TooOld(0x209).to_string(), "boot protocol 2.09 is older than 2.10");
}

#[test]
fn what_does_not_fit_is_named() {
    let header = Header::parse(&image()).unwrap();
    let place = |size, initrd, line| place(&header, &[ram(0, size)], initrd, line);
    assert_eq!(place(0x100_0000, 0, 0), Err(Error::KernelDoesNotFit(0x80_0000)));
    assert_eq!(place(0x200_0000, 0x100_0000, 0), Err(Error::InitrdDoesNotFit(0x100_0000)));
    assert_eq!(place(0x200_0000, 0, 2048), Err(Error::CommandLineTooLong(2047)));
    // There is no room above the kernel, but there is below it.
    assert_eq!(place(0x180_0000, 0x1000, 0).unwrap().initrd, 0xff_f000);
}

/// Real mode at the start of a page, and nothing of what was there before.
#[test]
fn a_processor_starts_in_real_mode() {
    let state = State::default();
    state.gpr[4].set(7);
    state.efer.set(0x500);
    state.deadline.store(5, Relaxed);
    state.counters[0].store(9, Relaxed);
    start_up(0x99, &state);
    let cs = state.cs.get();
    assert_eq!((cs.selector, cs.base, cs.limit, cs.attributes), (0x9900, 0x9_9000, 0xffff, 0x9b));
    assert_eq!((state.rip.get(), state.cr0.get(), state.rflags.get(), state.efer.get()), (0, 0x10, 2, 0));
    assert_eq!((state.gpr[4].get(), state.deadline.load(Relaxed), state.counters[0].load(Relaxed)), (0, 0, 9));
    assert_eq!((state.ss.get().base, state.ss.get().attributes, state.idtr.get().limit), (0, 0x93, 0xffff));
    assert_eq!(state.dirty.get(), dirty::CORE | dirty::SYSTEM);
}

proptest! {
    #[test]
    fn any_bytes_are_parsed(mut bytes in prop::collection::vec(any::<u8>(), 0x290..0x800), valid in any::<bool>()) {
        if valid {
            bytes[0x1fe..0x208].copy_from_slice(b"\x55\xaa\xeb\x6aHdrS\x0f\x02");
            bytes[0x211] |= 1;
            bytes[0x234] |= 1;
            bytes[0x236] |= 1;
            bytes[0x1f1] = 0;
            bytes[0x1f5..0x1f8].fill(0);
        }
        if let Ok(header) = Header::parse(&bytes) {
            let ranges = [ram(0, 0x10_0000)];
            let screen = Screen::default();
            let linux = Linux { image: &bytes, initrd: &[], command_line: b"", ranges: &ranges, tables: None, screen };
            let _ = place(&header, linux.ranges, 0, 0);
            let _ = load(&linux, &mut Ram::new(0, 0x1000), &State::default());
        }
    }

    #[test]
    fn nothing_overlaps(
        ranges in prop::collection::vec((0_u64..0x1_2000, 0_u64..0x4000), 1..8),
        initrd in 0_u64..0x400_0000,
        preferred in 0_u64..0x4000_0000,
    ) {
        let mut bytes = image();
        bytes[0x258..0x260].copy_from_slice(&preferred.to_le_bytes());
        let header = Header::parse(&bytes).unwrap();
        let ranges: Vec<Range> = ranges.iter().map(|(base, size)| ram(base << 16, size << 16)).collect();
        if let Ok(plan) = place(&header, &ranges, initrd, 10) {
            let mut parts = vec![(plan.kernel, header.init_size), (plan.zero_page, 4 * 4096)];
            if initrd != 0 {
                parts.push((plan.initrd, initrd));
                prop_assert!(plan.initrd + initrd <= 0x8000_0000);
            }
            prop_assert!(plan.kernel >= preferred && plan.kernel % header.alignment == 0);
            for (i, (start, size)) in parts.iter().enumerate() {
                prop_assert!(ranges.iter().any(|r| r.base <= *start && start + size <= r.base + r.size));
                for (other, other_size) in &parts[i + 1..] {
                    prop_assert!(start + size <= *other || other + other_size <= *start);
                }
            }
        }
    }
}
