//! The guest's own page tables, walked for the monitor (AMD64 APM vol. 2, chapter 5).
//!
//! Only presence is checked: the processor has just fetched the instruction that is translated
//! here, so it had permission. Paging off, 4-level and 5-level paging are handled; the two kinds of
//! 32-bit paging are not, because no kernel that this monitor starts uses them.

use crate::guest_memory::{GuestMemory, read_u64};

/// The guest's registers that control translation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mode {
    /// CR0.
    pub cr0: u64,
    /// CR3.
    pub cr3: u64,
    /// CR4.
    pub cr4: u64,
    /// EFER.
    pub efer: u64,
}

impl Mode {
    /// From the state at an exit.
    pub fn of(state: &pillion_abi::vcpu::State) -> Mode {
        Mode { cr0: state.cr0.get(), cr3: state.cr3.get(), cr4: state.cr4.get(), efer: state.efer.get() }
    }
}

/// Why an address has no translation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The address is not canonical.
    NotCanonical,
    /// An entry of that level (1 is the lowest) is not present.
    NotPresent(u8),
    /// A table of that level is not in the guest's RAM.
    TableOutside(u8),
    /// 32-bit paging, or a page size that the level does not have.
    Unsupported,
}

const CR0_PAGING: u64 = 1 << 31;
const CR4_PAE: u64 = 1 << 5;
const CR4_FIVE_LEVELS: u64 = 1 << 12;
const EFER_LONG_ACTIVE: u64 = 1 << 10;
const PRESENT: u64 = 1;
const LARGE: u64 = 1 << 7;
const ADDRESS: u64 = 0x000f_ffff_ffff_f000;

/// Guest-physical address of a linear address. Fails as [`Error`] says.
pub fn translate(memory: &impl GuestMemory, mode: Mode, linear: u64) -> Result<u64, Error> {
    if mode.cr0 & CR0_PAGING == 0 {
        return Ok(linear & 0xffff_ffff);
    }
    if mode.efer & EFER_LONG_ACTIVE == 0 || mode.cr4 & CR4_PAE == 0 {
        return Err(Error::Unsupported);
    }
    let levels = if mode.cr4 & CR4_FIVE_LEVELS == 0 { 4 } else { 5 };
    if !canonical(linear, levels) {
        return Err(Error::NotCanonical);
    }
    walk(memory, mode.cr3 & ADDRESS, linear, levels)
}

/// Whether the bits above the implemented ones repeat the highest implemented one (5.3.1).
fn canonical(linear: u64, levels: u8) -> bool {
    let unused = 64 - (12 + 9 * u32::from(levels));
    ((linear << unused).cast_signed() >> unused).cast_unsigned() == linear
}

/// Walks down from the table of the highest level.
fn walk(memory: &impl GuestMemory, root: u64, linear: u64, levels: u8) -> Result<u64, Error> {
    let mut table = root;
    for level in (1..=levels).rev() {
        let shift = 12 + 9 * u32::from(level - 1);
        let slot = table + ((linear >> shift) & 0x1ff) * 8;
        let entry = read_u64(memory, slot).ok_or(Error::TableOutside(level))?;
        if entry & PRESENT == 0 {
            return Err(Error::NotPresent(level));
        }
        if level == 1 || entry & LARGE != 0 {
            if level > 3 {
                return Err(Error::Unsupported);
            }
            let offset = (1 << shift) - 1;
            return Ok((entry & ADDRESS & !offset) | (linear & offset));
        }
        table = entry & ADDRESS;
    }
    Err(Error::Unsupported)
}
