//! A map of physical memory: sorted, page-aligned ranges that do not overlap.

use pillion_abi::boot::{Range, range_kind};

const PAGE: u64 = pillion_abi::PAGE;

/// Number of ranges that the map can hold while it is made: painting adds two at most.
pub const CAPACITY: usize = 1152;

/// Pieces of RAM smaller than this are forgotten first.
const CRUMB: u64 = 1 << 20;

/// How much of a stretch of memory may be cached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cached {
    /// All of it.
    All,
    /// A part.
    Part,
    /// Nothing: devices answer there, or may.
    Nothing,
}

/// The map.
pub struct Ranges {
    entries: [Range; CAPACITY],
    count: usize,
}

impl Default for Ranges {
    fn default() -> Ranges {
        Ranges::new()
    }
}

impl Ranges {
    /// An empty map.
    #[must_use]
    pub const fn new() -> Ranges {
        Ranges { entries: [Range { base: 0, size: 0, kind: 0 }; CAPACITY], count: 0 }
    }

    /// The ranges, sorted by address.
    #[must_use]
    pub fn as_slice(&self) -> &[Range] {
        self.entries.get(..self.count).unwrap_or(&[])
    }

    /// Declares the whole pages in `base..end` to be of that kind, whatever they were before.
    pub fn paint_inside(&mut self, base: u64, end: u64, kind: u64) {
        self.paint(base.checked_next_multiple_of(PAGE).unwrap_or(u64::MAX), end & !(PAGE - 1), kind);
    }

    /// Declares every page that `base..end` touches to be of that kind.
    pub fn paint_outside(&mut self, base: u64, end: u64, kind: u64) {
        self.paint(base & !(PAGE - 1), end.checked_next_multiple_of(PAGE).unwrap_or(!(PAGE - 1)), kind);
    }

    /// Declares those pages that `base..end` touches and that are not memory to be of that kind.
    pub fn paint_devices(&mut self, base: u64, end: u64, kind: u64) {
        let (base, end) = (base & !(PAGE - 1), end.checked_next_multiple_of(PAGE).unwrap_or(!(PAGE - 1)));
        let mut from = base;
        // Each step passes one range of memory that is in the way; painting makes no more of them.
        for _ in 0..2 * CAPACITY {
            let memory = |r: &&Range| is_memory(r) && r.base + r.size > from;
            let (stop, next) = self.as_slice().iter().find(memory).map_or((end, end), |r| (r.base, r.base + r.size));
            self.paint(from, stop.min(end), kind);
            from = next.max(from);
            if from >= end {
                return;
            }
        }
    }

    fn paint(&mut self, base: u64, end: u64, kind: u64) {
        if base >= end || self.count + 2 > CAPACITY {
            return;
        }
        let overlaps = |r: &Range| r.base + r.size > base && r.base < end;
        let first = self.position(|r| r.base + r.size > base);
        let after = first + self.as_slice().iter().skip(first).take_while(|r| overlaps(r)).count();
        let mut new = [Range { base, size: end - base, kind }; 3];
        let mut from = 1;
        let mut to = 2;
        if after > first {
            let (left, right) = (self.entries[first], self.entries[after - 1]);
            if left.base < base {
                from = 0;
                new[0] = Range { size: base - left.base, ..left };
            }
            let right_end = right.base + right.size;
            if right_end > end {
                to = 3;
                new[2] = Range { base: end, size: right_end - end, kind: right.kind };
            }
        }
        self.replace(first, after, &new[from..to]);
        self.join(first.saturating_sub(1), first + 3);
    }

    fn position(&self, is: impl Fn(&Range) -> bool) -> usize {
        self.as_slice().iter().position(is).unwrap_or(self.count)
    }

    /// Puts `new` in the place of the entries from `first` up to `after`.
    fn replace(&mut self, first: usize, after: usize, new: &[Range]) {
        self.entries.copy_within(after..self.count, first + new.len());
        self.count = self.count - (after - first) + new.len();
        self.entries[first..first + new.len()].copy_from_slice(new);
    }

    /// Joins adjacent entries of the same kind from `first` up to `last`.
    fn join(&mut self, first: usize, last: usize) {
        for at in (first..last).rev() {
            if at + 1 < self.count {
                let (one, next) = (self.entries[at], self.entries[at + 1]);
                if one.kind == next.kind && one.base + one.size == next.base {
                    self.replace(at, at + 2, &[Range { size: one.size + next.size, ..one }]);
                }
            }
        }
    }

    /// Forgets ranges until at most `limit` are left: small pieces of RAM first, then the smallest
    /// ranges. Ranges that nobody gets are never forgotten. Returns how many were forgotten, and
    /// their bytes.
    pub fn limit(&mut self, limit: usize) -> (usize, u64) {
        let mut forgotten = (0, 0);
        while self.count > limit {
            let kept = |r: &Range| matches!(r.kind, range_kind::KERNEL | range_kind::BUNDLE | range_kind::WITHHELD);
            let missed = |r: &Range| (r.kind != range_kind::RAM || r.size >= CRUMB, r.size);
            let candidates = self.as_slice().iter().enumerate().filter(|(_, r)| !kept(r));
            let Some((index, range)) = candidates.min_by_key(|(_, r)| missed(r)) else { break };
            forgotten = (forgotten.0 + 1, forgotten.1 + range.size);
            self.replace(index, index + 1, &[]);
        }
        forgotten
    }

    /// Lowest stretch of RAM of that size between the two addresses.
    #[must_use]
    pub fn find_ram(&self, size: u64, from: u64, to: u64) -> Option<u64> {
        self.as_slice().iter().filter(|r| r.kind == range_kind::RAM).find_map(|r| {
            let base = r.base.max(from);
            let end = (r.base + r.size).min(to);
            (base.checked_add(size)? <= end).then_some(base)
        })
    }
}

/// Whether a range holds memory, and no devices.
#[must_use]
pub fn is_memory(range: &Range) -> bool {
    matches!(range.kind, range_kind::RAM | range_kind::ACPI | range_kind::KERNEL | range_kind::BUNDLE)
}

/// How much of `base..end` may be cached: memory, and nothing that devices answer at.
#[must_use]
pub fn cached(memory: &[Range], base: u64, end: u64) -> Cached {
    let inside = |r: &Range| end.min(r.base + r.size).saturating_sub(base.max(r.base));
    match memory.iter().filter(|r| is_memory(r)).map(inside).sum::<u64>() {
        0 => Cached::Nothing,
        all if all == end - base => Cached::All,
        _ => Cached::Part,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn shape(map: &Ranges) -> Vec<(u64, u64, u64)> {
        map.as_slice().iter().map(|r| (r.base, r.base + r.size, r.kind)).collect()
    }

    #[test]
    fn later_paint_wins_and_neighbours_join() {
        let mut map = Ranges::new();
        map.paint_outside(0, 0x10000, 2);
        map.paint_inside(0x1001, 0x8fff, 1);
        assert_eq!(shape(&map), [(0, 0x2000, 2), (0x2000, 0x8000, 1), (0x8000, 0x10000, 2)]);
        map.paint_outside(0x3001, 0x3002, 4);
        map.paint_outside(0x4000, 0x5000, 4);
        assert_eq!(map.as_slice().len(), 5);
        assert_eq!(shape(&map)[2], (0x3000, 0x5000, 4));
        map.paint_outside(0x1000, 0x9000, 2);
        assert_eq!(shape(&map), [(0, 0x10000, 2)]);
        map.paint_outside(0x20000, 0x21000, 1);
        map.paint_inside(u64::MAX - 5, u64::MAX, 1);
        assert_eq!(shape(&map), [(0, 0x10000, 2), (0x20000, 0x21000, 1)]);
    }

    #[test]
    fn random_painting_agrees_with_a_table_of_pages() {
        let mut seed = 1u64;
        let mut next = |limit: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) % limit
        };
        for _ in 0..200 {
            let mut pages = [0u64; 64];
            let mut map = Ranges::new();
            for _ in 0..40 {
                let (a, b, kind) = (next(64), next(64), 1 + next(5));
                map.paint_outside(a * PAGE, b * PAGE, kind);
                (a..b).for_each(|p| pages[p as usize] = kind);
            }
            let mut seen = [0u64; 64];
            let mut last = (0, 0);
            for r in map.as_slice() {
                assert!(r.size > 0 && r.base >= last.0 && (r.base > last.0 || r.kind != last.1));
                last = (r.base + r.size, r.kind);
                (r.base / PAGE..last.0 / PAGE).for_each(|p| seen[p as usize] = r.kind);
            }
            assert_eq!(pages, seen);
        }
    }

    #[test]
    fn limit_forgets_the_smallest() {
        let mut map = Ranges::new();
        for i in 0..10 {
            map.paint_outside(i * 0x100000, i * 0x100000 + (i + 1) * PAGE, if i == 0 { range_kind::KERNEL } else { 1 });
        }
        assert_eq!(map.limit(4), (6, (2..8).sum::<u64>() * PAGE));
        assert_eq!(map.as_slice().len(), 4);
        assert_eq!(map.as_slice()[0].kind, range_kind::KERNEL);
        assert_eq!(map.as_slice()[1].base, 7 * 0x100000);
        assert_eq!(map.find_ram(9 * PAGE, 0, u64::MAX), Some(8 * 0x100000));
        assert_eq!(map.find_ram(20 * PAGE, 0, u64::MAX), None);
    }

    #[test]
    fn crumbs_of_ram_go_before_tables() {
        let mut map = Ranges::new();
        map.paint_outside(0, PAGE, range_kind::ACPI);
        map.paint_outside(2 * PAGE, 10 * PAGE, range_kind::RAM);
        map.paint_outside(1 << 30, 2 << 30, range_kind::RAM);
        assert_eq!(map.limit(2), (1, 8 * PAGE));
        assert_eq!(map.limit(1), (1, PAGE));
    }

    #[test]
    fn registers_are_never_taken_from_memory() {
        let mut map = Ranges::new();
        map.paint_outside(0, 0x10000, range_kind::HOLE);
        map.paint_outside(0x2000, 0x4000, range_kind::RAM);
        map.paint_outside(0x6000, 0x7000, range_kind::KERNEL);
        map.paint_devices(0x1800, 0x8001, 7);
        let (hole, ram, kernel) = (range_kind::HOLE, range_kind::RAM, range_kind::KERNEL);
        let around = [(0, 0x1000, hole), (0x1000, 0x2000, 7), (0x2000, 0x4000, ram), (0x4000, 0x6000, 7)];
        assert_eq!(
            shape(&map),
            [around.as_slice(), &[(0x6000, 0x7000, kernel), (0x7000, 0x9000, 7), (0x9000, 0x10000, hole)]].concat()
        );
        map.paint_devices(0x3000, 0x3000, 7);
        map.paint_devices(u64::MAX - 1, u64::MAX, 7);
        assert_eq!(map.as_slice().len(), 7);
    }

    #[test]
    fn a_full_map_stays_sound() {
        let mut map = Ranges::new();
        for i in 0..2000 {
            map.paint_outside(i * 2 * PAGE, i * 2 * PAGE + PAGE, 1);
        }
        assert!(map.as_slice().len() <= CAPACITY);
    }

    #[test]
    fn only_memory_is_cached() {
        let mut map = Ranges::new();
        map.paint_outside(0, 1 << 32, range_kind::HOLE);
        map.paint_outside(0, 8 * PAGE, range_kind::RAM);
        map.paint_outside(2 * PAGE, 3 * PAGE, range_kind::DEVICE);
        map.paint_outside(4 * PAGE, 5 * PAGE, range_kind::KERNEL);
        let of = |from: u64, to: u64| cached(map.as_slice(), from * PAGE, to * PAGE);
        assert_eq!(
            [of(0, 2), of(3, 8), of(2, 3), of(0xfee00, 0xfee01)],
            [Cached::All, Cached::All, Cached::Nothing, Cached::Nothing]
        );
        assert_eq!([of(0, 3), of(7, 9), of(0, 512)], [Cached::Part; 3]);
    }
}
