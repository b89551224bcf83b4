//! Makes objects and capabilities, and manages the slots of the manager's own capability space.

use crate::failure::{Failure, Result, While};
use pillion_abi::boot::{self, slot};
use pillion_abi::object::Kind;
use pillion_abi::status::Error;
use pillion_runtime::{Cap, cap_delete, cap_derive, region_create};

/// Slots from this one on may hold objects from which the kernel made the manager.
const LAST: Cap = slot::COUNT - 64;

/// First slot that the manager can use.
const FIRST: Cap = slot::REGIONS + boot::REGIONS as u32;

/// Slots that the manager can use.
pub const COUNT: u32 = LAST - FIRST;

/// A run of slots; those from `next` on are free.
pub struct Slots {
    first: Cap,
    next: Cap,
    end: Cap,
}

impl Slots {
    /// All slots but those that the kernel filled.
    pub fn new() -> Slots {
        Slots { first: FIRST, next: FIRST, end: LAST }
    }

    /// Sets aside the next `count` slots for one purpose.
    pub fn part(&mut self, count: u32) -> Result<Slots> {
        let first = self.next;
        if self.end - first < count {
            return Err(full());
        }
        self.next += count;
        Ok(Slots { first, next: first, end: self.next })
    }

    /// Deletes the capabilities in all slots of the run.
    pub fn clear(&mut self) {
        for slot in self.first..self.next {
            // Most are gone already, with the region that their objects were made from.
            let _ = cap_delete(0, slot);
        }
        self.next = self.first;
    }

    /// A free slot.
    pub fn take(&mut self) -> Result<Cap> {
        if self.next >= self.end {
            return Err(full());
        }
        self.next += 1;
        Ok(self.next - 1)
    }

    /// Makes an object that belongs to a processor.
    pub fn make_on(&mut self, cpu: u64, region: Cap, kind: Kind) -> Result<Cap> {
        let at = self.take()?;
        region_create(region, kind, cpu, at).map_err(|error| match error {
            Error::BadArgument if cpu != 0 => {
                Failure::new(alloc::format!("making a {kind:?}: the kernel takes none for processor {cpu}"))
            }
            error => Failure::call(&alloc::format!("making a {kind:?}"), error),
        })?;
        Ok(at)
    }

    /// Makes an object that belongs to none from a region; `size` is as in the system call.
    pub fn make(&mut self, region: Cap, kind: Kind, size: u64) -> Result<Cap> {
        let at = self.take()?;
        region_create(region, kind, size, at)
            .map_err(|error| Failure::call(&alloc::format!("making a {kind:?}"), error))?;
        Ok(at)
    }

    /// Derives a capability into a free slot.
    pub fn derive(&mut self, from: Cap, rights: u8, badge: u64) -> Result<Cap> {
        let at = self.take()?;
        cap_derive(0, at, from, rights, badge).when("deriving a capability")?;
        Ok(at)
    }
}

fn full() -> Failure {
    Failure::new("the resource manager's capability space is full")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_apart_from_the_rest_and_has_an_end() {
        let mut slots = Slots::new();
        let mut part = slots.part(2).unwrap();
        let (first, second) = (part.take().unwrap(), part.take().unwrap());
        assert!(part.take().is_err());
        let behind = slots.take().unwrap();
        assert_eq!((second, behind), (first + 1, first + 2));
        assert!(slots.part(slot::COUNT).is_err());
    }
}
