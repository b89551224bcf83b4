//! What the task of dual mode finds beside what each task with a skin finds.

use super::{RANGES, address};
use pillion_abi::boot::Range;

/// Slots that only this task has. Its runners are the task's threads from number 1 on.
pub mod slot {
    /// First of the user vCPUs, one for each runner.
    pub const VCPUS: u32 = 256;
    /// The passenger's vCPU, only to make interrupts pending.
    pub const PASSENGER: u32 = 288;
    /// Number of slots.
    pub const COUNT: u32 = 289;
}

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
    /// Number of entries in `ranges`.
    pub range_count: u64,
    /// Linux's RAM, mapped writable at [`address::GUEST`] plus its guest-physical address.
    pub ranges: [Range; RANGES],
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
