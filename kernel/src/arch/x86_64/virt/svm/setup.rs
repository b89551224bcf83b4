//! Detecting SVM, and switching it on.

use crate::arch::x86_64::virt::Features;
use crate::arch::x86_64::{cpu, log, msr};
use pillion_core::x86_64::svm::{Offer, VM_CR, efer, offer};

const VM_HSAVE_PA: u32 = 0xc001_0117;
/// Ports that send a core to deep sleep; 0: none (PPR for family 17h, MSRC001_0073).
const SLEEP_PORTS: u32 = 0xc001_0073;
/// Bit of VM_CR: an INIT becomes a security exception (15.28, 15.30.1). A device can send an INIT
/// by a message, and the processor would restart in the firmware.
const REDIRECT_INIT: u64 = 1 << 1;
/// Bit of VM_CR: the A20M# signal is ignored (15.30.1).
const LINE_20_IGNORED: u64 = 1 << 2;

/// Detects what the processor offers. The error says what is missing and what to do about it.
pub fn probe() -> Result<Features, &'static str> {
    // SAFETY: a processor with SVM, as `offer` makes sure of before it asks, has VM_CR.
    let Offer { asids, next_rip, flush_by_asid } = offer(cpu::leaf, || unsafe { msr::read(VM_CR) })?;
    Ok(Features { asids, next_rip, flush_by_asid })
}

/// Switches SVM on, on this CPU (15.4, 15.30.4).
///
/// # Safety
/// [`probe`] succeeded on this CPU, and `host_area` is the physical address of a page that is the
/// processor's from now on.
pub unsafe fn enable(host_area: u64) {
    // SAFETY: the processor has SVM and it is not disabled, so the registers are there; SVME
    // changes nothing for Rust, and the page is given away.
    unsafe {
        msr::write(msr::EFER, msr::read(msr::EFER) | efer::SVME);
        msr::write(VM_HSAVE_PA, host_area);
    }
    // SAFETY: VM_CR is there as well. An INIT raises the security exception from now on, at any
    // instruction: `trap` has a gate for it with a stack of its own, whose code counts it and
    // returns to that instruction. With line 20 ignored, addresses stay what they are.
    let control = unsafe {
        msr::write(VM_CR, msr::read(VM_CR) | REDIRECT_INIT | LINE_20_IGNORED);
        msr::read(VM_CR)
    };
    if control & REDIRECT_INIT == 0 {
        log!("[boot] this processor does not redirect INIT: a device's message with INIT resets it");
    }
    close_sleep_ports();
}

/// Disables the ports that send the core to sleep for hundreds of microseconds when the guest reads
/// them. Only a real processor has them, from family 10h on.
fn close_sleep_ports() {
    let version = cpu::cpuid(1, 0);
    let family = (version.eax >> 8 & 0xf) + if version.eax >> 8 & 0xf == 0xf { version.eax >> 20 & 0xff } else { 0 };
    // A virtual machine may lack the register.
    if family >= 0x10 && !cpu::has(cpu::HYPERVISOR) {
        // SAFETY: the processor has SVM and is of a family that has the register; the kernel does
        // not read ports to sleep.
        unsafe { msr::write(SLEEP_PORTS, 0) };
    }
}
