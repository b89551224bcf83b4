//! Floating-point and vector registers of user threads. The kernel itself uses none.

use core::arch::asm;
use core::cell::UnsafeCell;
use core::num::NonZeroU64;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::percpu::Cpu;
use super::{cpu, layout::direct, log};

/// Maximum number of bytes of an area.
pub const AREA_LIMIT: usize = 3 << 10;

/// Alignment of an area.
const AREA_ALIGN: usize = 64;

/// x87 and SSE.
const LEGACY: u32 = 3;
const AVX: u32 = 4;

/// Components in XCR0; 0 without XSAVE.
static MASK: AtomicU32 = AtomicU32::new(0);
static SIZE: AtomicU32 = AtomicU32::new(512);

#[repr(C, align(64))]
struct State([u8; AREA_LIMIT]);

struct Initial(UnsafeCell<State>);

// SAFETY: written at boot only.
unsafe impl Sync for Initial {}

static INITIAL: Initial = Initial(UnsafeCell::new(State([0; AREA_LIMIT])));

/// Bytes of an area; a multiple of 64, at most [`AREA_LIMIT`].
#[must_use]
fn area_size() -> usize {
    SIZE.load(Relaxed) as usize
}

/// XCR0 while threads run; 0 when the processor has none.
#[must_use]
pub fn components() -> u64 {
    MASK.load(Relaxed).into()
}

/// Chooses the components and sets up the running CPU. Leaves the FPU off.
///
/// # Safety
/// Called once, at boot, after [`cpu::init`] and [`super::percpu::init`].
pub unsafe fn init() {
    if cpu::has(cpu::XSAVE) {
        let offered = cpu::cpuid(0xd, 0).eax;
        choose(LEGACY | offered & AVX);
        if cpu::cpuid(0xd, 0).ebx as usize > AREA_LIMIT {
            choose(LEGACY);
        }
        SIZE.store(cpu::cpuid(0xd, 0).ebx.next_multiple_of(AREA_ALIGN as u32).min(AREA_LIMIT as u32), Relaxed);
    }
    // SAFETY: this is boot, says the caller: nobody else accesses it.
    let initial = unsafe { &mut (*INITIAL.0.get()).0 };
    initial[..2].copy_from_slice(&0x37fu16.to_le_bytes()); // x87: all exceptions masked
    initial[24..28].copy_from_slice(&0x1f80u32.to_le_bytes()); // SSE: the same
    log!("[boot] FPU components {:#x}, {} bytes a thread", components(), area_size());
    // SAFETY: the CPU's structure is prepared, says the caller.
    set_ts(unsafe { Cpu::current() });
}

/// Sets up a further CPU as the first one. Leaves the FPU off.
///
/// # Safety
/// After [`init`] on the first CPU, which has no feature that this one lacks, and
/// [`super::percpu::init`] on this one.
pub unsafe fn init_other() {
    if cpu::has(cpu::XSAVE) {
        enable(MASK.load(Relaxed));
    }
    // SAFETY: the CPU's structure is prepared, says the caller.
    set_ts(unsafe { Cpu::current() });
}

fn choose(mask: u32) {
    enable(mask);
    MASK.store(mask, Relaxed);
}

fn enable(mask: u32) {
    // SAFETY: XSAVE is on, the processor offers the components, x87 is always among them.
    unsafe { asm!("xsetbv", in("ecx") 0, in("eax") mask, in("edx") 0, options(nomem, nostack, preserves_flags)) };
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

/// Memory for the FPU's registers while they are not loaded. Holding one means, as with a handle,
/// that the object in whose page it lies is alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Area(NonZeroU64);

impl Area {
    /// The area at a physical address.
    ///
    /// # Safety
    /// The address is not 0, a multiple of [`AREA_ALIGN`], and that of [`AREA_LIMIT`] bytes of RAM
    /// in the direct map that hold zeros or the state of an FPU. They are accessed only through
    /// such values until the last of these is gone.
    #[inline]
    #[must_use]
    pub const unsafe fn at(physical: u64) -> Area {
        // SAFETY: the caller vouches for it.
        Area(unsafe { NonZeroU64::new_unchecked(physical) })
    }

    /// Physical address.
    #[must_use]
    pub const fn physical(self) -> u64 {
        self.0.get()
    }

    /// Fills it with the state that a thread starts with.
    pub fn reset(self) {
        // SAFETY: as `at` demands; the source has `AREA_LIMIT` bytes and is not written after boot.
        unsafe { direct::<u8>(self.physical()).copy_from_nonoverlapping(INITIAL.0.get().cast(), area_size()) };
    }

    /// Saves the registers.
    ///
    /// # Safety
    /// The FPU is on ([`clear_ts`]).
    #[inline]
    pub unsafe fn save(self) {
        let (area, mask) = (direct::<u8>(self.physical()), MASK.load(Relaxed));
        // SAFETY: the caller vouches for the FPU; as `at` demands, the area is aligned, and large
        // enough for the components in XCR0.
        unsafe {
            if mask == 0 {
                asm!("fxsave64 [{}]", in(reg) area, options(nostack, preserves_flags));
            } else {
                asm!("xsave64 [{}]", in(reg) area, in("eax") mask, in("edx") 0, options(nostack, preserves_flags));
            }
        }
    }

    /// Loads the registers.
    ///
    /// # Safety
    /// The FPU is on ([`clear_ts`]), and nobody needs what is in the registers.
    #[inline]
    pub unsafe fn restore(self) {
        let (area, mask) = (direct::<u8>(self.physical()), MASK.load(Relaxed));
        // SAFETY: the caller vouches for the FPU; the area holds what the processor itself wrote,
        // the initial state or zeros, so that no value in it is refused.
        unsafe {
            if mask == 0 {
                asm!("fxrstor64 [{}]", in(reg) area, options(nostack, preserves_flags, readonly));
            } else {
                asm!("xrstor64 [{}]", in(reg) area, in("eax") mask, in("edx") 0, options(nostack, preserves_flags, readonly));
            }
        }
    }
}
