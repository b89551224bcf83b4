//! Floating-point and vector registers of user threads. The kernel itself uses none.

use core::arch::asm;
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::percpu::Cpu;
use super::{cpu, log};

/// Maximum number of bytes of an area.
pub const AREA_LIMIT: usize = 3 << 10;

/// Alignment of an area.
pub const AREA_ALIGN: usize = 64;

/// x87 and SSE.
const LEGACY: u32 = 3;
const AVX: u32 = 4;

/// Components in XCR0; 0 without XSAVE.
static MASK: AtomicU32 = AtomicU32::new(0);
static SIZE: AtomicU32 = AtomicU32::new(512);

#[repr(C, align(64))]
struct Area([u8; AREA_LIMIT]);

struct Initial(UnsafeCell<Area>);

// SAFETY: written at boot only.
unsafe impl Sync for Initial {}

static INITIAL: Initial = Initial(UnsafeCell::new(Area([0; AREA_LIMIT])));

/// Bytes of an area; a multiple of 64, at most [`AREA_LIMIT`].
#[must_use]
pub fn area_size() -> usize {
    SIZE.load(Relaxed) as usize
}

/// XCR0 while threads run; 0 when the processor has none.
#[must_use]
pub fn components() -> u64 {
    MASK.load(Relaxed).into()
}

/// Chooses the components and sets up the running CPU. Leaves the FPU off.
pub fn init() {
    if cpu::has(cpu::XSAVE) {
        let offered = cpu::cpuid(0xd, 0).eax;
        choose(LEGACY | offered & AVX);
        if cpu::cpuid(0xd, 0).ebx as usize > AREA_LIMIT {
            choose(LEGACY);
        }
        SIZE.store(cpu::cpuid(0xd, 0).ebx.next_multiple_of(AREA_ALIGN as u32).min(AREA_LIMIT as u32), Relaxed);
    }
    // SAFETY: at boot nobody else accesses it.
    let initial = unsafe { &mut (*INITIAL.0.get()).0 };
    initial[..2].copy_from_slice(&0x37fu16.to_le_bytes()); // x87: all exceptions masked
    initial[24..28].copy_from_slice(&0x1f80u32.to_le_bytes()); // SSE: the same
    log!("[boot] FPU components {:#x}, {} bytes a thread", components(), area_size());
    // SAFETY: the boot code prepared the CPU's structure before.
    set_ts(unsafe { Cpu::current() });
}

fn choose(mask: u32) {
    // SAFETY: XSAVE is on, the processor offers the components, x87 is always among them.
    unsafe { asm!("xsetbv", in("ecx") 0, in("eax") mask, in("edx") 0, options(nomem, nostack, preserves_flags)) };
    MASK.store(mask, Relaxed);
}

/// Makes the next use of the FPU fault.
#[inline]
pub fn set_ts(cpu: Cpu) {
    if !cpu.fpu_off() {
        cpu.set_fpu_off(true);
        // SAFETY: CR0 as it is, with the one bit changed.
        unsafe { asm!("mov cr0, {}", in(reg) cpu::CR0 | cpu::bit::CR0_TS, options(nomem, nostack, preserves_flags)) };
    }
}

/// Lets the FPU be used.
#[inline]
pub fn clear_ts(cpu: Cpu) {
    if cpu.fpu_off() {
        cpu.set_fpu_off(false);
        // SAFETY: clears the one bit.
        unsafe { asm!("clts", options(nomem, nostack, preserves_flags)) };
    }
}

/// Fills an area with the state that a thread starts with.
///
/// # Safety
/// `area` must have [`area_size`] bytes, aligned to [`AREA_ALIGN`], that nobody else uses.
pub unsafe fn init_area(area: *mut u8) {
    // SAFETY: the caller vouches for the target; the source has `AREA_LIMIT` bytes and is not
    // written after boot.
    unsafe { area.copy_from_nonoverlapping(INITIAL.0.get().cast(), area_size()) };
}

/// Saves the registers. The FPU must be on.
///
/// # Safety
/// As for [`init_area`], and the area must have been filled by it before.
#[inline]
pub unsafe fn save(area: *mut u8) {
    let mask = MASK.load(Relaxed);
    // SAFETY: the area is large enough for the components in XCR0, and aligned, says the caller.
    unsafe {
        if mask == 0 {
            asm!("fxsave64 [{}]", in(reg) area, options(nostack, preserves_flags));
        } else {
            asm!("xsave64 [{}]", in(reg) area, in("eax") mask, in("edx") 0, options(nostack, preserves_flags));
        }
    }
}

/// Loads the registers. The FPU must be on.
///
/// # Safety
/// The area must have been filled by [`init_area`] or [`save`], and by nobody else.
#[inline]
pub unsafe fn restore(area: *const u8) {
    let mask = MASK.load(Relaxed);
    // SAFETY: the area holds what the processor itself wrote, or the initial state, so that no
    // value in it is refused.
    unsafe {
        if mask == 0 {
            asm!("fxrstor64 [{}]", in(reg) area, options(nostack, preserves_flags, readonly));
        } else {
            asm!("xrstor64 [{}]", in(reg) area, in("eax") mask, in("edx") 0, options(nostack, preserves_flags, readonly));
        }
    }
}
