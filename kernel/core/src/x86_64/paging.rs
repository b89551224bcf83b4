//! Four-level page tables (AMD APM vol. 2, 5.3), also in the format of nested paging (15.25.5),
//! which differs only in that every entry allows user access.
//!
//! Work is done in steps of bounded size, so that the caller can look for something more urgent
//! between them. Tables are never freed on their own: they belong to the address space and go with
//! it.

use pillion_abi::PAGE;
use pillion_abi::status::{Error, Result};

/// Access to the tables of one address space.
pub trait Tables {
    /// Reads an entry; `table` is the physical address of the table and `index` below 512.
    fn read(&self, table: u64, index: usize) -> u64;
    /// Writes an entry.
    fn write(&mut self, table: u64, index: usize, entry: u64);
    /// Takes a table full of zeros from the pool.
    fn alloc(&mut self) -> Option<u64>;
}

/// How pages are mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flags(u64);

impl Flags {
    /// Readable by the kernel only.
    pub const READ: Self = Self(0);
    /// Writable.
    pub const WRITE: Self = Self(1);
    /// Executable.
    pub const EXECUTE: Self = Self(2);
    /// Not cached.
    pub const UNCACHED: Self = Self(4);
    /// Accessible in user mode; required for every nested mapping.
    pub const USER: Self = Self(8);
    /// Pages of 1 GiB may be used.
    pub const GIGANTIC: Self = Self(16);

    /// The flags of both.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether all of `other` is set.
    #[must_use]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The flags of a system call's word (see [`pillion_abi::object::map`]), for a user or nested
    /// mapping. Other bits are refused.
    pub const fn from_call(word: u64) -> Result<Self> {
        if word & !7 != 0 {
            return Err(Error::BadArgument);
        }
        Ok(Self(word | Self::USER.0))
    }

    /// Bits of a leaf entry without address. Accessed and dirty are set from the start: the
    /// processor then never writes to the tables.
    const fn leaf(self) -> u64 {
        let mut bits = PRESENT | ACCESSED | DIRTY;
        if self.has(Self::WRITE) {
            bits |= WRITABLE;
        }
        if self.has(Self::USER) {
            bits |= USER;
        }
        if self.has(Self::UNCACHED) {
            bits |= WRITE_THROUGH | CACHE_DISABLE;
        }
        if !self.has(Self::EXECUTE) {
            bits |= NO_EXECUTE;
        }
        bits
    }
}

const PRESENT: u64 = 1;
const WRITABLE: u64 = 1 << 1;
const USER: u64 = 1 << 2;
const WRITE_THROUGH: u64 = 1 << 3;
const CACHE_DISABLE: u64 = 1 << 4;
const ACCESSED: u64 = 1 << 5;
const DIRTY: u64 = 1 << 6;
const LARGE: u64 = 1 << 7;
const NO_EXECUTE: u64 = 1 << 63;
const ADDRESS: u64 = 0x000f_ffff_ffff_f000;
/// An entry that points to a table; the leaf decides the rights.
const TABLE: u64 = PRESENT | WRITABLE | USER | ACCESSED;

/// Entries of a table.
pub const ENTRIES: usize = 512;
/// Maximum number of small pages that one step maps or unmaps.
pub const STEP_PAGES: u64 = 16;
/// End of the addresses that can be mapped: the lower half.
pub const LIMIT: u64 = 1 << 47;
/// End of physical addresses (AMD APM vol. 2, 5.1).
const PHYSICAL_LIMIT: u64 = 1 << 52;

/// Bytes that an entry of the level covers; level 0 holds small pages, level 3 is the root.
const fn span(level: u32) -> u64 {
    PAGE << (9 * level)
}

const fn index(address: u64, level: u32) -> usize {
    (address >> (12 + 9 * level)) as usize & (ENTRIES - 1)
}

/// Bytes from the address to the end of the entry of the level that covers it.
const fn rest_of_entry(address: u64, level: u32) -> u64 {
    span(level) - (address & (span(level) - 1))
}

const fn is_aligned(value: u64, size: u64) -> bool {
    value & (size - 1) == 0
}

fn check_range(start: u64, size: u64, limit: u64) -> Result<()> {
    let end = start.checked_add(size).ok_or(Error::BadArgument)?;
    if size == 0 || end > limit || !is_aligned(start | size, PAGE) {
        return Err(Error::BadArgument);
    }
    Ok(())
}

/// Where a walk ended.
struct Place {
    table: u64,
    level: u32,
    entry: u64,
}

impl Place {
    const fn is_leaf(&self) -> bool {
        self.entry & PRESENT != 0 && (self.level == 0 || self.entry & LARGE != 0)
    }
}

/// Goes down to the lowest entry that exists for the address. Reads four entries at most.
fn walk(tables: &impl Tables, root: u64, address: u64) -> Place {
    let mut place = Place { table: root, level: 3, entry: tables.read(root, index(address, 3)) };
    while place.level > 0 && place.entry & PRESENT != 0 && !place.is_leaf() {
        place.table = place.entry & ADDRESS;
        place.level -= 1;
        place.entry = tables.read(place.table, index(address, place.level));
    }
    place
}

/// The level of the largest page that may map the start of the range.
fn best_level(address: u64, physical: u64, size: u64, flags: Flags) -> u32 {
    let fits = |level| is_aligned(address | physical, span(level)) && size >= span(level);
    match () {
        () if flags.has(Flags::GIGANTIC) && fits(2) => 2,
        () if fits(1) => 1,
        () => 0,
    }
}

/// Maps as much of the range as one step allows, and returns how many bytes that was: a large page
/// where alignment, size and existing tables allow it, else up to [`STEP_PAGES`] small pages of one
/// table.
///
/// Existing mappings are not changed: `Busy` means that the start of the range is mapped.
/// `NoMemory`: the pool is empty. `BadArgument`: unaligned, empty or out of range. Work: reads four
/// entries, takes three tables and writes `STEP_PAGES + 3` entries at most.
pub fn map_step(
    tables: &mut impl Tables,
    root: u64,
    address: u64,
    physical: u64,
    size: u64,
    flags: Flags,
) -> Result<u64> {
    check_range(address, size, LIMIT)?;
    check_range(physical, size, PHYSICAL_LIMIT)?;
    let wanted = best_level(address, physical, size, flags);
    let mut place = walk(tables, root, address);
    if place.entry & PRESENT != 0 {
        return Err(Error::Busy);
    }
    while place.level > wanted {
        descend(tables, &mut place, address)?;
    }
    if place.level > 0 {
        let entry = physical | flags.leaf() | LARGE;
        tables.write(place.table, index(address, place.level), entry);
        return Ok(span(place.level));
    }
    Ok(map_small(tables, place.table, address, physical, size, flags))
}

/// Puts a new table in the empty entry at `place` and moves there.
fn descend(tables: &mut impl Tables, place: &mut Place, address: u64) -> Result<()> {
    let table = tables.alloc().ok_or(Error::NoMemory)?;
    tables.write(place.table, index(address, place.level), table | TABLE);
    *place = Place { table, level: place.level - 1, entry: 0 };
    Ok(())
}

/// Maps small pages up to the end of the table, of the step, or to the first entry that is taken.
/// The first is free.
fn map_small(tables: &mut impl Tables, table: u64, address: u64, physical: u64, size: u64, flags: Flags) -> u64 {
    let end = size.min(rest_of_entry(address, 1)).min(STEP_PAGES * PAGE);
    let mut done = 0;
    while done < end {
        let index = index(address + done, 0);
        if tables.read(table, index) & PRESENT != 0 {
            break;
        }
        tables.write(table, index, (physical + done) | flags.leaf());
        done += PAGE;
    }
    done
}

/// Removes mappings at the start of the range, as much as one step allows, and returns how many
/// bytes that was. Holes are skipped. Tables stay.
///
/// `BadState`: a large page reaches out of the range; it is not split. `BadArgument`: unaligned,
/// empty or out of range. Work: as [`map_step`]. The caller invalidates the translations.
pub fn unmap_step(tables: &mut impl Tables, root: u64, address: u64, size: u64) -> Result<u64> {
    check_range(address, size, LIMIT)?;
    let place = walk(tables, root, address);
    if place.level == 0 {
        return Ok(unmap_small(tables, place.table, address, size));
    }
    if place.is_leaf() {
        if !is_aligned(address, span(place.level)) || size < span(place.level) {
            return Err(Error::BadState);
        }
        tables.write(place.table, index(address, place.level), 0);
    }
    Ok(size.min(rest_of_entry(address, place.level)))
}

fn unmap_small(tables: &mut impl Tables, table: u64, address: u64, size: u64) -> u64 {
    let end = size.min(rest_of_entry(address, 1)).min(STEP_PAGES * PAGE);
    let mut done = 0;
    while done < end {
        tables.write(table, index(address + done, 0), 0);
        done += PAGE;
    }
    done
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;
    use std::vec;
    use std::vec::Vec;

    /// Tables in host memory; table number n has the physical address n * 4096.
    struct Pool {
        tables: Vec<[u64; ENTRIES]>,
        limit: usize,
    }

    impl Pool {
        fn new(limit: usize) -> Self {
            Pool { tables: vec![[0; ENTRIES]], limit }
        }
    }

    impl Tables for Pool {
        fn read(&self, table: u64, index: usize) -> u64 {
            self.tables[(table / PAGE) as usize][index]
        }
        fn write(&mut self, table: u64, index: usize, entry: u64) {
            self.tables[(table / PAGE) as usize][index] = entry;
        }
        fn alloc(&mut self) -> Option<u64> {
            if self.tables.len() == self.limit {
                return None;
            }
            self.tables.push([0; ENTRIES]);
            Some((self.tables.len() as u64 - 1) * PAGE)
        }
    }

    #[derive(Debug, PartialEq, Eq)]
    struct Mapping {
        physical: u64,
        size: u64,
        flags: Flags,
    }

    /// The mapping of an address.
    fn lookup(tables: &impl Tables, root: u64, address: u64) -> Option<Mapping> {
        let place = walk(tables, root, address);
        let (entry, size) = (place.entry, span(place.level));
        let physical = (entry & ADDRESS & !(size - 1)) | (address & (size - 1));
        place.is_leaf().then(|| Mapping { physical, size, flags: flags_of(entry) })
    }

    /// The inverse of [`Flags::leaf`].
    fn flags_of(entry: u64) -> Flags {
        let flags = [
            (entry & WRITABLE != 0, Flags::WRITE),
            (entry & USER != 0, Flags::USER),
            (entry & CACHE_DISABLE != 0, Flags::UNCACHED),
            (entry & NO_EXECUTE == 0, Flags::EXECUTE),
        ];
        flags.into_iter().filter(|(is_set, _)| *is_set).fold(Flags(0), |all, (_, flag)| all.with(flag))
    }

    const RW: Flags = Flags::USER.with(Flags::WRITE);
    const MIB2: u64 = 2 << 20;
    const GIB: u64 = 1 << 30;

    fn map_all(pool: &mut Pool, mut address: u64, mut physical: u64, mut size: u64, flags: Flags) -> Result<u32> {
        let mut steps = 0;
        while size > 0 {
            let done = map_step(pool, 0, address, physical, size, flags)?;
            assert!(done > 0 && done <= size);
            (address, physical, size, steps) = (address + done, physical + done, size - done, steps + 1);
        }
        Ok(steps)
    }

    #[test]
    fn uses_the_largest_pages() {
        let mut pool = Pool::new(100);
        let flags = RW.with(Flags::GIGANTIC);
        assert_eq!(map_all(&mut pool, GIB, 2 * GIB, GIB + MIB2 + PAGE, flags), Ok(3));
        assert_eq!(lookup(&pool, 0, GIB + 5), Some(Mapping { physical: 2 * GIB + 5, size: GIB, flags: RW }));
        assert_eq!(lookup(&pool, 0, 2 * GIB).map(|m| m.size), Some(MIB2));
        assert_eq!(lookup(&pool, 0, 2 * GIB + MIB2).map(|m| m.size), Some(PAGE));
        assert_eq!(lookup(&pool, 0, 2 * GIB + MIB2 + PAGE), None);
        assert_eq!(map_step(&mut pool, 0, 4 * GIB, 4 * GIB, GIB, RW), Ok(MIB2));
        assert_eq!(map_step(&mut pool, 0, 5 * GIB, 4 * GIB + PAGE, GIB, RW), Ok(16 * PAGE));
    }

    #[test]
    fn entries_have_the_bits_of_the_manual() {
        let mut pool = Pool::new(100);
        assert_eq!(map_step(&mut pool, 0, 0, 0x5000, PAGE, Flags::USER), Ok(PAGE));
        assert_eq!(pool.tables[0][0] & 0xfff, 0x27);
        assert_eq!(pool.tables[3][0], 1 << 63 | 0x5000 | 0x65);
        let uncached = RW.with(Flags::EXECUTE).with(Flags::UNCACHED);
        assert_eq!(map_step(&mut pool, 0, MIB2, MIB2, MIB2, uncached), Ok(MIB2));
        assert_eq!(pool.tables[2][1], MIB2 | 0xff);
        assert_eq!(lookup(&pool, 0, MIB2).map(|m| m.flags), Some(uncached));
    }

    #[test]
    fn refuses() {
        let mut pool = Pool::new(4);
        for (address, physical, size) in [
            (1, 0, PAGE),
            (0, 1, PAGE),
            (0, 0, 1),
            (0, 0, 0),
            (LIMIT, 0, PAGE),
            (LIMIT - PAGE, 0, 2 * PAGE),
            (0, PHYSICAL_LIMIT, PAGE),
            (u64::MAX - PAGE + 1, 0, PAGE),
        ] {
            assert_eq!(map_step(&mut pool, 0, address, physical, size, RW), Err(Error::BadArgument));
        }
        assert_eq!(map_step(&mut pool, 0, LIMIT - PAGE, 0, PAGE, RW), Ok(PAGE));
        assert_eq!(map_step(&mut pool, 0, LIMIT - PAGE, PAGE, PAGE, RW), Err(Error::Busy));
        assert_eq!(map_step(&mut pool, 0, 0, 0, PAGE, RW), Err(Error::NoMemory));
        assert_eq!(Flags::from_call(8), Err(Error::BadArgument));
        assert_eq!(Flags::from_call(3), Ok(RW.with(Flags::EXECUTE)));
    }

    #[test]
    fn large_pages_are_not_split() {
        let mut pool = Pool::new(10);
        map_all(&mut pool, MIB2, MIB2, 2 * MIB2, RW).unwrap();
        assert_eq!(map_step(&mut pool, 0, MIB2 + PAGE, 0, PAGE, RW), Err(Error::Busy));
        assert_eq!(unmap_step(&mut pool, 0, MIB2 + PAGE, MIB2), Err(Error::BadState));
        assert_eq!(unmap_step(&mut pool, 0, MIB2, PAGE), Err(Error::BadState));
        assert_eq!(unmap_step(&mut pool, 0, MIB2, 2 * MIB2), Ok(MIB2));
        assert_eq!(lookup(&pool, 0, MIB2), None);
        assert!(lookup(&pool, 0, 2 * MIB2).is_some());
    }

    #[test]
    fn a_step_ends_before_a_taken_page_and_at_the_end_of_a_table() {
        let mut pool = Pool::new(10);
        map_all(&mut pool, 4 * PAGE, 0, PAGE, RW).unwrap();
        assert_eq!(map_step(&mut pool, 0, 0, 0, 8 * PAGE, RW), Ok(4 * PAGE));
        assert_eq!(map_step(&mut pool, 0, 4 * PAGE, 0, 4 * PAGE, RW), Err(Error::Busy));
        assert_eq!(map_step(&mut pool, 0, MIB2 - 3 * PAGE, 0, 8 * PAGE, RW), Ok(3 * PAGE));
    }

    #[derive(Clone, Debug)]
    enum Op {
        Map(u64, u64, u64, bool),
        Unmap(u64, u64),
    }

    /// Page numbers around the borders of tables of two levels, and sizes of a page up to some
    /// megabytes.
    fn page() -> impl Strategy<Value = u64> {
        prop_oneof![
            0u64..40,
            490u64..530,
            (0u64..6).prop_map(|n| n * 512),
            (0u64..3).prop_map(|n| 262_144 + n * 512 - 20)
        ]
    }

    fn count() -> impl Strategy<Value = u64> {
        prop_oneof![1u64..40, Just(512u64), 500u64..1600]
    }

    fn op() -> impl Strategy<Value = Op> {
        prop_oneof![
            (page(), page(), count(), any::<bool>()).prop_map(|(a, p, n, w)| Op::Map(a, p, n, w)),
            (page(), count()).prop_map(|(a, n)| Op::Unmap(a, n)),
        ]
    }

    fn run(pool: &mut Pool, model: &mut BTreeMap<u64, (u64, bool)>, op: &Op) {
        match *op {
            Op::Map(mut page, mut target, mut count, write) => {
                let flags = if write { RW } else { Flags::USER };
                while count > 0 {
                    match map_step(pool, 0, page * PAGE, target * PAGE, count * PAGE, flags) {
                        Ok(bytes) => {
                            for i in 0..bytes / PAGE {
                                assert_eq!(model.insert(page + i, (target + i, write)), None, "overwritten");
                            }
                            (page, target, count) = (page + bytes / PAGE, target + bytes / PAGE, count - bytes / PAGE);
                        }
                        Err(error) => {
                            assert_eq!(error, Error::Busy);
                            assert!(model.contains_key(&page));
                            break;
                        }
                    }
                }
            }
            Op::Unmap(mut page, mut count) => {
                while count > 0 {
                    match unmap_step(pool, 0, page * PAGE, count * PAGE) {
                        Ok(bytes) => {
                            for i in 0..bytes / PAGE {
                                model.remove(&(page + i));
                            }
                            (page, count) = (page + bytes / PAGE, count - bytes / PAGE);
                        }
                        Err(error) => {
                            assert_eq!(error, Error::BadState);
                            assert!(lookup(pool, 0, page * PAGE).is_some_and(|m| m.size > PAGE));
                            break;
                        }
                    }
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn agrees_with_a_map(ops in prop::collection::vec(op(), 1..30)) {
            let mut pool = Pool::new(1000);
            let mut model = BTreeMap::new();
            for op in &ops {
                run(&mut pool, &mut model, op);
            }
            for page in (0..4700).chain(262_000..265_000) {
                let found = lookup(&pool, 0, page * PAGE).map(|m| (m.physical / PAGE, m.flags.has(Flags::WRITE)));
                prop_assert_eq!(found, model.get(&page).copied());
            }
        }
    }
}
