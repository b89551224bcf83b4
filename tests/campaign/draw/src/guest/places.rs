//! Ports, configuration space and memory.

use super::{Place, Step, Way};
use crate::{Rng, excluded};

/// Ports with something behind them, on PCs and on the emulated one: first and count.
const PORTS: [(u16, u16); 30] = [
    (0x00, 16),      // DMA controller
    (0x20, 2),       // interrupt controllers
    (0x40, 4),       // timer
    (0x60, 1),       // keyboard controller
    (0x61, 1),       // speaker, NMI status
    (0x64, 1),       // keyboard controller
    (0x70, 8),       // clock, NMI mask
    (0x80, 16),      // DMA pages
    (0x92, 1),       // A20, reset
    (0xa0, 2),       // interrupt controllers
    (0xb2, 2),       // firmware's command
    (0xc0, 32),      // DMA controller
    (0xe9, 1),       // notes
    (0xf0, 2),       // coprocessor
    (0x2f8, 8),      // Pillion's log
    (0x3e8, 8),      // around the watched task's port
    (0x3f8, 8),      // console
    (0x402, 1),      // the firmware's log
    (0x4d0, 2),      // interrupt controllers
    (0x501, 3),      // exit of the emulator
    (0x510, 12),     // files of the emulator
    (0x600, 128),    // power management
    (0x700, 64),     // system management bus
    (0xa00, 24),     // memory hot-plug
    (0xcc0, 24),     // PCI hot-plug
    (0xcd4, 8),      // AMD's power management, processor hot-plug
    (0xcf8, 8),      // PCI configuration, reset
    (0xafe0, 4),     // PCI hot-plug of another emulated PC
    (0xb004, 2),     // power management of another emulated PC
    (0xc000, 0x100), // devices
];

/// Commands that some port takes, and all bits set.
const BYTES: [u8; 20] =
    [0, 1, 2, 3, 4, 6, 0x0a, 0x0e, 0x11, 0x20, 0x60, 0x64, 0x80, 0xaa, 0xad, 0xd1, 0xdd, 0xdf, 0xfe, 0xff];

fn width(rng: &mut Rng) -> u8 {
    rng.pick(&[1, 1, 2, 4])
}

fn port_number(rng: &mut Rng) -> u16 {
    if rng.one_in(6) {
        return rng.next() as u16;
    }
    let (first, count) = rng.pick(&PORTS);
    // Wide accesses that start below a range reach into it, too.
    (first + rng.below(count.into()) as u16).wrapping_sub(if rng.one_in(6) { 1 + rng.below(3) as u16 } else { 0 })
}

fn value(rng: &mut Rng) -> u32 {
    if rng.one_in(2) { rng.pick(&BYTES).into() } else { rng.number() as u32 }
}

pub fn port(rng: &mut Rng) -> Step {
    let (port, width) = (port_number(rng), width(rng));
    if rng.one_in(3) { Step::PortIn { port, width } } else { Step::PortOut { port, width, value: value(rng) } }
}

pub fn string(rng: &mut Rng) -> Step {
    Step::PortString {
        port: port_number(rng),
        width: width(rng),
        out: rng.one_in(2),
        count: 1 + rng.below(64) as u8,
        place: if rng.one_in(3) { place(rng) } else { Place::Own(rng.next() as u16) },
    }
}

/// Device and function: mostly those of the emulated machine.
fn function(rng: &mut Rng) -> (u8, u8) {
    match rng.below(8) {
        0 => (rng.below(32) as u8, rng.below(8) as u8),
        1 => (0, 0),
        2 | 3 => (31, rng.pick(&[0, 2, 3])),
        _ => (1 + rng.below(5) as u8, 0),
    }
}

fn register(rng: &mut Rng) -> u16 {
    match rng.below(8) {
        0 => rng.below(4096) as u16,
        1 | 2 => 4 * rng.below(64) as u16,
        3 => 0x18 + rng.below(3) as u16,
        4 => 0x10 + 4 * rng.below(6) as u16,
        5 => 0x1c + 2 * rng.below(12) as u16,
        _ => rng.below(0x100) as u16,
    }
}

pub fn config(rng: &mut Rng) -> Step {
    let way = if rng.one_in(3) { Way::Memory } else { Way::Ports };
    let bus = if rng.one_in(3) { rng.below(4) as u8 } else { 0 };
    let (device, function) = function(rng);
    let (width, register) = (width(rng), register(rng));
    let value = match rng.below(5) {
        0 => None,
        1 => Some(rng.below(16) as u32),
        2 => Some(address(rng) as u32),
        _ => Some(rng.number() as u32),
    };
    let value = value.map(|value| excluded::value(register, width, value.into()) as u32);
    Step::Config { way, bus, device, function, register, width, value }
}

/// Pages of a PC's devices: interrupt controllers, timers, AMD's chipsets and modules, flash.
const PAGES: [u64; 14] = [
    0xfec0_0000,
    0xfec0_1000,
    0xfed0_0000,
    0xfed1_c000,
    0xfed4_0000,
    0xfed8_0000,
    0xfee0_0000,
    0xfee1_0000,
    0xfeef_f000,
    0xfd00_0000,
    0xfe00_0000,
    0xffc0_0000,
    0xffff_f000,
    0xf_0000,
];

fn address(rng: &mut Rng) -> u64 {
    match rng.below(6) {
        0 => rng.below(1 << 20),
        1 => 0x1_0000_0000 + rng.below(1 << 34),
        2 => rng.pick(&[0x8u64, 0x9, 0xa, 0xb, 0xc, 0xd, 0xe, 0xf]) << 28 | rng.below(1 << 28),
        _ => rng.pick(&PAGES) + offset(rng),
    }
}

/// An offset into a page: where registers are, at its ends, or anywhere.
fn offset(rng: &mut Rng) -> u64 {
    match rng.below(4) {
        0 => rng.below(4096),
        1 => 4096 - 1 - rng.below(8),
        _ => 16 * rng.below(64),
    }
}

/// A place outside the guest's RAM.
pub fn place(rng: &mut Rng) -> Place {
    match rng.below(6) {
        0 => Place::Reserved(rng.next() as u8, if rng.one_in(2) { offset(rng) } else { rng.next() }),
        1 => Place::Device(rng.next() as u8, rng.below(1 << 14) as u32),
        2 => Place::Window(rng.next() as u32),
        _ => Place::At(address(rng)),
    }
}

pub fn memory(rng: &mut Rng) -> Step {
    let (place, width) = (place(rng), rng.pick(&[1, 2, 4, 4, 4, 8]));
    if rng.one_in(2) { Step::Load { place, width } } else { Step::Store { place, width, value: rng.number() } }
}
