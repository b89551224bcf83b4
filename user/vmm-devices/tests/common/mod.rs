//! Guest memory and accesses for the tests.
#![allow(dead_code, reason = "each test takes what it needs")]

use pillion_vmm_devices::{answer::Access, guest_memory::GuestMemory};

pub const fn at(port: u16, width: u8) -> Access {
    Access { port, width }
}

/// RAM that begins at `base`.
pub struct Ram {
    pub base: u64,
    pub bytes: Vec<u8>,
}

impl Ram {
    pub fn new(base: u64, size: usize) -> Ram {
        Ram { base, bytes: vec![0; size] }
    }

    pub fn put(&mut self, address: u64, bytes: &[u8]) {
        assert!(self.write(address, bytes), "{address:#x}");
    }

    fn slice(&self, address: u64, size: usize) -> Option<std::ops::Range<usize>> {
        let start = usize::try_from(address.checked_sub(self.base)?).ok()?;
        let end = start.checked_add(size)?;
        (end <= self.bytes.len()).then_some(start..end)
    }
}

impl GuestMemory for Ram {
    fn read(&self, address: u64, into: &mut [u8]) -> bool {
        let Some(slice) = self.slice(address, into.len()) else { return false };
        into.copy_from_slice(&self.bytes[slice]);
        true
    }

    fn write(&mut self, address: u64, from: &[u8]) -> bool {
        let Some(slice) = self.slice(address, from.len()) else { return false };
        self.bytes[slice].copy_from_slice(from);
        true
    }
}

/// Sets a table's checksum byte at `at`.
pub fn checksum(bytes: &mut [u8], at: usize) {
    bytes[at] = 0;
    let sum = bytes.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
    bytes[at] = 0_u8.wrapping_sub(sum);
}
