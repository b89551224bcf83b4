//! The page tables of a process, walked in Linux's memory (AMD64 APM vol. 2, chapter 5).
//!
//! Linux makes the tables and can change them at any time. The walk ends in Linux's RAM or has no
//! result, and it has none in every case of doubt: then the thread goes to Linux, which decides.

use pillion_abi::boot::Range;

/// Linux's RAM.
#[derive(Clone, Copy, Debug)]
pub struct Ram<'a> {
    /// The first part, where most of what is looked for lies.
    base: u64,
    /// Its bytes at which a word can begin.
    places: u64,
    rest: &'a [Range],
}

/// Bytes of a word.
const WORD: u64 = 8;

/// Bytes of a part at which a word can begin.
const fn places(part: &Range) -> u64 {
    part.size.saturating_sub(WORD - 1)
}

impl Ram<'_> {
    /// The RAM that consists of these parts, of which the largest comes first.
    #[must_use]
    pub fn new(parts: &[Range]) -> Ram<'_> {
        match parts {
            [first, rest @ ..] => Ram { base: first.base, places: places(first), rest },
            [] => Ram { base: 0, places: 0, rest: &[] },
        }
    }

    /// Whether a word at a guest-physical address lies in it as a whole. Looks at each of its
    /// parts.
    #[must_use]
    #[inline(always)]
    pub fn holds(&self, at: u64) -> bool {
        at.wrapping_sub(self.base) < self.places || self.rest_holds(at)
    }

    #[cold]
    fn rest_holds(&self, at: u64) -> bool {
        self.rest.iter().any(|part| at.wrapping_sub(part.base) < places(part))
    }
}

/// Reads page tables.
pub trait Memory {
    /// The entry at an address that is a multiple of eight; `None` outside of Linux's RAM.
    fn entry(&self, at: u64) -> Option<u64>;
}

/// What a translation is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// To read, or to look at an instruction.
    Read,
    /// To write: the page must also be dirty already, since the walk marks nothing.
    Write,
}

/// The tables of a process.
#[derive(Clone, Copy, Debug)]
pub struct Tables {
    root: u64,
    five_levels: bool,
    /// Bits that an entry for a page must not have.
    refused: u64,
}

const PRESENT: u64 = 1;
const WRITABLE: u64 = 1 << 1;
const USER: u64 = 1 << 2;
const DIRTY: u64 = 1 << 6;
const LARGE: u64 = 1 << 7;
const ADDRESS: u64 = 0x000f_ffff_ffff_f000;
const KEY: u64 = 0xf << 59;

const FIVE_LEVELS: u64 = 1 << 12;
const PROTECTION_KEYS: u64 = 1 << 22;

/// Bits of an address that the tables of each level translate, and those that a page leaves.
const LEVEL_BITS: u32 = 9;
const PAGE_BITS: u32 = 12;
/// Bits of an address that the table of the highest level leaves, with four levels and with five.
const FOUR: u32 = PAGE_BITS + 3 * LEVEL_BITS;
const FIVE: u32 = PAGE_BITS + 4 * LEVEL_BITS;
/// Those that the largest page leaves: 1 GiB.
const LARGEST: u32 = PAGE_BITS + 2 * LEVEL_BITS;

impl Tables {
    /// The tables that CR3 names, under that CR4.
    #[must_use]
    pub const fn new(cr3: u64, cr4: u64) -> Tables {
        // The thread's own key register decides on pages with a key, and is not looked at here.
        let refused = if cr4 & PROTECTION_KEYS != 0 { KEY } else { 0 };
        Tables { root: cr3 & ADDRESS, five_levels: cr4 & FIVE_LEVELS != 0, refused }
    }

    /// Guest-physical address of a byte of user memory that the process may access so. At most five
    /// entries are read.
    #[inline(always)]
    pub fn translate(&self, memory: &impl Memory, linear: u64, access: Access) -> Option<u64> {
        if self.five_levels {
            return self.walk_five(memory, linear, access);
        }
        self.walk::<FOUR>(memory, linear, access)
    }

    #[cold]
    #[inline(never)]
    fn walk_five(&self, memory: &impl Memory, linear: u64, access: Access) -> Option<u64> {
        self.walk::<FIVE>(memory, linear, access)
    }

    /// With tables of which the highest leaves `TOP` bits of an address.
    #[inline(always)]
    fn walk<const TOP: u32>(&self, memory: &impl Memory, linear: u64, access: Access) -> Option<u64> {
        // The upper half is the kernel's.
        if linear >> (TOP + LEVEL_BITS - 1) != 0 {
            return None;
        }
        let wanted = if access == Access::Write { PRESENT | USER | WRITABLE } else { PRESENT | USER };
        let (mut table, mut left) = (self.root, TOP);
        loop {
            let entry = memory.entry(table + (linear >> left) % (1 << LEVEL_BITS) * 8)?;
            if entry & wanted != wanted {
                return None;
            }
            if left == PAGE_BITS || entry & LARGE != 0 {
                let clean = access == Access::Write && entry & DIRTY == 0;
                let offset = (1 << left) - 1;
                let good = left <= LARGEST && entry & self.refused == 0 && !clean;
                return good.then_some((entry & ADDRESS & !offset) | (linear & offset));
            }
            table = entry & ADDRESS;
            left -= LEVEL_BITS;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    struct Words(BTreeMap<u64, u64>);

    impl Memory for Words {
        fn entry(&self, at: u64) -> Option<u64> {
            (at < 0x10_0000).then(|| self.0.get(&at).copied().unwrap_or(0))
        }
    }

    const ALL: u64 = PRESENT | WRITABLE | USER | DIRTY;
    const LINEAR: u64 = 0x7f12_3456_7890;

    /// Tables at 0x1000, 0x2000, ... that map the page of [`LINEAR`], with a change to one entry.
    fn mapped(level: usize, change: impl Fn(u64) -> u64) -> Words {
        let mut words = BTreeMap::new();
        for (number, shift) in [39, 30, 21, 12].into_iter().enumerate() {
            let at = 0x1000 * (number as u64 + 1) + (LINEAR >> shift & 0x1ff) * 8;
            let next = if number == 3 { 0xabc_d000 } else { 0x1000 * (number as u64 + 2) };
            let entry = next | ALL;
            words.insert(at, if number == level { change(entry) } else { entry });
        }
        Words(words)
    }

    fn tables() -> Tables {
        Tables::new(0x1000 | 0x7, 0)
    }

    #[test]
    fn a_mapped_page_is_found() {
        let memory = mapped(0, |entry| entry);
        for access in [Access::Read, Access::Write] {
            assert_eq!(tables().translate(&memory, LINEAR, access), Some(0xabc_d890));
        }
        assert_eq!(tables().translate(&memory, LINEAR + 0x1000, Access::Read), None);
    }

    #[test]
    fn each_level_can_refuse() {
        for level in 0..4 {
            for bit in [PRESENT, USER] {
                let memory = mapped(level, |entry| entry & !bit);
                assert_eq!(tables().translate(&memory, LINEAR, Access::Read), None, "level {level}, bit {bit}");
            }
            let memory = mapped(level, |entry| entry & !WRITABLE);
            assert_eq!(tables().translate(&memory, LINEAR, Access::Write), None, "level {level}");
            assert!(tables().translate(&memory, LINEAR, Access::Read).is_some());
        }
        let clean = mapped(3, |entry| entry & !DIRTY);
        assert_eq!(tables().translate(&clean, LINEAR, Access::Write), None, "nobody would mark it");
        assert!(tables().translate(&clean, LINEAR, Access::Read).is_some());
    }

    #[test]
    fn large_pages_end_the_walk_where_they_may() {
        let two_mib = mapped(2, |_| 0x4020_0000 | ALL | LARGE);
        assert_eq!(tables().translate(&two_mib, LINEAR, Access::Write), Some(0x4020_0000 | LINEAR & 0x1f_ffff));
        let one_gib = mapped(1, |_| 0x8000_0000 | ALL | LARGE);
        assert_eq!(tables().translate(&one_gib, LINEAR, Access::Read), Some(0x8000_0000 | LINEAR & 0x3fff_ffff));
        let none = mapped(0, |entry| entry | LARGE);
        assert_eq!(tables().translate(&none, LINEAR, Access::Read), None);
    }

    #[test]
    fn the_upper_half_and_tables_outside_are_refused() {
        let memory = mapped(0, |entry| entry);
        for linear in [1 << 47, u64::MAX, 0xffff_8000_0000_0000, LINEAR | 1 << 56] {
            assert_eq!(tables().translate(&memory, linear, Access::Read), None, "{linear:#x}");
        }
        let outside = mapped(1, |_| 0x20_0000 | ALL);
        assert_eq!(tables().translate(&outside, LINEAR, Access::Read), None);
    }

    /// The thread's own key register decides, which the walk does not know.
    #[test]
    fn a_page_with_a_key_is_refused_where_keys_are_in_use() {
        let memory = mapped(3, |entry| entry | 1 << 59);
        assert!(tables().translate(&memory, LINEAR, Access::Read).is_some());
        let with_keys = Tables::new(0x1000, PROTECTION_KEYS);
        assert_eq!(with_keys.translate(&memory, LINEAR, Access::Read), None);
    }

    #[test]
    fn five_levels_are_walked() {
        let mut memory = mapped(0, |entry| entry);
        memory.0.insert(0x9000 + (LINEAR >> 48 & 0x1ff) * 8, 0x1000 | ALL);
        assert_eq!(Tables::new(0x9000, FIVE_LEVELS).translate(&memory, LINEAR, Access::Write), Some(0xabc_d890));
    }

    #[test]
    fn ram_holds_what_lies_in_one_part() {
        let part = |base, size| Range { base, size, kind: 1 };
        let parts = [part(0x1000, 0x2000), part(u64::MAX - 0xfff, 0x1000), part(0x8000, 7)];
        let ram = Ram::new(&parts);
        for at in [0x1000, 0x2ff8, u64::MAX - 7, u64::MAX - 0xfff] {
            assert!(ram.holds(at), "{at:#x}");
        }
        for at in [0, 0xff8, 0xfff, 0x2ff9, 0x3000, 0x8000, u64::MAX - 6, u64::MAX, u64::MAX - 0x1000] {
            assert!(!ram.holds(at), "{at:#x}");
        }
        assert!(!Ram::new(&[]).holds(0));
    }
}
