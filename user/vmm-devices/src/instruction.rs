//! The instruction of an exiting memory access: fetched, decoded, and carried out on the registers.
//!
//! SVM as emulated provides neither the instruction's bytes nor its length, so both are found here.
//! The decoder is the crate `yaxpeax-x86`: it works without the standard library and without
//! allocation, knows the whole instruction set (its prefixes above all), and decodes from a slice
//! into a value. `iced-x86`, which is maintained as well, needs `alloc` for decoding. Only 64-bit
//! code and the plain moves are accepted, which is what Linux uses for device memory (`readl`,
//! `writel` and their kin compile to MOV, and so do the APIC's accessors); anything else is
//! [`Error::Unsupported`], with its bytes.

use core::cell::Cell;
use pillion_abi::vcpu::State;
use yaxpeax_arch::LengthedInstruction;
use yaxpeax_x86::amd64::{InstDecoder, Instruction, Opcode, Operand, RegSpec, register_class};

use crate::guest_memory::GuestMemory;
use crate::{ones, paging};

/// Longest instruction (APM vol. 3, 1.1).
pub const LONGEST: usize = 15;

/// The bytes of an instruction, as many as could be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bytes {
    /// The bytes, and zeros after them.
    pub bytes: [u8; LONGEST],
    /// Number of bytes.
    pub length: u8,
}

impl Bytes {
    /// The bytes, without the zeros.
    pub fn as_slice(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.length)).unwrap_or(&self.bytes)
    }
}

/// Why an access could not be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The first byte could not be fetched.
    Fetch(paging::Error),
    /// The translation leads outside the guest's RAM.
    FetchOutside(u64),
    /// The guest does not run 64-bit code.
    NotLongMode,
    /// The instruction is not one of the moves.
    Unsupported(Bytes),
}

/// A general register or a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Register {
    /// Number, 0 to 15.
    pub number: u8,
    /// True for AH, CH, DH and BH.
    pub high: bool,
}

/// What the access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Memory into a register of `width` bytes, extended if the register is wider.
    Load {
        /// The register.
        register: Register,
        /// Its width in bytes.
        width: u8,
        /// Sign extension instead of zero extension.
        signed: bool,
    },
    /// A register into memory.
    StoreRegister(Register),
    /// A constant, already extended, into memory.
    StoreImmediate(u64),
}

/// A decoded access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Bytes of memory accessed: 1, 2, 4 or 8.
    pub width: u8,
    /// Bytes of the instruction.
    pub length: u8,
    /// What it does.
    pub operation: Operation,
}

impl Access {
    /// The value to be written, or `None` for a load.
    pub fn stored(&self, gpr: &[Cell<u64>; 16]) -> Option<u64> {
        let value = match self.operation {
            Operation::Load { .. } => return None,
            Operation::StoreImmediate(value) => value,
            Operation::StoreRegister(register) => {
                let whole = gpr[usize::from(register.number & 15)].get();
                if register.high { whole >> 8 } else { whole }
            }
        };
        Some(value & ones(self.width))
    }

    /// Completes a load with the value read. A store changes no register.
    pub fn load(&self, gpr: &[Cell<u64>; 16], value: u64) {
        let Operation::Load { register, width, signed } = self.operation else { return };
        let value = extend(value, self.width, signed);
        gpr[usize::from(register.number & 15)].update(|old| match width {
            8 => value,
            4 => value & 0xffff_ffff,
            2 => (old & !0xffff) | (value & 0xffff),
            _ if register.high => (old & !0xff00) | ((value & 0xff) << 8),
            _ => (old & !0xff) | (value & 0xff),
        });
    }
}

fn extend(value: u64, width: u8, signed: bool) -> u64 {
    let value = value & ones(width);
    let negative = signed && width > 0 && value >> (8 * u32::from(width.min(8)) - 1) != 0;
    if negative { value | !ones(width) } else { value }
}

/// Fetches and decodes the instruction that exited. Fails as [`Error`] says.
pub fn at_exit(memory: &impl GuestMemory, state: &State) -> Result<Access, Error> {
    const CODE_LONG: u16 = 1 << 9;
    if state.efer.get() & (1 << 10) == 0 || state.cs.get().attributes & CODE_LONG == 0 {
        return Err(Error::NotLongMode);
    }
    decode(&fetch(memory, paging::Mode::of(state), state.rip.get())?)
}

/// Fetches up to [`LONGEST`] bytes; fewer if the next page is not present. Fails if not even the
/// first byte can be read.
pub fn fetch(memory: &impl GuestMemory, mode: paging::Mode, linear: u64) -> Result<Bytes, Error> {
    let mut bytes = [0; LONGEST];
    let physical = paging::translate(memory, mode, linear).map_err(Error::Fetch)?;
    let first = LONGEST.min((4096 - (linear & 0xfff)) as usize);
    if !memory.read(physical, &mut bytes[..first]) {
        return Err(Error::FetchOutside(physical));
    }
    let mut length = first;
    if first < LONGEST
        && let Ok(next) = paging::translate(memory, mode, linear.wrapping_add(first as u64))
        && memory.read(next, &mut bytes[first..])
    {
        length = LONGEST;
    }
    Ok(Bytes { bytes, length: length as u8 })
}

const REX_W: u8 = 8;

/// Decodes 64-bit code. [`Error::Unsupported`] unless it is a move between memory and a
/// general register or a constant.
pub fn decode(bytes: &Bytes) -> Result<Access, Error> {
    let unsupported = Error::Unsupported(*bytes);
    let rex = rex(bytes).ok_or(unsupported)?;
    let instruction = InstDecoder::default().decode_slice(bytes.as_slice()).map_err(|_| unsupported)?;
    let access = access(&instruction, rex).ok_or(unsupported)?;
    if matches!(access.width, 1 | 2 | 4 | 8) { Ok(access) } else { Err(unsupported) }
}

fn access(instruction: &Instruction, rex: u8) -> Option<Access> {
    let length = u8::try_from(instruction.len().to_const()).ok()?;
    let width = instruction.mem_size()?.bytes_size()?;
    let (to, from) = (instruction.operand(0), instruction.operand(1));
    let operation = match instruction.opcode() {
        Opcode::MOV if to.is_memory() => store(from)?,
        Opcode::MOV | Opcode::MOVZX if from.is_memory() => load(to, false)?,
        Opcode::MOVSX if from.is_memory() => load(to, true)?,
        // Without REX.W it moves two or four bytes, for the decoder eight; no compiler emits it.
        Opcode::MOVSXD if from.is_memory() && rex & REX_W != 0 => load(to, true)?,
        _ => return None,
    };
    Some(Access { width, length, operation })
}

/// The REX prefix, 0 if there is none. `None` if another prefix follows a REX prefix: the processor
/// then ignores the REX prefix, and the decoder does not.
fn rex(bytes: &Bytes) -> Option<u8> {
    let is_rex = |byte: u8| byte & 0xf0 == 0x40;
    let is_legacy = |byte: u8| matches!(byte, 0x26 | 0x2e | 0x36 | 0x3e | 0x64..=0x67 | 0xf0 | 0xf2 | 0xf3);
    let mut rest = bytes.as_slice().iter().copied().skip_while(|byte| is_legacy(*byte));
    match rest.next()? {
        rex if is_rex(rex) => rest.next().filter(|next| !is_rex(*next) && !is_legacy(*next)).map(|_| rex),
        _ => Some(0),
    }
}

fn load(to: Operand, signed: bool) -> Option<Operation> {
    let Operand::Register { reg } = to else { return None };
    let (register, width) = general(reg)?;
    Some(Operation::Load { register, width, signed })
}

fn store(from: Operand) -> Option<Operation> {
    Some(match from {
        Operand::Register { reg } => Operation::StoreRegister(general(reg)?.0),
        Operand::ImmediateI8 { imm } => Operation::StoreImmediate(i64::from(imm).cast_unsigned()),
        Operand::ImmediateU8 { imm } => Operation::StoreImmediate(u64::from(imm)),
        Operand::ImmediateI16 { imm } => Operation::StoreImmediate(i64::from(imm).cast_unsigned()),
        Operand::ImmediateU16 { imm } => Operation::StoreImmediate(u64::from(imm)),
        Operand::ImmediateI32 { imm } => Operation::StoreImmediate(i64::from(imm).cast_unsigned()),
        Operand::ImmediateU32 { imm } => Operation::StoreImmediate(u64::from(imm)),
        Operand::ImmediateI64 { imm } => Operation::StoreImmediate(imm.cast_unsigned()),
        Operand::ImmediateU64 { imm } => Operation::StoreImmediate(imm),
        _ => return None,
    })
}

/// The general register and its width in bytes; `None` for segment, control and vector registers.
fn general(reg: RegSpec) -> Option<(Register, u8)> {
    let class = reg.class();
    let width = match class {
        c if c == register_class::Q => 8,
        c if c == register_class::D => 4,
        c if c == register_class::W => 2,
        c if c == register_class::B || c == register_class::RB => 1,
        _ => return None,
    };
    let high = class == register_class::B && (4..8).contains(&reg.num());
    let number = if high { reg.num() - 4 } else { reg.num() };
    (number < 16).then_some((Register { number, high }, width))
}
