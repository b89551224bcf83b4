//! Processor registers.

use super::{Control, Step};
use crate::{Rng, excluded};

/// Model-specific registers that some model, or this processor, has: first and count.
const NAMED: [(u32, u32); 22] = [
    (0x10, 1),
    (0x1b, 1),
    (0x3a, 2),
    (0x48, 2),
    (0x79, 1),
    (0x8b, 1),
    (0xc1, 8),
    (0xfe, 1),
    (0x174, 9),
    (0x1a0, 1),
    (0x1d9, 6),
    (0x200, 16),
    (0x250, 48),
    (0x277, 1),
    (0x2ff, 1),
    (0x400, 64),
    (0x6e0, 1),
    (0xda0, 1),
    (0xc000_0080, 5),
    (0xc000_0100, 4),
    (0xc001_0000, 128),
    (0xc001_0110, 16),
];

const TASK_PRIORITY: u32 = 0x808;
const END: u32 = 0x80b;
const COMMAND: u32 = 0x830;
const SELF: u32 = 0x83f;
const DEADLINE: u32 = 0x6e0;

/// Bits of CR0 and CR4 that a program survives flipping for a moment.
const CR0: u64 = 0x6005_002e;
const CR4: u64 = 0x0007_0fdf;

fn number(rng: &mut Rng) -> u32 {
    match rng.below(8) {
        0 => rng.number() as u32,
        1 => 0xc001_0000 + rng.below(0x2000) as u32,
        2 | 3 => 0x800 + rng.below(0x40) as u32,
        _ => {
            let (first, count) = rng.pick(&NAMED);
            first + rng.below(count.into()) as u32
        }
    }
}

/// An interrupt message to another processor or the sender: any vector, mode, destination.
fn command(rng: &mut Rng) -> u64 {
    let destination = rng.pick(&[0, 0, 1, 0xff, 0xffff_ffff]);
    destination << 32 | rng.next() & 0xc_cfff
}

pub fn model_specific(rng: &mut Rng) -> Step {
    match rng.below(12) {
        0 | 1 => Step::WriteRegister(COMMAND, command(rng)),
        2 => Step::WriteRegister(SELF, rng.below(256)),
        3 => Step::WriteRegister(END, 0),
        4 => Step::WriteRegister(DEADLINE, rng.number()),
        5 => Step::WriteRegister(TASK_PRIORITY, rng.below(256)),
        6 | 7 => Step::ReadRegister(number(rng)),
        _ => Step::WriteRegister(number(rng), rng.number()),
    }
}

pub fn control(rng: &mut Rng) -> Step {
    let (register, bits) = rng.pick(&[
        (Control::Cr0, CR0),
        (Control::Cr4, CR4),
        (Control::Cr4, CR4),
        (Control::Efer, 0x7801),
        (Control::Xcr0, 7),
        (Control::Dr7, 0xffff_2bff),
    ]);
    let bits = if rng.one_in(2) { rng.next() & bits } else { 1 << rng.below(17) & bits };
    Step::Flip { register, bits }
}

/// Steps that usually end a life at once: other tables, bits that no processor has.
pub fn deadly(rng: &mut Rng) -> Step {
    let register = rng.pick(&[Control::Cr0, Control::Cr3, Control::Cr3, Control::Cr4, Control::Cr4, Control::Efer]);
    let bits = if rng.one_in(2) { rng.number() } else { 1 << rng.below(48) };
    Step::Flip { register, bits: excluded::control(register, bits) }
}

pub fn identify(rng: &mut Rng) -> Step {
    let base = rng.pick(&[0, 0x8000_0000, 0x4000_0000, 0x4000_0100]);
    let leaf = if rng.one_in(6) { rng.next() as u32 } else { base + rng.below(0x24) as u32 };
    Step::Identify { leaf, subleaf: if rng.one_in(4) { rng.number() as u32 } else { rng.below(16) as u32 } }
}
