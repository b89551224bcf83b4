//! The user vCPU of a runner, and the registers of the thread that it runs.

use crate::commit::Linux;
use crate::place::{Offer, Place, Special, has_several};
use crate::view::Vvar;
use core::arch::{asm, x86_64::__cpuid, x86_64::__cpuid_count};
use core::cell::{Cell, UnsafeCell};
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use pillion_abi::PAGE;
use pillion_abi::dual::{SLOTS, VECTOR_BYTES};
use pillion_abi::vcpu::{Exit, Segment, State, dirty, gpr};
use pillion_dual::vectors::{COMPONENTS, LEAST, mxcsr_mask, repair};
use pillion_dual::walk::Tables;
use pillion_runtime::info::{address, dual};
use pillion_runtime::user_mode::{self, Process};
use pillion_runtime::vcpu_run;

/// Flags that user mode can set without privilege: CF, PF, AF, ZF, SF, TF, DF, OF, AC, ID.
const USER_FLAGS: u64 = 0x0024_0dd5;
/// Flags that are always set: bit 1, and IF.
const FIXED_FLAGS: u64 = 0x202;

/// Flags as code in user mode has them.
fn user_flags(flags: u64) -> u64 {
    flags & USER_FLAGS | FIXED_FLAGS
}

/// Further bits of CR4 that a thread has: UMIP, PKE.
const MORE_CR4: u64 = 1 << 11 | 1 << 22;

/// Length of SYSCALL.
const SYSCALL_LENGTH: u64 = 2;

/// Whether user mode, which can change FS and GS, left one of them as Linux states it.
fn has_base(segment: &Cell<Segment>, base: u64) -> bool {
    let segment = segment.get();
    segment.selector == 0 && segment.base == base
}

/// Vector registers on their way from Linux: in memory that Linux cannot write.
#[repr(C, align(64))]
struct Area(UnsafeCell<[u8; VECTOR_BYTES]>);

// SAFETY: only the runner with that number uses its area.
unsafe impl Sync for Area {}

static AREAS: [Area; SLOTS] = [const { Area(UnsafeCell::new([0; VECTOR_BYTES])) }; SLOTS];

/// Bytes of the registers, components of them, and bits of MXCSR, of this processor.
static BYTES: AtomicU32 = AtomicU32::new(0);
static CARRIED: AtomicU64 = AtomicU64::new(0);
static MXCSR_MASK: AtomicU32 = AtomicU32::new(0);

/// Finds out what the processor has. Fails with the reason.
///
/// # Safety
/// The calling thread has the flag [`pillion_abi::call::thread::FPU`], and no runner has begun.
pub unsafe fn prepare() -> Result<(), &'static str> {
    const OSXSAVE: u32 = 1 << 27;
    if __cpuid(1).ecx & OSXSAVE == 0 {
        return Err("the processor has no XSAVE");
    }
    let (low, high): (u32, u32);
    // SAFETY: XCR0 can be read, since OSXSAVE is set.
    unsafe { asm!("xgetbv", in("ecx") 0, out("eax") low, out("edx") high, options(nomem, nostack, preserves_flags)) };
    let bytes = __cpuid_count(0xd, 0).ebx;
    if !(LEAST..=VECTOR_BYTES).contains(&(bytes as usize)) {
        return Err("the processor's vector registers take more than a page");
    }
    let area = AREAS[0].0.get();
    // SAFETY: no runner uses the area yet; it is aligned and larger than what FXSAVE writes.
    let legacy = unsafe {
        asm!("fxsave64 [{}]", in(reg) area, options(nostack, preserves_flags));
        &*area.cast::<[u8; LEAST]>()
    };
    MXCSR_MASK.store(mxcsr_mask(legacy), Relaxed);
    BYTES.store(bytes, Relaxed);
    CARRIED.store((u64::from(high) << 32 | u64::from(low)) & COMPONENTS, Relaxed);
    Ok(())
}

/// Whose state the vCPU's page holds, but for what user mode can change.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Held {
    thread: u32,
    cr3: u64,
    cr4: u64,
}

/// A runner's vCPU. It stays with the runner's thread: cells are not shared between threads.
pub struct Shadow {
    number: usize,
    pub state: &'static State,
    held: Cell<Option<Held>>,
    vvar: Vvar,
}

impl Shadow {
    /// The vCPU of runner `number`.
    ///
    /// # Safety
    /// The calling thread is this runner, and has the flag for the FPU.
    pub unsafe fn of(number: usize) -> Shadow {
        let place = address::VCPU_STATE + number as u64 * PAGE;
        // SAFETY: the resource manager mapped a page for each runner, for good. It holds cells of
        // integers. Only the runner uses it, and the kernel writes them only while the runner is in
        // `vcpu_run`.
        Shadow { number, state: unsafe { &*(place as *const State) }, held: Cell::new(None), vvar: Vvar::of(number) }
    }

    /// Takes the registers that Linux offers. Returns the process's page tables; `None` if Linux
    /// saves a component that cannot be carried.
    pub fn load(&self, place: &Place, offer: &Offer) -> Option<Tables> {
        if offer.xcr0 & !CARRIED.load(Relaxed) != 0 {
            return None;
        }
        self.load_vectors(place, offer.xcr0);
        self.begin(place, offer);
        Some(Tables::new(offer.cr3, offer.cr4))
    }

    /// Sets the state of a thread in 64-bit user mode. Each register goes from the slot into the
    /// state at once: a copy of all of them on the way would cost a hundred instructions. What the
    /// vCPU holds since the same thread's last stay is not set again, which would cost three times
    /// as much.
    #[inline(always)]
    fn begin(&self, place: &Place, offer: &Offer) {
        let state = self.state;
        for (number, to) in state.gpr.iter().enumerate() {
            to.set(place.gpr(number));
        }
        let Special { rip, rflags, fs_base, gs_base } = place.special();
        state.rip.set(rip);
        state.rflags.set(user_flags(rflags));
        let (cr3, cr4) = (offer.cr3, offer.cr4 & (user_mode::CR4 | MORE_CR4));
        let held = Some(Held { thread: offer.thread, cr3, cr4 });
        if self.held.get() == held && has_base(&state.fs, fs_base) && has_base(&state.gs, gs_base) {
            // All of it is still to be loaded if that stay ended before it began.
            state.dirty.update(|changed| changed | dirty::CORE);
            return;
        }
        self.held.set(held);
        user_mode::set(state, &Process { cr3, cr4, fs_base, gs_base, data: 0 });
    }

    /// Runs the code up to the next exit. Returns what [`vcpu_run`] does.
    #[inline(always)]
    pub fn run(&self) -> u64 {
        self.vvar.follow();
        let vcpu = dual::slot::VCPUS + self.number as u32;
        vcpu_run(vcpu).map_or(Exit::Invalid as u64, |[exit, _]| exit)
    }

    /// The kernel refused the state, or replaced it.
    pub fn forget(&self) {
        self.held.set(None);
    }

    /// Loads the vector registers: what Linux does not offer gets its initial state.
    #[inline(always)]
    fn load_vectors(&self, place: &Place, components: u64) {
        let linux = Linux::beside(self.number);
        let moment = linux.now();
        if has_several() || !place.stated_vectors().is_valid(components, MXCSR_MASK.load(Relaxed)) {
            return self.copy_vectors(place, components);
        }
        // SAFETY: the slot's area is mapped and aligned, and was found valid at that moment.
        if unsafe { linux.load_vectors(moment, place.vectors().cast()) }.is_none() {
            self.copy_vectors(place, components);
        }
    }

    /// The same by way of a copy, which Linux cannot change after it has been repaired.
    #[cold]
    fn copy_vectors(&self, place: &Place, components: u64) {
        let area = AREAS[self.number].0.get();
        // SAFETY: this runner's own area, which has room for all that the processor has; the slot's
        // is as large. Linux may write that while it is copied, but all of it are integers. The
        // copy is aligned, and valid after `repair`. This program is built without these registers,
        // so nothing of it relies on them.
        unsafe {
            asm!(
                "rep movsq",
                inout("rcx") u64::from(BYTES.load(Relaxed)).div_ceil(8) => _,
                inout("rdi") area => _, inout("rsi") place.vectors() => _,
                options(nostack, preserves_flags),
            );
            repair(&mut *area.cast::<[u8; LEAST]>(), components, MXCSR_MASK.load(Relaxed));
            asm!("xrstor64 [{}]", in(reg) area, in("eax") u32::MAX, in("edx") u32::MAX, options(nostack, preserves_flags));
        }
    }

    /// Hands the registers to Linux, of the vector registers those components that it saves.
    pub fn store(&self, place: &Place, components: u64) {
        let state = self.state;
        for (number, from) in state.gpr.iter().enumerate() {
            place.set_gpr(number, from.get());
        }
        place.set_special(&Special {
            rip: state.rip.get(),
            rflags: user_flags(state.rflags.get()),
            fs_base: state.fs.get().base,
            gs_base: state.gs.get().base,
        });
        // SAFETY: the slot's area is aligned, and larger than what XSAVE writes.
        unsafe {
            asm!(
                "xsave64 [{}]", in(reg) place.vectors(), in("eax") components as u32, in("edx") (components >> 32) as u32,
                options(nostack, preserves_flags),
            );
        }
    }

    /// Completes a system call: its result, and what SYSCALL leaves in registers.
    pub fn return_from_call(&self, result: i64) {
        let state = self.state;
        let next = state.rip.get().wrapping_add(SYSCALL_LENGTH);
        let flags = user_flags(state.rflags.get());
        state.gpr[gpr::RAX].set(result.cast_unsigned());
        state.gpr[gpr::RCX].set(next);
        state.gpr[R11].set(flags);
        state.rip.set(next);
        state.rflags.set(flags);
        state.dirty.update(|changed| changed | dirty::CORE);
    }
}

const R11: usize = 11;

const _: () = assert!(size_of::<Area>() == VECTOR_BYTES);
