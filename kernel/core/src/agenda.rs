//! Pending deadlines, by the priority of the thread that each is for.
//!
//! There is a heap for each priority, or level. While a thread runs, only the heaps at its priority
//! and above matter: an entry for a less urgent thread cannot lead to a switch, and waits until the
//! CPU's priority drops to it. The earliest deadline of each level, and of each band of 16 levels,
//! is kept, so that the search for the earliest at or above a level looks at the levels of one band
//! and at the other bands, and at those only that have entries.

use crate::heap::{Heap, Nodes};
use crate::timer::Due;
use pillion_abi::{NEVER, PRIORITIES};

/// Levels in a band.
const BAND: usize = 16;
const BANDS: usize = PRIORITIES / BAND;

/// A deadline and its level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct At {
    /// The deadline; [`NEVER`] if there is none.
    pub deadline: u64,
    /// Its level.
    pub level: u8,
}

const NOTHING: At = At { deadline: NEVER, level: 0 };

impl Default for At {
    fn default() -> Self {
        NOTHING
    }
}

impl At {
    #[inline]
    fn or_earlier(self, other: At) -> At {
        if other.deadline < self.deadline { other } else { self }
    }
}

/// Deadlines by level.
///
/// A level whose last entry was removed usually gets another soon. So it stays on the maps, as
/// vacant, until an entry is added to it or another operation needs the maps.
#[derive(Debug)]
pub struct Agenda {
    heaps: [Heap<Due>; PRIORITIES],
    /// Earliest deadline of each level; [`NEVER`] if it has none.
    first: [u64; PRIORITIES],
    /// Earliest deadline of each band.
    earliest: [At; BANDS],
    /// For each band, a bit for each of its levels that has entries.
    levels: [u16; BANDS],
    /// A bit for each band that has entries.
    bands: u16,
    /// One more than the highest level that has entries; 0 if none has.
    top: u16,
    /// A level that is empty but still on the maps; [`NO_LEVEL`] if there is none.
    vacant: u16,
}

const NO_LEVEL: u16 = u16::MAX;

impl Default for Agenda {
    fn default() -> Self {
        Agenda {
            heaps: [const { Heap::new() }; PRIORITIES],
            first: [NEVER; PRIORITIES],
            earliest: [NOTHING; BANDS],
            levels: [0; BANDS],
            bands: 0,
            top: 0,
            vacant: NO_LEVEL,
        }
    }
}

/// Number of the lowest set bit of a word that is not 0.
#[inline(always)]
fn lowest(word: u16) -> usize {
    word.trailing_zeros() as usize % BAND
}

/// Number of the highest set bit.
#[inline(always)]
fn highest(word: u16) -> usize {
    (15 ^ word.leading_zeros()) as usize % BAND
}

/// Band and bit of a level.
#[inline(always)]
fn place(level: u8) -> (usize, u32) {
    (usize::from(level >> 4), u32::from(level & 15))
}

impl Agenda {
    /// Whether it has no entries.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.heaps.iter().all(|heap| heap.first().is_none())
    }

    /// The heap of a level.
    #[inline]
    #[must_use]
    pub fn heap(&self, level: u8) -> &Heap<Due> {
        &self.heaps[usize::from(level)]
    }

    /// Earliest deadline of a level.
    #[inline]
    #[must_use]
    pub fn first(&self, level: u8) -> u64 {
        self.first[usize::from(level)]
    }

    /// Adds an entry that is not on the agenda. The deadline must not be [`NEVER`]. O(log n).
    pub fn insert(&mut self, nodes: &mut impl Nodes<Due>, due: Due, level: u8, deadline: u64) {
        debug_assert!(deadline != NEVER, "nothing is due");
        let (index, (band, bit)) = (usize::from(level), place(level));
        self.heaps[index].insert(nodes, due, deadline);
        nodes.node(due).level = level;
        if self.vacant == u16::from(level) {
            self.vacant = NO_LEVEL;
            self.first[index] = deadline;
            self.earliest[band] = self.earliest_in(band, self.levels[band]);
            return;
        }
        self.tidy();
        if deadline < self.first[index] {
            self.first[index] = deadline;
            self.levels[band] |= 1 << bit;
            self.bands |= 1 << band;
            self.top = self.top.max(u16::from(level) + 1);
            self.earliest[band] = self.earliest[band].or_earlier(At { deadline, level });
        }
    }

    /// Removes an entry; does nothing if it is not on the agenda. O(log n).
    pub fn remove(&mut self, nodes: &mut impl Nodes<Due>, due: Due) {
        let node = nodes.node(due);
        if !node.is_linked() {
            return;
        }
        let level = node.level;
        let heap = &mut self.heaps[usize::from(level)];
        let was_first = heap.first() == Some(due);
        heap.remove(nodes, due);
        if was_first {
            self.first_changed(nodes, level);
        }
    }

    /// Moves an entry to another level. O(log n).
    pub fn relevel(&mut self, nodes: &mut impl Nodes<Due>, due: Due, level: u8) {
        let node = nodes.node(due);
        if node.is_linked() && node.level != level {
            let deadline = node.key();
            self.remove(nodes, due);
            self.insert(nodes, due, level, deadline);
        }
    }

    /// Removes the first entry of a level, which is `due`. O(log n).
    #[inline(always)]
    pub fn pop(&mut self, nodes: &mut impl Nodes<Due>, level: u8, due: Due) {
        self.tidy();
        let heap = &mut self.heaps[usize::from(level)];
        if heap.take_only(nodes, due) {
            self.first[usize::from(level)] = NEVER;
            self.vacant = u16::from(level);
        } else {
            heap.remove(nodes, due);
            self.first_changed(nodes, level);
        }
    }

    fn first_changed(&mut self, nodes: &mut impl Nodes<Due>, level: u8) {
        self.tidy();
        match self.heaps[usize::from(level)].first() {
            Some(first) => {
                self.first[usize::from(level)] = nodes.node(first).key();
                let band = place(level).0;
                self.earliest[band] = self.earliest_in(band, self.levels[band]);
            }
            None => {
                self.first[usize::from(level)] = NEVER;
                self.vacant = u16::from(level);
            }
        }
    }

    /// Takes the vacant level, if there is one, off the maps.
    #[inline(always)]
    fn tidy(&mut self) {
        if self.vacant != NO_LEVEL {
            self.take_off(self.vacant as u8);
            self.vacant = NO_LEVEL;
        }
    }

    /// Takes an empty level off the maps.
    #[inline(never)]
    fn take_off(&mut self, level: u8) {
        let (band, bit) = place(level);
        self.levels[band] &= !(1 << bit);
        self.earliest[band] = self.earliest_in(band, self.levels[band]);
        if self.levels[band] == 0 {
            self.bands &= !(1 << band);
        }
        if self.top == u16::from(level) + 1 {
            self.top = self.find_top();
        }
    }

    fn find_top(&self) -> u16 {
        if self.bands == 0 {
            return 0;
        }
        let band = highest(self.bands);
        (band * BAND + highest(self.levels[band]) + 1) as u16
    }

    /// The earliest deadline among some levels of a band, 16 at most.
    fn earliest_in(&self, band: usize, mut levels: u16) -> At {
        let mut earliest = NOTHING;
        while levels != 0 {
            let level = band * BAND + lowest(levels);
            earliest = earliest.or_earlier(At { deadline: self.first[level], level: level as u8 });
            levels &= levels - 1;
        }
        earliest
    }

    /// Whether there may be an entry at or above a level.
    #[inline(always)]
    #[must_use]
    pub fn reaches(&self, level: u8) -> bool {
        self.top > u16::from(level)
    }

    /// The earliest deadline at or above a level. Looks at 15 levels and 16 bands at most.
    #[inline(always)]
    #[must_use]
    pub fn earliest_from(&mut self, level: u8) -> At {
        let (level_alone, highest) = (self.vacant == u16::from(level), self.top == u16::from(level) + 1);
        if !self.reaches(level) || level_alone && highest {
            return At { deadline: NEVER, level };
        }
        self.find_earliest(level)
    }

    #[inline(never)]
    fn find_earliest(&mut self, level: u8) -> At {
        self.tidy();
        let (band, bit) = place(level);
        let (mut earliest, mut bands) = (NOTHING, self.bands >> band << band);
        let own = self.levels[band] >> bit << bit;
        if own != self.levels[band] {
            earliest = self.earliest_in(band, own);
            bands &= !(1 << band);
        }
        while bands != 0 {
            earliest = earliest.or_earlier(self.earliest[lowest(bands)]);
            bands &= bands - 1;
        }
        earliest
    }

    /// The highest level at or above `level` at which an entry is due; one is due at `level`.
    #[inline(always)]
    #[must_use]
    pub fn highest_due(&self, level: u8, now: u64) -> u8 {
        if self.top == u16::from(level) + 1 { level } else { self.find_highest_due(level, now) }
    }

    /// Looks at 16 bands and at 32 levels at most.
    #[inline(never)]
    fn find_highest_due(&self, from: u8, now: u64) -> u8 {
        let (band, bit) = place(from);
        let mut bands = self.bands >> band << band;
        while bands != 0 {
            let at = highest(bands);
            bands ^= 1 << at;
            let mut levels = if at == band { self.levels[at] >> bit << bit } else { self.levels[at] };
            while self.earliest[at].deadline <= now && levels != 0 {
                let level = at * BAND + highest(levels);
                if self.first[level] <= now {
                    return level as u8;
                }
                levels ^= 1 << highest(levels);
            }
        }
        from
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Id, heap::Node, thread::Thread};
    use proptest::prelude::*;
    use std::{collections::BTreeMap, vec::Vec};

    struct Table(Vec<Node<Due>>);

    impl Nodes<Due> for Table {
        fn node(&mut self, due: Due) -> &mut Node<Due> {
            let Due::Thread(id) = due else { panic!() };
            &mut self.0[id.number() as usize]
        }
    }

    fn due(n: usize) -> Due {
        Due::Thread(Id::<Thread>::at(n as u64 * crate::id::GRANULE).unwrap())
    }

    fn pop(a: &mut Agenda, t: &mut Table, level: u8) -> Option<Due> {
        let first = a.heap(level).first()?;
        a.pop(t, level, first);
        Some(first)
    }

    /// A level at which an entry is due.
    fn due_from(a: &mut Agenda, from: u8, now: u64) -> Option<u8> {
        let next = a.earliest_from(from);
        (next.deadline <= now).then_some(next.level)
    }

    /// Levels that share a band, and some that have one to themselves.
    const LEVELS: [u8; 10] = [0, 1, 14, 15, 16, 50, 51, 200, 239, 255];

    #[derive(Clone, Debug)]
    enum Op {
        Insert(usize, usize, u64),
        Remove(usize),
        Relevel(usize, usize),
        Pop(usize),
        PopDue(u8, u64),
    }

    fn op() -> impl Strategy<Value = Op> {
        let (n, l, t) = (1usize..40, 0..LEVELS.len(), 0u64..100);
        prop_oneof![
            4 => (n.clone(), l.clone(), t.clone()).prop_map(|(n, l, t)| Op::Insert(n, l, t)),
            1 => n.clone().prop_map(Op::Remove),
            1 => (n, l.clone()).prop_map(|(n, l)| Op::Relevel(n, l)),
            1 => l.prop_map(Op::Pop),
            1 => (any::<u8>(), t).prop_map(|(l, t)| Op::PopDue(l, t)),
        ]
    }

    proptest! {
        #[test]
        fn behaves_as_a_table(ops in prop::collection::vec(op(), 1..200), from in any::<u8>(), now in 0u64..100) {
            let mut t = Table((0..40).map(|_| Node::default()).collect());
            let mut a = Agenda::default();
            let mut model: BTreeMap<usize, (u8, u64)> = BTreeMap::new();
            for op in ops {
                match op {
                    Op::Insert(n, l, at) if !model.contains_key(&n) => {
                        a.insert(&mut t, due(n), LEVELS[l], at);
                        model.insert(n, (LEVELS[l], at));
                    }
                    Op::Insert(..) => {}
                    Op::Remove(n) => {
                        a.remove(&mut t, due(n));
                        model.remove(&n);
                    }
                    Op::Relevel(n, l) => {
                        a.relevel(&mut t, due(n), LEVELS[l]);
                        model.entry(n).and_modify(|e| e.0 = LEVELS[l]);
                    }
                    Op::Pop(l) => {
                        let earliest = model.values().filter(|e| e.0 == LEVELS[l]).map(|e| e.1).min();
                        match pop(&mut a, &mut t, LEVELS[l]) {
                            Some(Due::Thread(id)) => {
                                let popped = model.remove(&(id.number() as usize));
                                prop_assert_eq!(popped, earliest.map(|at| (LEVELS[l], at)));
                            }
                            other => prop_assert_eq!((other, earliest), (None, None)),
                        }
                    }
                    Op::PopDue(from, now) => {
                        let wanted = model.values().filter(|e| e.0 >= from && e.1 <= now).map(|e| e.0).max();
                        if let Some(level) = due_from(&mut a, from, now) {
                            prop_assert_eq!(Some(a.highest_due(level, now)), wanted);
                        }
                        if let Some(Due::Thread(id)) = wanted.and_then(|level| pop(&mut a, &mut t, level)) {
                            model.remove(&(id.number() as usize));
                        }
                    }
                }
                let earliest = model.values().filter(|e| e.0 >= from).map(|e| e.1).min();
                let found = a.earliest_from(from);
                prop_assert_eq!(found.deadline, earliest.unwrap_or(NEVER));
                prop_assert!(earliest.is_none_or(|at| found.level >= from && a.first(found.level) == at && a.reaches(from)));
                let highest = model.values().filter(|e| e.0 >= from && e.1 <= now).map(|e| e.0).max();
                prop_assert_eq!(due_from(&mut a, from, now).map(|level| a.highest_due(level, now)), highest);
                prop_assert_eq!(a.is_empty(), model.is_empty());
            }
            a.tidy();
            prop_assert_eq!(a.top, model.values().map(|e| u16::from(e.0) + 1).max().unwrap_or(0));
        }
    }
}
