//! Memory of a guest, for the targets that need some.

use pillion_vmm_devices::guest_memory::GuestMemory;

/// Memory that begins at 0.
pub struct Ram(pub Vec<u8>);

impl Ram {
    fn range(&self, address: u64, size: usize) -> Option<std::ops::Range<usize>> {
        let start = usize::try_from(address).ok()?;
        let end = start.checked_add(size)?;
        (end <= self.0.len()).then_some(start..end)
    }
}

impl GuestMemory for Ram {
    fn read(&self, address: u64, into: &mut [u8]) -> bool {
        let Some(range) = self.range(address, into.len()) else { return false };
        into.copy_from_slice(&self.0[range]);
        true
    }

    fn write(&mut self, address: u64, from: &[u8]) -> bool {
        let Some(range) = self.range(address, from.len()) else { return false };
        self.0[range].copy_from_slice(from);
        true
    }
}
