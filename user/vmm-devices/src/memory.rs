//! The guest's memory, as the monitor offers it to the models.

/// Guest-physical memory. An access that is not wholly in RAM fails and changes nothing.
pub trait GuestMemory {
    /// Reads; false if some of it is not the guest's RAM.
    fn read(&self, guest_physical: u64, into: &mut [u8]) -> bool;
    /// Writes; false if some of it is not the guest's RAM.
    fn write(&mut self, guest_physical: u64, from: &[u8]) -> bool;
}

/// Reads a little-endian doubleword.
pub fn read_u32(memory: &impl GuestMemory, address: u64) -> Option<u32> {
    let mut bytes = [0; 4];
    memory.read(address, &mut bytes).then(|| u32::from_le_bytes(bytes))
}

/// Reads a little-endian quadword.
pub fn read_u64(memory: &impl GuestMemory, address: u64) -> Option<u64> {
    let mut bytes = [0; 8];
    memory.read(address, &mut bytes).then(|| u64::from_le_bytes(bytes))
}
