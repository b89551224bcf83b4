//! The decoder of memory accesses, compared with `iced-x86`, which shares no code with the former.

use super::ram::Ram;
use crate::input::Input;
use core::cell::Cell;
use iced_x86::{Code, Decoder, DecoderOptions, Instruction, Mnemonic, OpKind, Register as Named};
use pillion_vmm_devices::instruction::{Access, Bytes, LONGEST, Operation, Register, decode, fetch};
use pillion_vmm_devices::paging::Mode;

/// Length, width, direction and operand agree if an access was decoded, and a plain move between a
/// general register or a constant and memory is decoded.
pub fn instruction(input: &[u8]) {
    let length = input.len().min(LONGEST);
    let mut bytes = [0; LONGEST];
    bytes[..length].copy_from_slice(&input[..length]);
    let ours = decode(&Bytes { bytes, length: length as u8 });
    let theirs = Decoder::new(64, &bytes[..length], DecoderOptions::AMD).decode();
    match ours {
        Ok(access) => compare(&access, &theirs, &bytes),
        Err(_) => assert!(!is_plain(&theirs, &bytes), "not decoded: {theirs:?} of {bytes:02x?}"),
    }
}

fn compare(access: &Access, theirs: &Instruction, bytes: &[u8]) {
    let what = format!("{access:?} is {theirs:?} ({:?}) of {bytes:02x?}", theirs.code());
    assert!(!theirs.is_invalid(), "no instruction: {what}");
    assert_eq!(usize::from(access.length), theirs.len(), "{what}");
    assert_eq!(usize::from(access.width), theirs.memory_size().size(), "{what}");
    let is_store = theirs.op0_kind() == OpKind::Memory;
    assert_eq!(access.stored(&[0; 16].map(Cell::new)).is_some(), is_store, "{what}");
    match access.operation {
        Operation::Load { register, width, signed } => {
            assert_eq!(
                (named(theirs.op0_register()), usize::from(width)),
                (Some(register), theirs.op0_register().size()),
                "{what}"
            );
            let extends = matches!(theirs.mnemonic(), Mnemonic::Movsx | Mnemonic::Movsxd);
            assert_eq!(signed, extends, "{what}");
            assert!(extends || matches!(theirs.mnemonic(), Mnemonic::Mov | Mnemonic::Movzx), "{what}");
        }
        Operation::StoreRegister(register) => {
            assert_eq!((named(theirs.op1_register()), theirs.mnemonic()), (Some(register), Mnemonic::Mov), "{what}");
        }
        Operation::StoreImmediate(value) => {
            assert_eq!(theirs.mnemonic(), Mnemonic::Mov, "{what}");
            let mask = pillion_vmm_devices::ones(access.width);
            assert_eq!(value & mask, theirs.immediate(1) & mask, "{what}");
        }
    }
}

/// A general register, named as the decoder does.
fn named(register: Named) -> Option<Register> {
    if !register.is_gpr() {
        return None;
    }
    let high = matches!(register, Named::AH | Named::CH | Named::DH | Named::BH);
    let number = register.full_register().number() as u8;
    Some(Register { number, high })
}

/// The moves that Linux makes to device memory: the forms with a register or a constant and a
/// mod-r/m byte, with the prefixes that a compiler emits.
fn is_plain(theirs: &Instruction, bytes: &[u8]) -> bool {
    let is_rex = |byte: &u8| byte & 0xf0 == 0x40;
    let is_other = |byte: &u8| matches!(byte, 0x26 | 0x2e | 0x36 | 0x3e | 0x64..=0x67 | 0xf0 | 0xf2 | 0xf3);
    let others = bytes.iter().take_while(|byte| is_other(byte)).count();
    let more = bytes.iter().skip(others).take_while(|byte| is_rex(byte) || is_other(byte)).count();
    if others > 1 || more > 1 {
        return false;
    }
    let plain = matches!(
        theirs.code(),
        Code::Mov_rm8_r8
            | Code::Mov_rm16_r16
            | Code::Mov_rm32_r32
            | Code::Mov_rm64_r64
            | Code::Mov_r8_rm8
            | Code::Mov_r16_rm16
            | Code::Mov_r32_rm32
            | Code::Mov_r64_rm64
            | Code::Mov_rm8_imm8
            | Code::Mov_rm16_imm16
            | Code::Mov_rm32_imm32
            | Code::Mov_rm64_imm32
            | Code::Movzx_r32_rm8
            | Code::Movzx_r32_rm16
            | Code::Movsx_r32_rm8
            | Code::Movsx_r32_rm16
            | Code::Movsxd_r64_rm32
    );
    let memory = theirs.op0_kind() == OpKind::Memory || theirs.op1_kind() == OpKind::Memory;
    plain && memory && !theirs.has_lock_prefix() && !theirs.has_rep_prefix() && !theirs.has_repne_prefix()
}

/// Any page tables: no panic, and the fetched bytes are as many as reported.
pub fn fetch_through_tables(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let mode = Mode { cr0: input.u64(), cr3: input.u64(), cr4: input.u64(), efer: input.u64() };
    let linear = input.u64();
    // The input's tables repeat through memory, so that a walk finds one wherever it leads.
    let pattern = input.rest();
    let memory = Ram(pattern.iter().copied().cycle().take(if pattern.is_empty() { 0 } else { 1 << 15 }).collect());
    if let Ok(bytes) = fetch(&memory, mode, linear) {
        assert!(bytes.length >= 1 && usize::from(bytes.length) <= LONGEST);
        assert_eq!(bytes.as_slice().len(), usize::from(bytes.length));
        let _ = decode(&bytes);
    }
}
