//! Whether the processor can run guests, and what all guests share.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::arch::{
    Cpu, MAX_CPUS, log, physical, processors,
    virt::{self, Features, Vcpu},
};

#[repr(C, align(4096))]
struct HostArea([u8; 4096]);

struct Support {
    host_areas: UnsafeCell<[HostArea; MAX_CPUS]>,
    features: UnsafeCell<Option<Features>>,
}

// SAFETY: the features are written at boot only, before another processor reads them; each host
// area is its processor's from then on.
unsafe impl Sync for Support {}

static SUPPORT: Support =
    Support { host_areas: UnsafeCell::new([const { HostArea([0; 4096]) }; MAX_CPUS]), features: UnsafeCell::new(None) };

/// Nested tables changed: all their translations are dropped at a processor's next guest entry.
static FLUSH: [AtomicBool; MAX_CPUS] = [const { AtomicBool::new(false) }; MAX_CPUS];

/// Switches virtualisation on, if the first processor has it.
///
/// # Safety
/// Called once, at boot, by that processor, before another one runs.
pub unsafe fn init(cpu: Cpu) {
    match virt::probe() {
        Ok(features) => {
            // SAFETY: this is boot, says the caller.
            unsafe {
                *SUPPORT.features.get() = Some(features);
                init_other(cpu);
            }
            log!("[boot] virtualisation: {features:?}");
        }
        Err(reason) => log!("[boot] no virtualisation, so no Linux: {reason}"),
    }
}

/// Switches virtualisation on on the running processor, if the first one has it.
///
/// # Safety
/// After [`init`], once on each processor, which offers what the first one does.
pub unsafe fn init_other(cpu: Cpu) {
    if features().is_some() {
        let area = SUPPORT.host_areas.get().cast::<HostArea>().wrapping_add(cpu.index());
        // SAFETY: `probe` succeeded on the first processor, and this one is like it, says the
        // caller; the number is below that of the pages, and the page is given away for good.
        unsafe { virt::enable(physical(area)) };
    }
}

/// What virtualisation offers, if it is on.
pub fn features() -> Option<Features> {
    // SAFETY: written at boot only.
    unsafe { *SUPPORT.features.get() }
}

/// Drops all translations of guests, on each processor before one runs there again.
pub fn flush_all() {
    for flag in FLUSH.iter().take(processors() as usize) {
        flag.store(true, Relaxed);
    }
}

/// Whether [`flush_all`] was called: a processor's flag, which it clears.
pub fn flush_flag(cpu: Cpu) -> &'static AtomicBool {
    &FLUSH[cpu.index()]
}

/// Shows others the nested tables of a guest that is entered next, where several processors run.
/// They are shown until this processor does something else.
#[cold]
pub fn show_guest(vcpu: &Vcpu) {
    // SAFETY: whoever enters a guest has set up its processor.
    unsafe { Cpu::current() }.shown().show_guest(vcpu.nested_root());
}

/// As [`show_guest`], for the passenger. Its translations are dropped if tables have changed since
/// it was last entered.
#[cold]
pub fn show_passenger(vcpu: &mut Vcpu) {
    show_guest(vcpu);
    // SAFETY: as in `show_guest`.
    if flush_flag(unsafe { Cpu::current() }).swap(false, Relaxed) {
        vcpu.flush_translations();
    }
}
