//! The guest's memory, as the monitor offers it to the models, and how much of it the monitor has.

use pillion_abi::{
    LARGE_PAGE,
    boot::{Range, range_kind},
};

/// Guest-physical memory. An access not wholly in what the monitor has fails and changes nothing.
pub trait GuestMemory {
    /// Reads; false if the monitor does not have some of it.
    fn read(&self, guest_physical: u64, into: &mut [u8]) -> bool;
    /// Writes; false if the monitor may not write some of it.
    fn write(&mut self, guest_physical: u64, from: &[u8]) -> bool;
}

/// What the monitor has of a range of the guest's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Bytes, from the range's first.
    pub size: u64,
    /// Whether the monitor may write them.
    pub writable: bool,
}

impl Seen {
    /// The rule by which the resource manager maps a range in the monitor. Firmware puts tables at
    /// the start of the memory that it keeps, so of devices the monitor has that, read-only; of
    /// holes, and of what is hidden from Linux, nothing.
    pub fn of(range: &Range) -> Seen {
        match range.kind {
            range_kind::RAM | range_kind::ACPI => Seen { size: range.size, writable: true },
            range_kind::DEVICE => Seen { size: range.size.min(LARGE_PAGE), writable: false },
            _ => Seen { size: 0, writable: false },
        }
    }
}

/// What the monitor has of the guest's memory in all. The guest chooses addresses, so the monitor
/// must ask before each access: one to anything else would be the monitor's own fault.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    ranges: &'a [Range],
}

impl<'a> View<'a> {
    /// Of the ranges of which the monitor is told.
    pub const fn new(ranges: &'a [Range]) -> View<'a> {
        View { ranges }
    }

    /// Whether the monitor may read that memory, which must lie within one range.
    pub fn readable(&self, guest_physical: u64, length: usize) -> bool {
        self.seen(guest_physical, length).is_some()
    }

    /// Whether the monitor may write that memory, which must lie within one range.
    pub fn writable(&self, guest_physical: u64, length: usize) -> bool {
        self.seen(guest_physical, length).is_some_and(|seen| seen.writable)
    }

    fn seen(&self, guest_physical: u64, length: usize) -> Option<Seen> {
        let end = guest_physical.checked_add(length as u64)?;
        let inside = |r: &Range, seen: &Seen| r.base <= guest_physical && end <= r.base.saturating_add(seen.size);
        let all = self.ranges.iter().map(|range| (range, Seen::of(range)));
        all.filter(|(range, seen)| inside(range, seen)).map(|(_, seen)| seen).next()
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    const RAM: Range = Range { base: 0x10_0000, size: 0x700_0000, kind: range_kind::RAM };
    const TABLES: Range = Range { base: 0x710_0000, size: 0x10_0000, kind: range_kind::ACPI };
    const DEVICE: Range = Range { base: 0xe000_0000, size: 0x1000_0000, kind: range_kind::DEVICE };
    const SMALL: Range = Range { base: 0xf000_0000, size: 0x3000, kind: range_kind::DEVICE };
    const HOLE: Range = Range { base: 0xf100_0000, size: 0x100_0000, kind: range_kind::HOLE };
    const HIDDEN: Range = Range { base: 0xfe00_0000, size: 0x1000, kind: 16 };
    const HIGH: Range = Range { base: 64 << 30, size: 1 << 30, kind: range_kind::DEVICE };
    const VIEW: View<'_> = View::new(&[RAM, TABLES, DEVICE, SMALL, HOLE, HIDDEN, HIGH]);

    #[test]
    fn the_monitor_writes_ram_and_tables_to_their_ends() {
        for range in [RAM, TABLES] {
            let end = range.base + range.size;
            for (at, length) in [(range.base, 8), (end - 8, 8), (range.base, range.size as usize)] {
                assert!(VIEW.readable(at, length) && VIEW.writable(at, length), "{at:#x}");
            }
        }
        assert!(!VIEW.readable(RAM.base - 1, 8) && !VIEW.writable(RAM.base - 8, 8));
        assert!(!VIEW.readable(RAM.base + RAM.size - 4, 8), "in two ranges");
        assert!(!VIEW.readable(u64::MAX - 3, 8) && !VIEW.readable(u64::MAX, usize::MAX));
    }

    /// A guest can have its page tables, or its instructions, anywhere.
    #[test]
    fn the_monitor_reads_devices_as_far_as_they_are_mapped() {
        for (range, size) in [(DEVICE, LARGE_PAGE), (SMALL, SMALL.size), (HIGH, LARGE_PAGE)] {
            assert_eq!(Seen::of(&range), Seen { size, writable: false });
            assert!(VIEW.readable(range.base, 8) && VIEW.readable(range.base + size - 8, 8));
            assert!(!VIEW.writable(range.base, 8), "mapped read-only");
            for beyond in [size - 4, size, range.size.max(size + 0x1000) - 8] {
                assert!(!VIEW.readable(range.base + beyond, 8), "{:#x} + {beyond:#x}", range.base);
            }
        }
    }

    #[test]
    fn the_monitor_has_nothing_of_holes_and_of_what_is_hidden() {
        for range in [HOLE, HIDDEN] {
            assert_eq!(Seen::of(&range).size, 0);
            assert!(!VIEW.readable(range.base, 8) && !VIEW.writable(range.base, 8));
        }
    }
}
