//! Making objects and capabilities, and the slots of the manager's own capability space.

use crate::failure::{Failure, Result, While};
use pillion_abi::{
    boot::{self, slot},
    object::Kind,
};
use pillion_runtime::{Cap, cap_derive, region_create};

/// Slots from this one on may hold what the kernel made the manager of.
const LAST: Cap = slot::COUNT - 64;

/// The slots that are still free.
pub struct Slots {
    next: Cap,
}

impl Slots {
    /// All but those that the kernel filled.
    pub fn new() -> Slots {
        Slots { next: slot::REGIONS + boot::REGIONS as u32 }
    }

    /// A free slot.
    pub fn take(&mut self) -> Result<Cap> {
        if self.next >= LAST {
            return Err(Failure::new("the resource manager's capability space is full"));
        }
        self.next += 1;
        Ok(self.next - 1)
    }

    /// Makes an object out of a region; `size` as in the system call.
    pub fn make(&mut self, region: Cap, kind: Kind, size: u64) -> Result<Cap> {
        let at = self.take()?;
        region_create(region, kind, size, at)
            .map_err(|error| Failure::new(alloc::format!("making a {kind:?}: {error:?}")))?;
        Ok(at)
    }

    /// Derives a capability into a free slot.
    pub fn derive(&mut self, from: Cap, rights: u8, badge: u64) -> Result<Cap> {
        let at = self.take()?;
        cap_derive(0, at, from, rights, badge).when("deriving a capability")?;
        Ok(at)
    }
}
