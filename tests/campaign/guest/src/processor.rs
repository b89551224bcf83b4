//! Processor registers.

use core::arch::{asm, x86_64::__cpuid_count};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

use pillion_campaign::{Rng, guest::Control};

use crate::entry;

const EFER: u32 = 0xc000_0080;
const DEADLINE: u32 = 0x6e0;
const END_OF_INTERRUPT: u32 = 0x80b;
const TIMER: u32 = 0x832;
const SPURIOUS: u32 = 0x80f;

/// CR0: protection, numeric errors, paging. CR4: physical address extension.
const CR0: u64 = 0x8000_0031;
const CR4: u64 = 0x20;
/// Enabled long mode, no-execute.
const LONG: u64 = 0xd00;

/// A vector of the guest's own for its timer.
const TIMER_VECTOR: u64 = 0x51;

/// Number of interrupts so far; what is drawn for an interrupt depends on it.
static INTERRUPTS: AtomicU64 = AtomicU64::new(0);

/// Reads a register; an exception ends the step.
pub fn read(number: u32) -> u64 {
    let (low, high): (u32, u32);
    // SAFETY: reads a register, or faults, which `trap` handles.
    unsafe { asm!("rdmsr", in("ecx") number, out("eax") low, out("edx") high) };
    u64::from(high) << 32 | u64::from(low)
}

/// Writes a register; an exception ends the step.
pub fn write(number: u32, value: u64) {
    // SAFETY: this program exists to do what it must not; the damage is its own.
    unsafe { asm!("wrmsr", in("ecx") number, in("eax") value as u32, in("edx") (value >> 32) as u32) };
}

/// The time-stamp counter; on the machine that this is for, a tick is a nanosecond.
pub fn now() -> u64 {
    // SAFETY: reads a counter.
    unsafe { core::arch::x86_64::_rdtsc() }
}

/// CPUID.
pub fn identify(leaf: u32, subleaf: u32) -> [u32; 4] {
    let r = __cpuid_count(leaf, subleaf);
    [r.eax, r.ebx, r.ecx, r.edx]
}

/// Restores the registers to their state before the steps.
pub fn restore() {
    // SAFETY: these are the values that the program runs with.
    unsafe {
        asm!("mov cr3, {}", in(reg) &raw const entry::TABLES as u64);
        asm!("mov cr0, {}", in(reg) CR0);
        asm!("mov cr4, {}", in(reg) CR4);
        asm!("mov dr7, {}", in(reg) 0x400u64);
    }
    write(EFER, LONG | read(EFER) & 0x1000);
}

/// Flips bits of a register, runs a function, and flips them back.
pub fn flip(register: Control, bits: u64) {
    macro_rules! with {
        ($name:literal) => {{
            let value: u64;
            // SAFETY: as in `write`.
            unsafe {
                asm!(concat!("mov {}, ", $name), out(reg) value);
                asm!(concat!("mov ", $name, ", {}"), in(reg) value ^ bits);
                asm!("pause");
                asm!(concat!("mov ", $name, ", {}"), in(reg) value);
            }
        }};
    }
    match register {
        Control::Cr0 => with!("cr0"),
        Control::Cr3 => with!("cr3"),
        Control::Cr4 => with!("cr4"),
        Control::Dr7 => with!("dr7"),
        Control::Efer => {
            let value = read(EFER);
            write(EFER, value ^ bits);
            write(EFER, value);
        }
        Control::Xcr0 => {
            // SAFETY: as in `write`; OSXSAVE makes the instruction valid.
            unsafe {
                asm!("mov cr4, {}", in(reg) CR4 | 1 << 18);
                asm!("xsetbv", in("ecx") 0, in("eax") (1 ^ bits) as u32, in("edx") (bits >> 32) as u32);
                asm!("xsetbv", in("ecx") 0, in("eax") 1, in("edx") 0);
                asm!("mov cr4, {}", in(reg) CR4);
            }
        }
    }
}

/// Handles an interrupt: mostly with an EOI.
pub fn end_interrupt() {
    let count = INTERRUPTS.fetch_add(1, Relaxed);
    if !Rng::new(count, 0).one_in(24) {
        write(END_OF_INTERRUPT, 0);
    }
}

pub fn spin(ns: u32, open: bool) {
    let until = now() + u64::from(ns);
    if open {
        // SAFETY: `trap` has gates for all vectors.
        unsafe { asm!("sti") };
    }
    while now() < until {
        core::hint::spin_loop();
    }
    // SAFETY: switches interrupts off again.
    unsafe { asm!("cli") };
}

/// Halts until the timer's or another interrupt.
pub fn sleep(ns: u32) {
    write(SPURIOUS, 0x1ff);
    write(TIMER, 2 << 17 | TIMER_VECTOR);
    write(DEADLINE, now() + u64::from(ns));
    // SAFETY: as in `spin`.
    unsafe { asm!("sti", "hlt", "cli") };
}
