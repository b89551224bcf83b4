//! What the VM monitor emulates, as plain code: no system calls, no allocation, no `unsafe`.
//!
//! The monitor accesses the guest's memory through [`guest_memory::GuestMemory`]. For each access
//! that exits it calls the [`bus`], on which each model has its ports, memory or registers; the
//! [`answer`] is a value, or what is left for the monitor to do. Nothing here trusts the guest:
//! each model takes any input without a panic, which the tests check with random input.
//!
//! | module | manual or specification |
//! |---|---|
//! | [`boot`] | Linux `Documentation/x86/boot.rst`, `zero-page.rst` |
//! | [`cpuid`], [`msr`] | AMD64 Architecture Programmer's Manual vol. 2 and 3 (24594), PPR for family 17h |
//! | [`apic`], [`processors`] | Intel SDM vol. 3, chapter 11 "APIC" (the x2APIC sections) |
//! | [`ioapic`] | 82093AA data sheet, ICH9 data sheet 13.5 |
//! | [`pci`] | PCI 3.0, 3.2.2.3.2; PCI Express 3.0, 7.2.2 |
//! | [`acpi`], [`power`] | ACPI 6.4, 4.8.3 and 5.2 |
//! | [`paging`], [`instruction`] | AMD64 APM vol. 2, chapter 5; vol. 3 |
#![no_std]
#![forbid(unsafe_code)]

pub mod acpi;
pub mod answer;
pub mod apic;
pub mod boot;
pub mod bus;
pub mod cpuid;
pub mod guest_memory;
pub mod hypercall;
pub mod instruction;
pub mod ioapic;
pub mod life;
pub mod msr;
pub mod notes;
pub mod paging;
pub mod pci;
pub mod power;
pub mod processors;
pub mod steal_time;
pub mod withheld;

/// The processor answers this access with a general-protection fault, error code 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GeneralProtection;

impl GeneralProtection {
    /// The fault in the format of [`pillion_abi::vcpu::State::event`].
    pub const EVENT: u64 = 13 | pillion_abi::vcpu::EVENT_HAS_CODE;
}

/// All ones in `width` bytes: what a read returns where no device answers.
pub const fn ones(width: u8) -> u64 {
    match width {
        0 => 0,
        1..=7 => (1 << (8 * width as u32)) - 1,
        _ => u64::MAX,
    }
}
