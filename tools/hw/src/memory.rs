//! The firmware's map of memory, and what Pillion makes of it.

use crate::cpuid::Cpuid;
use pillion_abi::boot::{Range, range_kind};
use pillion_core::x86_64::processor;
use pillion_firmware::params::BootParams;
use pillion_firmware::ranges::is_memory;
use pillion_firmware::{ALWAYS_MAPPED, PHYSICAL_LIMIT, acpi};

/// Where the kernel is loaded, and the end of what it needs there.
pub const IMAGE: (u64, u64) = (2 << 20, 8 << 20);
/// End of the memory that other processors begin in.
const REAL_MODE_END: u64 = 0xa_0000;
/// Linux's names for kinds of memory, in the firmware's numbering.
const KINDS: [(&str, u32); 3] = [("System RAM", RAM), ("ACPI Tables", 3), ("ACPI Non-volatile Storage", 4)];
const RAM: u32 = 1;
const RESERVED: u32 = 2;

/// An entry of the firmware's map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// First address.
    pub base: u64,
    /// Last address.
    pub last: u64,
    /// Kind, in the firmware's numbering.
    pub kind: u32,
}

/// Reads lines of first address, last address and kind, as Linux calls it.
#[must_use]
pub fn parse(text: &str) -> Vec<Stretch> {
    let number = |text: &str| u64::from_str_radix(text.strip_prefix("0x")?, 16).ok();
    let line = |line: &str| {
        let (base, rest) = line.split_once(' ')?;
        let (last, kind) = rest.split_once(' ')?;
        let kind = KINDS.iter().find(|(name, _)| *name == kind.trim()).map_or(RESERVED, |(_, kind)| *kind);
        let (base, last) = (number(base)?, number(last)?);
        (base <= last).then_some(Stretch { base, last, kind })
    };
    text.lines().filter_map(line).collect()
}

/// What Pillion makes of a map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memory {
    /// RAM that it uses, in bytes.
    pub ram: u64,
    /// RAM from 4 GiB on, in bytes.
    pub high: u64,
    /// RAM from [`PHYSICAL_LIMIT`] on, which it does not use, in bytes.
    pub beyond: u64,
    /// Ranges of the map that it hands over.
    pub ranges: usize,
    /// Ranges and bytes for which there was no room.
    pub forgotten: (usize, u64),
    /// Entries of the firmware's map for which there was no room.
    pub unread: usize,
    /// There is RAM where the kernel is loaded.
    pub has_image: bool,
    /// There is a page for other processors to begin in.
    pub has_real_mode: bool,
    /// A range from 4 GiB on is the firmware's, or a device's.
    pub devices_high: bool,
    /// ACPI tables may be where the kernel does not read.
    pub tables_high: bool,
}

/// Draws the map as the kernel does.
#[must_use]
pub fn draw(map: &[Stretch], cpuid: Option<&Cpuid>, tables: &acpi::Tables) -> Memory {
    let reach = cpuid.and_then(|cpuid| processor::device_reach(|leaf, subleaf| cpuid.leaf(leaf, subleaf)));
    let mut params = Box::new(BootParams::new());
    for stretch in map {
        params.add_range(stretch.base, (stretch.last - stretch.base).saturating_add(1), stretch.kind);
    }
    params.draw_map(IMAGE.0, IMAGE.1, reach.unwrap_or(ALWAYS_MAPPED));
    params.withhold(tables);
    let has_real_mode = params.find_ram_below(REAL_MODE_END).is_some();
    let forgotten = params.finish();
    let drawn = params.memory();
    let sum = |which: &dyn Fn(&Range) -> u64| drawn.iter().filter(|range| is_memory(range)).map(which).sum::<u64>();
    let tables_high = map.iter().any(|stretch| matches!(stretch.kind, 3 | 4) && stretch.last >= ALWAYS_MAPPED);
    Memory {
        ram: sum(&|range| range.size),
        high: sum(&|range| range.size - range.size.min(ALWAYS_MAPPED.saturating_sub(range.base))),
        beyond: map.iter().filter(|stretch| stretch.kind == RAM).map(beyond).fold(0, u64::saturating_add),
        ranges: drawn.len(),
        forgotten,
        unread: params.unread(),
        has_image: is_ram(map, IMAGE.0, IMAGE.1),
        has_real_mode,
        devices_high: drawn.iter().any(|r| r.kind == range_kind::DEVICE && r.base + r.size > ALWAYS_MAPPED),
        tables_high,
    }
}

fn beyond(stretch: &Stretch) -> u64 {
    stretch.last.checked_sub(stretch.base.max(PHYSICAL_LIMIT)).map_or(0, |size| size.saturating_add(1))
}

/// Whether there is RAM, and nothing else, at all of `base..end`.
fn is_ram(map: &[Stretch], base: u64, end: u64) -> bool {
    let mut inside: Vec<&Stretch> = map.iter().filter(|one| one.base < end && one.last >= base).collect();
    inside.sort_by_key(|one| one.base);
    let mut reached = base;
    for one in &inside {
        if one.base > reached || one.kind != RAM {
            return false;
        }
        reached = reached.max(one.last.saturating_add(1));
    }
    reached >= end
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAP: &str = "0x0 0x9fbff System RAM\n0x100000 0xbffdffff System RAM\n0xbffe0000 0xbfffffff Reserved\n\
                       0x100000000 0x13fffffff System RAM\nnonsense\n0x5 0x4 Reserved\n";

    #[test]
    fn a_map_is_drawn() {
        let tables = crate::tables::Tables::place(&[]).as_the_kernel();
        let map = parse(MAP);
        assert_eq!(map.len(), 4);
        let memory = draw(&map, None, &tables);
        assert!(memory.has_image && memory.has_real_mode && !memory.devices_high);
        assert_eq!((memory.high, memory.forgotten, memory.unread), (1 << 30, (0, 0), 0));
        assert_eq!(memory.ram, (0x9f000) + (0xbffe_0000 - 0x10_0000) + (1 << 30));
    }

    #[test]
    fn the_kernel_needs_memory_without_holes() {
        let ram = |base, last| Stretch { base, last, kind: RAM };
        assert!(is_ram(&[ram(0x40_0000, 0xff_ffff), ram(0x10_0000, 0x3f_ffff)], IMAGE.0, IMAGE.1));
        assert!(!is_ram(&[ram(0x10_0000, 0x3f_ffff), ram(0x40_1000, 0xff_ffff)], IMAGE.0, IMAGE.1));
        let reserved = Stretch { base: 0x50_0000, last: 0x50_0fff, kind: RESERVED };
        assert!(!is_ram(&[ram(0, u64::MAX), reserved], IMAGE.0, IMAGE.1));
        assert!(!is_ram(&[], IMAGE.0, IMAGE.1));
    }
}
