//! Page tables and instructions.

mod common;

use common::Ram;
use core::cell::Cell;
use pillion_abi::vcpu::{Segment, State};
use pillion_vmm_devices::boot::{Plan, entry};
use pillion_vmm_devices::instruction::{Bytes, Error, LONGEST, Operation, at_exit, decode, fetch};
use pillion_vmm_devices::paging::{self, Mode, translate};
use proptest::prelude::*;

const LONG: Mode = Mode { cr0: 0x8000_0001, cr3: 0x1000, cr4: 0x20, efer: 0x500 };

fn bytes(code: &[u8]) -> Bytes {
    let mut bytes = [0; LONGEST];
    bytes[..code.len()].copy_from_slice(code);
    Bytes { bytes, length: code.len() as u8 }
}

/// Tables at 0x1000: a 4 KiB page, a 2 MiB page and a 1 GiB page.
fn tables() -> Ram {
    let mut ram = Ram::new(0, 0x10000);
    let mut entry = |at: u64, value: u64| ram.put(at, &value.to_le_bytes());
    entry(0x1000, 0x2003);
    entry(0x1000 + 511 * 8, 0x2003);
    entry(0x2000, 0x3003);
    entry(0x2008, 0x4000_0083);
    entry(0x3000, 0x4003);
    entry(0x3008, 0x20_0083);
    entry(0x4000, 0x8000_0000_0000_9003);
    ram
}

#[test]
fn pages_of_all_sizes() {
    let ram = tables();
    let at = |linear| translate(&ram, LONG, linear);
    assert_eq!(at(0x123), Ok(0x9123));
    assert_eq!(at(0x20_1234), Ok(0x20_1234));
    assert_eq!(at(0x4123_4567), Ok(0x4123_4567));
    assert_eq!(at(0xffff_ff80_0000_0123), Ok(0x9123));
    assert_eq!(at(0x1123), Err(paging::Error::NotPresent(1)));
    assert_eq!(at(0x8000_0000), Err(paging::Error::NotPresent(3)));
    assert_eq!(at(0x8000_0000_0000), Err(paging::Error::NotCanonical));
    assert_eq!(translate(&ram, Mode { cr3: 0x10_0000, ..LONG }, 0), Err(paging::Error::TableOutside(4)));
    assert_eq!(translate(&ram, Mode { cr0: 1, ..LONG }, 0x1_0000_5000), Ok(0x5000));
    assert_eq!(translate(&ram, Mode { efer: 0, ..LONG }, 0), Err(paging::Error::Unsupported));
}

#[test]
fn fetching_stops_at_a_missing_page() {
    let mut ram = tables();
    ram.put(0x9ff8, &[0x90; 8]);
    let found = fetch(&ram, LONG, 0xff8).unwrap();
    assert_eq!((found.length, found.as_slice()), (8, [0x90; 8].as_slice()));
    ram.put(0x4008, &0xa003_u64.to_le_bytes());
    ram.put(0xa000, &[0x91; 8]);
    let found = fetch(&ram, LONG, 0xff8).unwrap();
    assert_eq!((found.length, found.bytes[8]), (15, 0x91));
}

#[test]
fn moves() {
    let mut gpr = [0_u64; 16];
    gpr[0] = 0x1122_3344_5566_7788;
    gpr[9] = 0xaabb;
    let run = |code: &[u8], value: u64| {
        let access = decode(&bytes(code)).unwrap();
        let after = gpr.map(Cell::new);
        let stored = access.stored(&after);
        access.load(&after, value);
        (access.width, usize::from(access.length) == code.len(), stored, after.map(Cell::into_inner))
    };
    let loaded = |code: &[u8], value, register: usize| run(code, value).3[register];
    // mov %eax, 0x10(%rdi); mov %r9w, (%rdi); mov %ah, (%rdi); movl $-1, 0xb0(%rdi); movq $-2,
    // (%rdi)
    assert_eq!(run(b"\x89\x47\x10", 0), (4, true, Some(0x5566_7788), gpr));
    assert_eq!(run(b"\x66\x44\x89\x0f", 0), (2, true, Some(0xaabb), gpr));
    assert_eq!(run(b"\x88\x27", 0), (1, true, Some(0x77), gpr));
    assert_eq!(run(b"\xc7\x87\xb0\0\0\0\xff\xff\xff\xff", 0), (4, true, Some(0xffff_ffff), gpr));
    assert_eq!(run(b"\x48\xc7\x07\xfe\xff\xff\xff", 0), (8, true, Some(u64::MAX - 1), gpr));
    // mov (%rdi), %eax; mov (%rdi), %ah; mov (%rdi), %ax; movzbl, movsbl, movslq; mov
    // 0xffffffffff5fc020, %eax
    assert_eq!(loaded(b"\x8b\x07", 0x1_8000_0001, 0), 0x8000_0001);
    assert_eq!(loaded(b"\x8a\x27", 0x99, 0), 0x1122_3344_5566_9988);
    assert_eq!(loaded(b"\x66\x8b\x07", 0x1_9999, 0), 0x1122_3344_5566_9999);
    assert_eq!(loaded(b"\x0f\xb6\x07", 0x1f0, 0), 0xf0);
    assert_eq!(loaded(b"\x0f\xbe\x07", 0xf0, 0), 0xffff_fff0);
    assert_eq!(loaded(b"\x48\x63\x07", 0x8000_0000, 0), 0xffff_ffff_8000_0000);
    assert_eq!(loaded(b"\x8b\x04\x25\x20\xc0\x5f\xff", 0x55, 0), 0x55);
    assert_eq!(loaded(b"\x40\x8a\x3f", 0x55, 7), 0x55);
    assert!(matches!(decode(&bytes(b"\xa1\0\0\0\0\0\0\0\0")).unwrap().operation, Operation::Load { width: 4, .. }));
}

#[test]
fn the_instruction_at_an_exit() {
    let plan = Plan { kernel: 0, initrd: 0, initrd_size: 0, zero_page: 0, gdt: 0, command_line: 0, tables: 0 };
    let state = State::default();
    entry(&plan, &state);
    let mut ram = tables();
    ram.put(0x9010, b"\x89\x47\x10");
    assert_eq!(at_exit(&ram, &state), Err(Error::NotLongMode));
    state.cr0.set(LONG.cr0);
    state.cr3.set(LONG.cr3);
    state.cr4.set(LONG.cr4);
    state.efer.set(LONG.efer);
    state.rip.set(0x10);
    assert_eq!(at_exit(&ram, &state), Err(Error::NotLongMode), "32-bit code under long mode");
    state.cs.update(|s| Segment { attributes: 0xa9b, ..s });
    assert_eq!(at_exit(&ram, &state).unwrap().width, 4);
    state.rip.set(0x20_0000);
    assert_eq!(at_exit(&ram, &state), Err(Error::FetchOutside(0x20_0000)));
}

#[test]
fn what_is_not_a_move_is_refused() {
    // or, xchg, rep stos, movaps, mov to a segment register, nothing
    for code in [b"\x09\x07".as_slice(), b"\x87\x07", b"\xf3\xab", b"\x0f\x29\x07", b"\x8e\x07", b"", b"\x89"] {
        assert_eq!(decode(&bytes(code)), Err(Error::Unsupported(bytes(code))));
    }
}

/// A REX prefix counts only as the last prefix, and MOVSXD extends to 64 bits only with REX.W: the
/// decoder disagrees.
#[test]
fn encodings_that_the_decoder_takes_for_others_are_refused() {
    for code in [
        &[0x4d, 0x42, 0x8b, 0x72, 0x77][..],
        &[0x48, 0x66, 0x8b, 0x08],
        &[0x63, 0x08],
        &[0x66, 0x63, 0x08],
        &[0x44, 0x63, 0x08],
    ] {
        assert_eq!(decode(&bytes(code)), Err(Error::Unsupported(bytes(code))), "{code:02x?}");
    }
    let Operation::Load { width, signed, .. } = decode(&bytes(&[0x48, 0x63, 0x08])).unwrap().operation else {
        panic!()
    };
    assert_eq!((width, signed), (8, true));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn any_bytes_are_decoded(code in prop::collection::vec(any::<u8>(), 0..=15), mov in any::<bool>(), value in any::<u64>()) {
        let mut code = code;
        if mov && !code.is_empty() {
            code[0] = 0x88 | code[0] & 7;
        }
        if let Ok(access) = decode(&bytes(&code)) {
            prop_assert!(matches!(access.width, 1 | 2 | 4 | 8));
            prop_assert!(usize::from(access.length) <= code.len());
            let gpr = [value; 16].map(Cell::new);
            access.load(&gpr, !value);
            prop_assert_eq!(access.stored(&gpr).is_none(), matches!(access.operation, Operation::Load { .. }));
        }
    }

    #[test]
    fn any_tables_are_walked(
        content in prop::collection::vec(any::<u64>(), 512), cr3 in 0_u64..0x2000, linear in any::<u64>(),
        cr4 in any::<u64>(), small in any::<bool>(),
    ) {
        let mut ram = Ram::new(0, 0x1000);
        for (at, word) in (0_u64..).step_by(8).zip(&content) {
            let word = if small { word & 0xe7f | 1 } else { *word };
            ram.put(at, &word.to_le_bytes());
        }
        let linear = if small { linear & 0x7fff_ffff_ffff } else { linear };
        let _ = translate(&ram, Mode { cr3, cr4, ..LONG }, linear);
        let _ = fetch(&ram, Mode { cr3, cr4, ..LONG }, linear);
    }
}
