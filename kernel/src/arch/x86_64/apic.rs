//! The local APIC of the running CPU, in x2APIC mode where there is one.

use core::arch::asm;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::layout::{ALWAYS_MAPPED, direct};
use super::{cpu, fatal, log, msr};
use register::Register;

/// Vectors that the kernel keeps for itself.
pub mod vector {
    /// From one CPU to another, for the passenger there: the highest that the passenger's class
    /// has, so that it is held back with them.
    pub const MESSAGE: u8 = pillion_abi::MESSAGE_VECTOR;
    /// Error of the local APIC.
    pub const ERROR: u8 = 0xfc;
    /// From one CPU to another.
    pub const IPI: u8 = 0xfd;
    /// Timer.
    pub const TIMER: u8 = 0xfe;
    /// Spurious: no interrupt was there after all, and no EOI is due.
    pub const SPURIOUS: u8 = 0xff;
}

/// Registers, by their offset in memory.
mod register {
    /// A register that every local APIC has; reading it changes nothing.
    #[derive(Clone, Copy)]
    pub struct Register(u32);

    impl Register {
        pub fn offset(self) -> u32 {
            self.0
        }
    }

    /// The word of a vector among those in service.
    pub fn in_service(vector: u8) -> Register {
        Register(0x100 + (u32::from(vector) >> 5 << 4))
    }

    pub const ID: Register = Register(0x20);
    pub const TASK_PRIORITY: Register = Register(0x80);
    pub const EOI: Register = Register(0xb0);
    pub const SPURIOUS: Register = Register(0xf0);
    pub const ERROR: Register = Register(0x280);
    pub const COMMAND: Register = Register(0x300);
    pub const COMMAND_TARGET: Register = Register(0x310);
    pub const LVT_TIMER: Register = Register(0x320);
    pub const LVT_THERMAL: Register = Register(0x330);
    pub const LVT_PERFORMANCE: Register = Register(0x340);
    pub const LVT_LINT0: Register = Register(0x350);
    pub const LVT_LINT1: Register = Register(0x360);
    pub const LVT_ERROR: Register = Register(0x370);
    pub const TIMER_INITIAL: Register = Register(0x380);
    pub const TIMER_CURRENT: Register = Register(0x390);
    pub const TIMER_DIVIDE: Register = Register(0x3e0);
}

const MASKED: u32 = 1 << 16;
/// Task priority that holds back the vectors below 0x20, which a device may send and which would
/// look like exceptions.
const EXCEPTIONS: u32 = 0x10;
const DELIVER_NMI: u32 = 4 << 8;
const SOFTWARE_ENABLE: u32 = 1 << 8;
const DIVIDE_BY_ONE: u32 = 0b1011;
const BASE_ENABLE: u64 = 1 << 11;
const BASE_X2APIC: u64 = 1 << 10;
const BASE_ADDRESS: u64 = 0x000f_ffff_ffff_f000;

/// Address of the registers in the direct map, or 0 in x2APIC mode.
static REGISTERS: AtomicU64 = AtomicU64::new(0);

/// Address of the registers of the running CPU's local APIC, or 0 in x2APIC mode.
#[inline]
fn registers() -> u64 {
    REGISTERS.load(Relaxed)
}

/// The MSR that a register is in x2APIC mode.
#[inline]
fn number_of(register: Register) -> u32 {
    0x800 + (register.offset() >> 4)
}

#[inline]
fn read(register: Register) -> u32 {
    read_from(registers(), register)
}

/// Reads a register, given what [`registers`] said.
#[inline]
fn read_from(base: u64, register: Register) -> u32 {
    let offset = register.offset();
    // SAFETY: `init` made sure that the registers are there, in memory or as MSRs; reading them
    // changes nothing.
    unsafe {
        if base == 0 {
            msr::read(number_of(register)) as u32
        } else {
            ((base + u64::from(offset)) as *const u32).read_volatile()
        }
    }
}

/// The worst that a wrong value can do is an interrupt out of place.
#[inline]
fn write(register: Register, value: u32) {
    write_to(registers(), register, value);
}

/// Writes a register, given what [`registers`] said.
#[inline]
fn write_to(base: u64, register: Register, value: u32) {
    let offset = register.offset();
    // SAFETY: as in `read`; none of them writes memory.
    unsafe {
        if base == 0 {
            msr::write(number_of(register), value.into());
        } else {
            ((base + u64::from(offset)) as *mut u32).write_volatile(value);
        }
    }
}

/// Switches the running CPU's local APIC on: timer one-shot, LINT0 masked, LINT1 is NMI, all
/// vectors accepted but those of exceptions.
pub fn init() {
    // SAFETY: every processor with an APIC has this register.
    let base = unsafe { msr::read(msr::APIC_BASE) };
    let mode = if cpu::has(cpu::X2APIC) { BASE_ENABLE | BASE_X2APIC } else { BASE_ENABLE };
    let address = base & BASE_ADDRESS;
    if !cpu::has(cpu::X2APIC) {
        if address >= ALWAYS_MAPPED {
            fatal("the local APIC is out of reach");
        }
        REGISTERS.store(direct::<u8>(address) as u64, Relaxed);
    }
    // SAFETY: the address stays; the processor has the mode. From xAPIC or off, both are allowed
    // steps.
    unsafe {
        msr::write(msr::APIC_BASE, base | BASE_ENABLE);
        msr::write(msr::APIC_BASE, base | mode);
    }
    write(register::SPURIOUS, SOFTWARE_ENABLE | u32::from(vector::SPURIOUS));
    write(register::LVT_LINT0, MASKED);
    write(register::LVT_LINT1, DELIVER_NMI);
    write(register::LVT_PERFORMANCE, MASKED);
    write(register::LVT_THERMAL, MASKED);
    write(register::TIMER_DIVIDE, DIVIDE_BY_ONE);
    write(register::TIMER_INITIAL, 0);
    write(register::LVT_TIMER, vector::TIMER.into());
    write(register::ERROR, 0);
    write(register::LVT_ERROR, vector::ERROR.into());
    // A vector that the firmware left in service would hold back everything below it.
    for _ in 0..256 {
        write(register::EOI, 0);
    }
    write(register::TASK_PRIORITY, EXCEPTIONS);
    log!("[boot] local APIC {} at {address:#x}, {}", id(), if registers() == 0 { "x2APIC" } else { "xAPIC" });
}

/// Command: an INIT, the start-up message, an interrupt with a vector, or an NMI, to one local
/// APIC.
const INIT: u32 = 0x4500;
const START_UP: u32 = 0x4600;
const INTERRUPT: u32 = 0x4000;
const NMI: u32 = 0x4400;
/// The last command is still on its way.
const IN_TRANSIT: u32 = 1 << 12;

fn send(id: u32, command: u32) {
    let base = registers();
    if base == 0 {
        // The register is no memory: on some processors earlier stores could be seen after it
        // (Intel SDM vol. 3, 10.12.3).
        // SAFETY: in x2APIC mode there is this register, which is both words.
        unsafe {
            asm!("mfence", "lfence", options(nostack, preserves_flags));
            msr::write(number_of(register::COMMAND), u64::from(id) << 32 | u64::from(command));
        }
        return;
    }
    write_to(base, register::COMMAND_TARGET, id << 24);
    write_to(base, register::COMMAND, command);
    // It takes some cycles of the bus; a local APIC that never sends is a broken one.
    for _ in 0..1_000_000 {
        if read_from(base, register::COMMAND) & IN_TRANSIT == 0 {
            return;
        }
    }
}

/// Resets another processor, which then waits for the start-up message.
pub fn send_init(id: u32) {
    send(id, INIT);
}

/// Starts another processor at the beginning of a page below 1 MiB, in real mode.
pub fn send_start_up(id: u32, page: u64) {
    send(id, START_UP | (page >> 12) as u32 & 0xff);
}

/// Interrupts a processor, this one or another.
pub fn send_interrupt(id: u32, vector: u8) {
    send(id, INTERRUPT | u32::from(vector));
}

/// Sends another processor an NMI.
pub fn send_nmi(id: u32) {
    send(id, NMI);
}

/// Number of the running CPU's local APIC.
#[must_use]
pub fn id() -> u32 {
    let raw = read(register::ID);
    if registers() == 0 { raw } else { raw >> 24 }
}

/// Ends the most urgent interrupt in service.
#[inline]
pub fn eoi() {
    write(register::EOI, 0);
}

/// Holds back all vectors below those of the real-time side, or only those of exceptions. NMIs, and
/// interrupts that come as if from the old interrupt controller, have no priority and are not held
/// back.
#[inline]
pub fn hold_passenger(hold: bool) {
    const BELOW_REAL_TIME: u64 = (pillion_abi::RT_VECTOR_FIRST as u64 >> 4) - 1;
    const OF_EXCEPTIONS: u64 = EXCEPTIONS as u64 >> 4;
    let class = if hold { BELOW_REAL_TIME } else { OF_EXCEPTIONS };
    // SAFETY: CR8 is the class in the task priority register; it delays interrupts and does nothing
    // else.
    unsafe { asm!("mov cr8, {}", in(reg) class, options(nomem, nostack, preserves_flags)) };
}

/// Starts the timer; 0 stops it.
#[inline]
pub fn set_timer(ticks: u32) {
    write(register::TIMER_INITIAL, ticks);
}

/// Ticks left on the timer.
#[must_use]
pub fn timer_left() -> u32 {
    read(register::TIMER_CURRENT)
}

/// Masks or unmasks the timer's interrupt.
pub fn mask_timer(masked: bool) {
    write(register::LVT_TIMER, u32::from(vector::TIMER) | if masked { MASKED } else { 0 });
}

/// Whether an interrupt is in service: delivered, not ended.
#[must_use]
pub fn in_service(vector: u8) -> bool {
    read(register::in_service(vector)) >> (vector & 31) & 1 == 1
}
