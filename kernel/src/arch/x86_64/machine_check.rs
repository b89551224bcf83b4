//! Machine checks: errors that the processor finds in itself, in caches and in memory (AMD APM vol.
//! 2, chapter 9).
//!
//! While one is in progress, another one is a shutdown, which resets the machine. So the kernel
//! ends each one that it survives.

use super::{cpu, log, msr};
use pillion_core::x86_64::machine_check::{Found, banks, has_address, is_valid};

const CAPABILITIES: u32 = 0x179;
const STATUS: u32 = 0x17a;
/// Bit of [`STATUS`]: a machine check is in progress.
const IN_PROGRESS: u64 = 1 << 2;

/// Registers of a bank: control, status, address, miscellaneous.
const fn bank_status(bank: u32) -> u32 {
    0x401 + 4 * bank
}
const fn bank_address(bank: u32) -> u32 {
    bank_status(bank) + 1
}

/// Logs the errors left from before the boot, and clears them.
pub fn init() {
    log_all();
    end();
}

/// Whether a machine check was raised and has not been ended.
#[must_use]
pub fn in_progress() -> bool {
    // SAFETY: a processor that has the feature has the register.
    cpu::has(cpu::MACHINE_CHECKS) && unsafe { msr::read(STATUS) } & IN_PROGRESS != 0
}

/// Calls `f` for each bank with an error: number and status. At most
/// [`pillion_core::x86_64::machine_check::BANKS`] banks are looked at.
fn each(mut f: impl FnMut(u32, u64)) {
    if !cpu::has(cpu::MACHINE_CHECKS) {
        return;
    }
    // SAFETY: a processor with the feature has this register.
    for bank in 0..banks(unsafe { msr::read(CAPABILITIES) }) {
        // SAFETY: it has the registers of as many banks as it says.
        let status = unsafe { msr::read(bank_status(bank)) };
        if is_valid(status) {
            f(bank, status);
        }
    }
}

/// The gravest error.
#[must_use]
pub fn gravest() -> Found {
    let mut found = Found::default();
    each(|bank, status| found.add(bank, status));
    found
}

/// Writes the errors to the log, with the number of the processor's local APIC.
pub fn log_all() {
    // From CPUID, since the first lines come before the local APIC is set up.
    let apic = cpu::cpuid(1, 0).ebx >> 24;
    each(|bank, status| {
        if has_address(status) {
            // SAFETY: a bank whose status says that there is an address has the register; on
            // another one it may be missing, and reading it fault (9.3.2).
            let address = unsafe { msr::read(bank_address(bank)) };
            log!("[kernel] machine check: bank {bank} status {status:#x} address {address:#x}, local APIC {apic}");
        } else {
            log!("[kernel] machine check: bank {bank} status {status:#x}, without an address, local APIC {apic}");
        }
    });
}

/// Ends the machine check in progress, and forgets the errors.
pub fn end() {
    // SAFETY: as in `each`; zeros clear these registers.
    each(|bank, _| unsafe { msr::write(bank_status(bank), 0) });
    if cpu::has(cpu::MACHINE_CHECKS) {
        // SAFETY: as above.
        unsafe { msr::write(STATUS, 0) };
    }
}
