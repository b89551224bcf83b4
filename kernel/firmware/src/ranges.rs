//! A map of physical memory: sorted, page-aligned ranges that do not overlap.

use pillion_abi::boot::{Range, range_kind};

const PAGE: u64 = pillion_abi::PAGE;

/// Ranges that the map can hold while it is being made.
const CAPACITY: usize = 256;

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
    /// A map with nothing on it.
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

    fn paint(&mut self, base: u64, end: u64, kind: u64) {
        // Two more entries at most: the new one, and one that is split.
        if base >= end || self.count + 2 > CAPACITY {
            return;
        }
        let old = self.entries;
        let old_count = self.count;
        let mut pending = Some(Range { base, size: end - base, kind });
        self.count = 0;
        for range in old.iter().take(old_count) {
            let range_end = range.base + range.size;
            if range.base < base {
                self.push(Range { size: range_end.min(base) - range.base, ..*range });
            }
            if range_end > base
                && let Some(new) = pending.take()
            {
                self.push(new);
            }
            if range_end > end {
                let from = range.base.max(end);
                self.push(Range { base: from, size: range_end - from, kind: range.kind });
            }
        }
        if let Some(new) = pending {
            self.push(new);
        }
    }

    /// Appends a range; joins it with the one before where they meet and are of a kind.
    fn push(&mut self, new: Range) {
        if new.size == 0 {
            return;
        }
        if let Some(last) = self.count.checked_sub(1).and_then(|i| self.entries.get_mut(i))
            && last.kind == new.kind
            && last.base + last.size == new.base
        {
            last.size += new.size;
            return;
        }
        if let Some(free) = self.entries.get_mut(self.count) {
            *free = new;
            self.count += 1;
        }
    }

    /// Forgets the smallest ranges until at most `limit` are left. What the kernel keeps is never forgotten.
    pub fn limit(&mut self, limit: usize) {
        while self.count > limit {
            let kept = |r: &Range| r.kind == range_kind::KERNEL || r.kind == range_kind::BUNDLE;
            let smallest = self
                .as_slice()
                .iter()
                .enumerate()
                .filter(|(_, r)| !kept(r))
                .min_by_key(|(_, r)| r.size)
                .map(|(i, _)| i);
            let Some(index) = smallest else { return };
            self.entries.copy_within(index + 1..self.count, index);
            self.count -= 1;
        }
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
        map.limit(4);
        assert_eq!(map.as_slice().len(), 4);
        assert_eq!(map.as_slice()[0].kind, range_kind::KERNEL);
        assert_eq!(map.as_slice()[1].base, 7 * 0x100000);
        assert_eq!(map.find_ram(9 * PAGE, 0, u64::MAX), Some(8 * 0x100000));
        assert_eq!(map.find_ram(20 * PAGE, 0, u64::MAX), None);
    }

    #[test]
    fn a_full_map_stays_sound() {
        let mut map = Ranges::new();
        for i in 0..400 {
            map.paint_outside(i * 2 * PAGE, i * 2 * PAGE + PAGE, 1);
        }
        assert!(map.as_slice().len() <= CAPACITY);
    }
}
