//! Runs one instruction, with the trap flag set.

use core::arch::asm;

use pillion_campaign::{
    Rng,
    guest::{Behind, Instruction},
};

use crate::{entry, page, place, trap};

const TRAP: u64 = 1 << 8;
const INTERRUPTS: u64 = 1 << 9;

/// Ports that random bytes may reach: the diagnostic port, and two that a model implements.
const PORTS: [u64; 3] = [0x80, 0xcf8, 0x604];

/// The general registers in the order of their numbers except `rsp`, then the frame for `iretq`.
#[repr(C)]
struct Frame {
    general: [u64; 15],
    rip: u64,
    cs: u64,
    flags: u64,
    rsp: u64,
    ss: u64,
}

/// Index in [`Frame::general`].
const RAX: usize = 0;
const RDX: usize = 2;
const RSI: usize = 5;
const RDI: usize = 6;

/// Runs the instruction. The exception after it leads to the next step.
pub fn run(instruction: &Instruction) -> ! {
    let address = place::address(instruction.place);
    let tables = &raw mut entry::TABLES;
    // SAFETY: there is one processor, and nothing else refers to the two pages.
    let tables = unsafe { &mut *tables };
    let offset = if instruction.split == 0 { 0 } else { 4096 - usize::from(instruction.split) };
    tables.put(offset, &instruction.bytes);
    tables.map_code(match instruction.behind {
        Behind::Rest => Some(tables.second()),
        Behind::Nothing => None,
        Behind::Foreign => Some(place::KERNEL),
    });
    // 32-bit code runs from the one-to-one mapping of the pages.
    let rip = if instruction.narrow { tables.second() - 4096 } else { page::CODE } + offset as u64;
    let frame = Frame {
        general: registers(instruction.registers, address),
        rip,
        cs: if instruction.narrow { trap::NARROW } else { trap::CODE },
        flags: 2 | TRAP | if instruction.open { INTERRUPTS } else { 0 },
        rsp: place::own(0x8000),
        ss: trap::DATA,
    };
    // SAFETY: the frame is as `iretq` needs it; whatever the instruction does, `trap` continues.
    unsafe {
        asm!(
            "mov rax, cr3",
            "mov cr3, rax",
            "mov rsp, {frame}",
            "pop rax", "pop rcx", "pop rdx", "pop rbx", "pop rbp", "pop rsi", "pop rdi",
            "pop r8", "pop r9", "pop r10", "pop r11", "pop r12", "pop r13", "pop r14", "pop r15",
            "iretq",
            frame = in(reg) &raw const frame,
            options(noreturn),
        )
    }
}

fn registers(seed: u64, address: u64) -> [u64; 15] {
    let mut rng = Rng::new(seed, 0);
    let mut all = core::array::from_fn(|_| match rng.below(4) {
        0 => rng.below(64),
        1 => place::own(rng.next() as u16),
        2 => address,
        _ => rng.number(),
    });
    for index in [RAX, RSI, RDI] {
        all[index] = address;
    }
    all[RDX] = rng.pick(&PORTS);
    all
}
