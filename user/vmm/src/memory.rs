//! Linux's memory, through the window that the resource manager mapped.

use pillion_abi::boot::{Range, range_kind as boot_kind};
use pillion_channel::copy::copy;
use pillion_runtime::info::{LinuxInfo, RANGES, address};
use pillion_vmm_devices::memory::GuestMemory;

/// The ranges of Linux's memory that are in the window.
#[derive(Clone, Copy)]
pub struct Window {
    ranges: [Range; RANGES],
    count: usize,
}

impl Window {
    /// All RAM in the information for the monitor, and the firmware's ranges that begin below 4
    /// GiB.
    pub fn new(info: &LinuxInfo) -> Window {
        let mut window = Window { ranges: [Range::default(); RANGES], count: 0 };
        let all = info.ranges.iter().take(info.range_count as usize);
        let readable = |r: &&Range| match r.kind {
            boot_kind::RAM => true,
            boot_kind::ACPI | boot_kind::DEVICE => r.base < 4 << 30,
            _ => false,
        };
        for (to, from) in window.ranges.iter_mut().zip(all.filter(readable)) {
            *to = *from;
            window.count += 1;
        }
        window
    }

    /// Address in the window of guest-physical memory that lies within one range.
    fn find(&self, guest_physical: u64, length: usize) -> Option<u64> {
        let end = guest_physical.checked_add(length as u64)?;
        let inside = |r: &Range| r.base <= guest_physical && end <= r.base.saturating_add(r.size);
        self.ranges[..self.count].iter().any(inside).then_some(address::GUEST + guest_physical)
    }
}

impl GuestMemory for Window {
    fn read(&self, guest_physical: u64, into: &mut [u8]) -> bool {
        let Some(from) = self.find(guest_physical, into.len()) else { return false };
        // SAFETY: the range is mapped, and `into` does not overlap it. Linux's devices and its
        // promoted threads may write at the same time.
        unsafe { copy(into.as_mut_ptr(), from as *const u8, into.len()) };
        true
    }

    fn write(&mut self, guest_physical: u64, from: &[u8]) -> bool {
        let Some(to) = self.find(guest_physical, from.len()) else { return false };
        // SAFETY: as in `read`; nothing that the monitor uses lies in the window.
        unsafe { copy(to as *mut u8, from.as_ptr(), from.len()) };
        true
    }
}
