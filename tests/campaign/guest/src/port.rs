//! Ports, and the guest's output through one of them.

use core::arch::asm;

/// Port of the notes.
const NOTES: u16 = 0xe9;
/// Power management of the emulated machine, and the word that switches it off.
const POWER: (u16, u16) = (0x604, 0x2000);

/// Reads a port of 1, 2 or 4 bytes.
pub fn read(port: u16, width: u8) -> u32 {
    let mut value = 0u32;
    // SAFETY: this program exists to do what it must not; the damage is its own.
    unsafe {
        match width {
            1 => asm!("in al, dx", in("dx") port, inout("eax") value),
            2 => asm!("in ax, dx", in("dx") port, inout("eax") value),
            _ => asm!("in eax, dx", in("dx") port, inout("eax") value),
        }
    }
    value
}

/// Writes a port of 1, 2 or 4 bytes.
pub fn write(port: u16, width: u8, value: u32) {
    // SAFETY: as in `read`.
    unsafe {
        match width {
            1 => asm!("out dx, al", in("dx") port, in("eax") value),
            2 => asm!("out dx, ax", in("dx") port, in("eax") value),
            _ => asm!("out dx, eax", in("dx") port, in("eax") value),
        }
    }
}

/// Moves units between a port and memory.
pub fn string(port: u16, width: u8, out: bool, count: u8, address: u64) {
    macro_rules! repeat {
        ($instruction:literal) => {
            // SAFETY: as in `read`.
            unsafe {
                asm!(concat!("rep ", $instruction), in("dx") port, inout("rcx") u64::from(count) => _,
                    inout("rsi") address => _, inout("rdi") address => _)
            }
        };
    }
    match (width, out) {
        (1, false) => repeat!("insb"),
        (2, false) => repeat!("insw"),
        (_, false) => repeat!("insd"),
        (1, true) => repeat!("outsb"),
        (2, true) => repeat!("outsw"),
        (_, true) => repeat!("outsd"),
    }
}

/// Prints a text with a number, after an empty line, as steps may have left half of one.
pub fn note(text: &str, number: u64) {
    write(NOTES, 1, u32::from(b'\n'));
    "campaign: ".bytes().chain(text.bytes()).chain(*b" 0x").for_each(|byte| write(NOTES, 1, byte.into()));
    let digits = (64 - number.leading_zeros()).div_ceil(4).max(1);
    for digit in (0..digits).rev() {
        let value = (number >> (4 * digit) & 15) as u8;
        write(NOTES, 1, if value < 10 { b'0' + value } else { b'a' + value - 10 }.into());
    }
    write(NOTES, 1, u32::from(b'\n'));
}

/// Switches the machine off.
pub fn power_off() -> ! {
    loop {
        write(POWER.0, 2, POWER.1.into());
    }
}
