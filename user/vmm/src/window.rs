//! Linux's memory, through the window that the resource manager mapped.

use pillion_channel::copy::copy;
use pillion_runtime::info::{LinuxInfo, address};
use pillion_vmm_devices::guest_memory::{GuestMemory, View};

/// Linux's memory in the monitor's address space.
#[derive(Clone, Copy)]
pub struct Window {
    view: View<'static>,
}

impl Window {
    /// The window as the resource manager mapped it.
    pub fn new(info: &'static LinuxInfo) -> Window {
        let ranges = info.ranges.get(..info.range_count as usize).unwrap_or(&info.ranges);
        Window { view: View::new(ranges) }
    }
}

const fn address(guest_physical: u64) -> u64 {
    address::GUEST + guest_physical
}

impl GuestMemory for Window {
    fn read(&self, guest_physical: u64, into: &mut [u8]) -> bool {
        if !self.view.readable(guest_physical, into.len()) {
            return false;
        }
        // SAFETY: the resource manager mapped all that the view calls readable, and does not unmap
        // it. `into` is the monitor's own memory, none of which lies in the window. Linux's devices
        // may write at the same time, which `copy` allows.
        unsafe { copy(into.as_mut_ptr(), address(guest_physical) as *const u8, into.len()) };
        true
    }

    fn write(&mut self, guest_physical: u64, from: &[u8]) -> bool {
        if !self.view.writable(guest_physical, from.len()) {
            return false;
        }
        // SAFETY: as in `read`; the resource manager mapped it writable, and nothing has a
        // reference into the window.
        unsafe { copy(address(guest_physical) as *mut u8, from.as_ptr(), from.len()) };
        true
    }
}
