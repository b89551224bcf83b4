//! Interrupt priorities of a guest's local APIC, and the physical EOIs that are owed for it.
//!
//! The guest's local APIC exists only here (AMD APM vol. 2, 16.6). Two kinds of interrupts reach
//! it: virtual ones (a timer, a signal of the VM monitor) and physical ones of its devices, which
//! the machine's local APIC holds in service until the guest has handled them. A physical EOI names
//! no vector: it ends the highest one in service. So when the guest ends a vector while a higher
//! physical one is still open, the EOI is remembered, and sent when the higher one is done.
//!
//! Every operation is a few instructions without a loop over vectors, but for one round for each
//! physical EOI that it returns (at most 224 by this set; 13 on a local APIC, which has one vector
//! of each priority class in service; each pays for an earlier interrupt).

/// A set of vectors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Vectors {
    words: [u64; 4],
    /// A bit for each word that is not zero.
    used: u32,
}

impl Vectors {
    /// The empty set.
    pub const EMPTY: Self = Self { words: [0; 4], used: 0 };

    #[inline]
    const fn place(vector: u8) -> (usize, u64) {
        ((vector >> 6) as usize, 1 << (vector & 63))
    }

    /// Whether the vector is in the set. Four instructions.
    #[inline]
    #[must_use]
    pub const fn has(&self, vector: u8) -> bool {
        let (word, bit) = Self::place(vector);
        self.words[word] & bit != 0
    }

    /// Puts the vector in.
    #[inline]
    pub const fn insert(&mut self, vector: u8) {
        let (word, bit) = Self::place(vector);
        self.words[word] |= bit;
        self.used |= 1 << word;
    }

    /// Takes the vector out.
    #[inline]
    pub const fn remove(&mut self, vector: u8) {
        let (word, bit) = Self::place(vector);
        self.words[word] &= !bit;
        if self.words[word] == 0 {
            self.used &= !(1 << word);
        }
    }

    /// The highest vector of the set. Constant time.
    #[inline]
    #[must_use]
    pub const fn highest(&self) -> Option<u8> {
        if self.used == 0 {
            return None;
        }
        let word = 31 ^ self.used.leading_zeros();
        let bit = 63 ^ self.words[(word & 3) as usize].leading_zeros();
        Some((word << 6 | bit) as u8)
    }

    /// The highest vector that is in both sets. Constant time.
    #[must_use]
    pub const fn highest_common(&self, other: &Self) -> Option<u8> {
        let mut word = 4;
        while word > 0 {
            word -= 1;
            let both = self.words[word] & other.words[word];
            if both != 0 {
                return Some((word as u32 * 64 + (63 ^ both.leading_zeros())) as u8);
            }
        }
        None
    }

    /// Number of vectors in the set.
    #[must_use]
    pub fn len(&self) -> u32 {
        self.words.iter().map(|word| word.count_ones()).sum()
    }

    /// Whether the set is empty.
    #[inline]
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.used == 0
    }
}

/// The effect of an EOI by the guest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Eoi {
    /// The vector that ended; `None` when nothing was in service.
    pub vector: Option<u8>,
    /// Number of physical EOIs to send now.
    pub physical_eois: u8,
    /// The vector is level-triggered.
    pub level: bool,
}

/// The interrupt state of a guest's local APIC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GuestApic {
    /// Pending.
    irr: Vectors,
    /// In service.
    isr: Vectors,
    /// Level-triggered.
    level: Vectors,
    /// In service in the machine's local APIC, for the guest.
    owed: Vectors,
    /// Owed and in service at the guest, as opposed to an earlier virtual interrupt of the same
    /// vector.
    serving: Vectors,
    /// Owed and ended by the guest, but below an owed vector that it has not ended.
    done: Vectors,
    /// Task priority register.
    tpr: u8,
    /// Class of a second task priority, which does not hold back the vectors in `through`. Whoever
    /// looks at each entry has no more to do than compare.
    shield: u8,
    /// See above.
    through: Vectors,
}

/// Priority class of a vector.
#[inline]
const fn class(vector: u8) -> u8 {
    vector >> 4
}

impl GuestApic {
    /// State after reset.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            irr: Vectors::EMPTY,
            isr: Vectors::EMPTY,
            level: Vectors::EMPTY,
            owed: Vectors::EMPTY,
            serving: Vectors::EMPTY,
            done: Vectors::EMPTY,
            tpr: 0,
            shield: 0,
            through: Vectors::EMPTY,
        }
    }

    /// Makes a virtual interrupt pending. Constant time.
    #[inline]
    pub const fn raise(&mut self, vector: u8) {
        self.irr.insert(vector);
    }

    /// Makes virtual interrupts pending, a bit for each vector. Constant time.
    pub fn raise_all(&mut self, vectors: &[u64; 4]) {
        for (number, (word, new)) in self.irr.words.iter_mut().zip(vectors).enumerate() {
            *word |= new;
            self.irr.used |= u32::from(*word != 0) << number;
        }
    }

    /// Records a physical interrupt for the guest; its physical EOI is owed from now on. Constant
    /// time.
    ///
    /// The machine's local APIC does not deliver a vector again before its EOI, so the same vector
    /// is never owed twice.
    #[inline]
    pub const fn raise_physical(&mut self, vector: u8) {
        self.irr.insert(vector);
        self.owed.insert(vector);
    }

    /// Sets whether a vector is level-triggered.
    pub const fn set_level(&mut self, vector: u8, level: bool) {
        if level { self.level.insert(vector) } else { self.level.remove(vector) }
    }

    /// The vector that the guest would get next: the highest pending one, when its class is above
    /// the processor priority (AMD APM vol. 2, 16.6.4). Constant time.
    #[inline]
    #[must_use]
    pub const fn deliverable(&self) -> Option<u8> {
        match self.irr.highest() {
            Some(vector) if class(vector) > class(self.processor_priority()) => {
                if class(vector) > self.shield {
                    Some(vector)
                } else {
                    self.let_through()
                }
            }
            _ => None,
        }
    }

    /// The highest pending vector that the shield does not concern, when its class is above the
    /// processor priority. Constant time.
    const fn let_through(&self) -> Option<u8> {
        match self.irr.highest_common(&self.through) {
            Some(vector) if class(vector) > class(self.processor_priority()) => Some(vector),
            _ => None,
        }
    }

    /// Sets the priority of the shield; 0 takes it away.
    #[inline]
    pub const fn set_shield(&mut self, shield: u8) {
        self.shield = class(shield);
    }

    /// Priority of the shield: that of its class, since no more of it counts.
    #[inline]
    #[must_use]
    pub const fn shield(&self) -> u8 {
        self.shield << 4
    }

    /// Sets whether the shield lets a vector through.
    pub const fn set_through(&mut self, vector: u8, through: bool) {
        if through { self.through.insert(vector) } else { self.through.remove(vector) }
    }

    /// Processor priority register: the task priority, or the class of the highest vector in
    /// service if that is higher. Constant time.
    #[inline]
    #[must_use]
    pub const fn processor_priority(&self) -> u8 {
        match self.isr.highest() {
            Some(vector) if class(vector) > class(self.tpr) => vector & 0xf0,
            _ => self.tpr,
        }
    }

    /// The guest took the vector: it moves from pending to in service. Constant time.
    #[inline]
    pub const fn accept(&mut self, vector: u8) {
        self.irr.remove(vector);
        self.isr.insert(vector);
        if self.owed.has(vector) && !self.done.has(vector) {
            self.serving.insert(vector);
        }
    }

    /// The guest wrote its EOI register. Constant time, and as much again for each physical EOI
    /// that is due.
    #[inline]
    pub const fn end_of_interrupt(&mut self) -> Eoi {
        let Some(vector) = self.isr.highest() else {
            return Eoi { vector: None, physical_eois: 0, level: false };
        };
        self.isr.remove(vector);
        let mut physical_eois = 0;
        if self.serving.has(vector) {
            self.serving.remove(vector);
            physical_eois = self.settle(vector);
        }
        Eoi { vector: Some(vector), physical_eois, level: self.level.has(vector) }
    }

    /// An owed vector is done: counts and forgets the done vectors that have no open one above them
    /// any more. Those done earlier lie below an open one.
    const fn settle(&mut self, vector: u8) -> u8 {
        if !matches!(self.owed.highest(), Some(top) if top == vector) {
            self.done.insert(vector);
            return 0;
        }
        self.owed.remove(vector);
        let mut count: u8 = 1;
        while !self.done.is_empty()
            && let Some(top) = self.owed.highest()
            && self.done.has(top)
        {
            self.owed.remove(top);
            self.done.remove(top);
            count = count.saturating_add(1);
        }
        count
    }

    /// Forgets everything, and returns how many physical EOIs are owed. Constant time.
    pub fn reset(&mut self) -> u8 {
        let owed = self.owed.len();
        *self = Self::new();
        u8::try_from(owed).unwrap_or(u8::MAX)
    }

    /// Sets the task priority.
    #[inline]
    pub const fn set_task_priority(&mut self, tpr: u8) {
        self.tpr = tpr;
    }

    /// The task priority.
    #[inline]
    #[must_use]
    pub const fn task_priority(&self) -> u8 {
        self.tpr
    }

    /// Pending vectors.
    #[inline]
    #[must_use]
    pub const fn irr(&self) -> &[u64; 4] {
        &self.irr.words
    }

    /// Vectors in service.
    #[inline]
    #[must_use]
    pub const fn isr(&self) -> &[u64; 4] {
        &self.isr.words
    }

    /// Whether the machine's local APIC holds the vector in service for the guest; for tests.
    #[cfg(any(test, feature = "observe"))]
    #[must_use]
    pub const fn owes(&self, vector: u8) -> bool {
        self.owed.has(vector)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;
    use std::vec::Vec;

    #[test]
    fn priorities() {
        let mut apic = GuestApic::new();
        apic.raise(0x31);
        apic.raise(0x42);
        assert_eq!(apic.deliverable(), Some(0x42));
        apic.accept(0x42);
        assert_eq!(apic.deliverable(), None);
        apic.raise(0x4f);
        assert_eq!(apic.deliverable(), None);
        apic.raise(0x50);
        assert_eq!(apic.deliverable(), Some(0x50));
        apic.set_task_priority(0x50);
        assert_eq!(apic.deliverable(), None);
        assert_eq!(apic.end_of_interrupt(), Eoi { vector: Some(0x42), physical_eois: 0, level: false });
    }

    #[test]
    fn a_shield_lets_some_through() {
        let mut apic = GuestApic::new();
        apic.set_shield(0xd0);
        apic.raise(0x42);
        assert_eq!(apic.deliverable(), None);
        apic.raise(0xec);
        assert_eq!(apic.deliverable(), Some(0xec));
        apic.accept(0xec);
        assert_eq!(apic.deliverable(), None);
        apic.set_shield(0);
        assert_eq!(apic.deliverable(), None, "a higher one is in service");
        apic.end_of_interrupt();
        assert_eq!(apic.deliverable(), Some(0x42));
        apic.set_shield(0xd0);
        apic.set_through(0x31, true);
        assert_eq!(apic.deliverable(), None);
        apic.raise(0x31);
        assert_eq!(apic.deliverable(), Some(0x31), "before a higher one that waits");
        apic.set_task_priority(0x30);
        assert_eq!(apic.deliverable(), None);
        apic.set_task_priority(0);
        apic.set_through(0x31, false);
        assert_eq!(apic.deliverable(), None);
    }

    #[test]
    fn a_lower_physical_end_waits_for_the_higher_one() {
        let mut apic = GuestApic::new();
        apic.raise_physical(0x31);
        apic.accept(0x31);
        apic.raise_physical(0x51);
        assert_eq!(apic.end_of_interrupt().physical_eois, 0);
        apic.accept(0x51);
        assert_eq!(apic.end_of_interrupt(), Eoi { vector: Some(0x51), physical_eois: 2, level: false });
    }

    #[test]
    fn a_virtual_interrupt_does_not_end_a_physical_one_of_its_vector() {
        let mut apic = GuestApic::new();
        apic.raise(0x31);
        apic.accept(0x31);
        apic.raise_physical(0x31);
        assert_eq!(apic.end_of_interrupt().physical_eois, 0);
        apic.accept(0x31);
        assert_eq!(apic.end_of_interrupt().physical_eois, 1);
    }

    #[test]
    fn level_and_reset() {
        let mut apic = GuestApic::new();
        apic.set_level(0x31, true);
        apic.raise_physical(0x31);
        apic.accept(0x31);
        assert!(apic.end_of_interrupt().level);
        apic.raise_physical(0x31);
        apic.raise_physical(0x61);
        assert_eq!(apic.reset(), 2);
        assert_eq!(apic, GuestApic::new());
        assert_eq!(apic.end_of_interrupt(), Eoi::default());
    }

    /// The machine's local APIC: a set in service, whose end takes the highest one.
    #[derive(Default)]
    struct Machine {
        in_service: BTreeSet<u8>,
    }

    impl Machine {
        fn accepts(&self, vector: u8) -> bool {
            self.in_service.iter().all(|open| open >> 4 < vector >> 4)
        }
        fn end(&mut self) -> Option<u8> {
            self.in_service.pop_last()
        }
    }

    #[derive(Clone, Debug)]
    enum Step {
        Physical(u8),
        Virtual(u8),
        Accept,
        End,
        Priority(u8),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            (0x20u8..0xf0).prop_map(Step::Physical),
            (0x10u8..=0xff).prop_map(Step::Virtual),
            Just(Step::Accept),
            Just(Step::Accept),
            Just(Step::End),
            Just(Step::End),
            (0u8..0x80).prop_map(Step::Priority),
        ]
    }

    proptest! {
        /// Against sets: the right vector is delivered, no physical EOI goes to a vector that the
        /// guest still has open, and none is left over when the guest has ended everything.
        #[test]
        fn agrees_with_sets(steps in prop::collection::vec(step(), 0..200)) {
            let mut apic = GuestApic::new();
            let mut machine = Machine::default();
            let (mut irr, mut isr) = (BTreeSet::new(), BTreeSet::new());
            let mut handled: BTreeSet<u8> = BTreeSet::new(); // physical vectors that the guest has ended
            let mut serving: BTreeSet<u8> = BTreeSet::new();
            let mut tpr = 0u8;
            let mut all: Vec<Step> = steps;
            all.push(Step::Priority(0));
            all.extend((0..500).flat_map(|_| [Step::Accept, Step::End]));
            for step in all {
                match step {
                    Step::Physical(vector) if machine.accepts(vector) => {
                        machine.in_service.insert(vector);
                        apic.raise_physical(vector);
                        irr.insert(vector);
                    }
                    Step::Physical(_) => {}
                    Step::Virtual(vector) => {
                        apic.raise(vector);
                        irr.insert(vector);
                    }
                    Step::Priority(value) => {
                        tpr = value;
                        apic.set_task_priority(value);
                    }
                    Step::Accept => {
                        let priority = isr.last().map_or(0, |v: &u8| v >> 4).max(tpr >> 4);
                        let expected = irr.last().copied().filter(|v| v >> 4 > priority);
                        prop_assert_eq!(apic.deliverable(), expected);
                        if let Some(vector) = expected {
                            apic.accept(vector);
                            irr.remove(&vector);
                            isr.insert(vector);
                            if machine.in_service.contains(&vector) && !handled.contains(&vector) {
                                serving.insert(vector);
                            }
                        }
                    }
                    Step::End => {
                        let eoi = apic.end_of_interrupt();
                        let ended = isr.pop_last();
                        prop_assert_eq!(eoi.vector, ended);
                        if let Some(vector) = ended && serving.remove(&vector) {
                            handled.insert(vector);
                        }
                        for _ in 0..eoi.physical_eois {
                            let vector = machine.end().expect("an end too many");
                            prop_assert!(handled.remove(&vector));
                        }
                        // What could be ended has been.
                        if let Some(top) = machine.in_service.last() {
                            prop_assert!(!handled.contains(top));
                        }
                    }
                }
                prop_assert_eq!(apic.irr().iter().map(|w| w.count_ones() as usize).sum::<usize>(), irr.len());
            }
            prop_assert!(machine.in_service.is_empty());
            prop_assert_eq!(apic.reset(), 0);
        }

        #[test]
        fn highest_is_the_maximum(words in any::<[u64; 4]>()) {
            let mut set = Vectors::EMPTY;
            (0..=255u8).filter(|v| words[usize::from(v >> 6)] >> (v & 63) & 1 == 1).for_each(|v| set.insert(v));
            let expected = (0u8..=255).rev().find(|v| set.has(*v));
            prop_assert_eq!(set.highest(), expected);
            prop_assert_eq!(set.is_empty(), expected.is_none());
            prop_assert_eq!(set.len() as usize, (0u8..=255).filter(|v| set.has(*v)).count());
            for vector in (0..=255u8).rev() {
                set.remove(vector);
                prop_assert_eq!(set.highest(), (0..vector).rev().find(|v| set.has(*v)));
            }
            prop_assert_eq!(set, Vectors::EMPTY);
        }
    }
}
