//! What the task of dual mode finds beside what each task with a skin finds.

use super::{RANGES, address};
use pillion_abi::boot::Range;

/// Slots that only this task has. Its runners are the task's threads from number 1 on.
pub mod slot {
    /// First of the user vCPUs, one for each runner.
    pub const VCPUS: u32 = 256;
    /// First of the passenger's vCPUs, only to make interrupts pending: for each runner, the one on
    /// its processor.
    pub const PASSENGERS: u32 = 288;
    /// First of the guest spaces of the user vCPUs.
    pub const SPACES: u32 = 320;
    /// First of the runners' pages at [`super::address::VVAR`].
    pub const VVAR: u32 = 352;
    /// First of the parts of Linux's memory ([`super::DualInfo::parts`]).
    pub const PARTS: u32 = 384;
    /// First of the capabilities that a runner's guest space is mapped by, [`VIEW`] for each.
    pub const VIEWS: u32 = PARTS + super::PARTS as u32;
    /// See [`VIEWS`]: one for each part, and one more for that which has a hole.
    pub const VIEW: u32 = super::PARTS as u32 + 1;

    /// Number of slots in a task with that many runners.
    #[must_use]
    pub const fn count(runners: u32) -> u32 {
        VIEWS + runners * VIEW
    }
}

/// How often another page can be replaced while the task lives. Tables stay where a large page was
/// cut, two at most for each.
pub const REPLACEMENTS: u32 = 4;

/// Most parts of Linux's memory: its ranges, and the two of the channel window.
pub const PARTS: usize = RANGES + 2;

/// Bit of a runner's notification: Linux made the hypercall [`pillion_abi::dual::SIGNAL`] with the
/// runner's number.
pub const SIGNALLED: u64 = 1 << 8;

/// The information for the task.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct DualInfo {
    /// Level of a thread with priority 1 in Linux, and of one with priority 99.
    pub levels: [u32; 2],
    /// How long a thread may compute without waiting, in ticks; 0: for ever.
    pub watchdog: u64,
    /// Level of the main thread while it watches; 0: that which it has.
    pub watch_level: u64,
    /// 1 if Linux can be boosted for these threads.
    pub boosts: u64,
    /// 1 if Linux has several processors: the others run while the task does.
    pub several: u64,
    /// Number of entries in `parts`.
    pub part_count: u64,
    /// How many of them are Linux's RAM: the first ones. They are mapped writable at
    /// [`address::GUEST`] plus their guest-physical address.
    pub ram_count: u64,
    /// What Linux's guest space maps, but for what does not fit. In place of a kind, they have the
    /// flags with which they are mapped there ([`pillion_abi::object::map`]).
    pub parts: [Range; PARTS],
}

impl DualInfo {
    /// The parts of Linux's memory.
    #[must_use]
    pub fn parts(&self) -> &[Range] {
        &self.parts[..(self.part_count as usize).min(PARTS)]
    }

    /// Those that are RAM.
    #[must_use]
    pub fn ram(&self) -> &[Range] {
        &self.parts[..(self.ram_count as usize).min(PARTS)]
    }
}

const _: () = assert!(size_of::<DualInfo>() <= 4096);

/// The information for the task of dual mode.
///
/// # Safety
/// The task is that task.
#[must_use]
pub unsafe fn dual() -> &'static DualInfo {
    // SAFETY: the resource manager maps the page in that task, as in `task`.
    unsafe { &*(address::DUAL_INFO as *const DualInfo) }
}
