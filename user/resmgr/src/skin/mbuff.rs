//! Shared buffers: named stretches of the pool. Who holds one keeps it; when nobody does, its memory is free again.

use pillion_abi::{
    PAGE,
    channel::{MBUFF_NAME, MBUFFS, Mbuff, TASKS},
};

/// Name of a shared buffer, padded with zeros; its last byte is zero.
pub type Name = [u8; MBUFF_NAME];

/// Who holds a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// The task with that index. It may hold a buffer several times.
    Task(usize),
    /// Linux, which counts its own users.
    Linux,
}

/// Why there is no buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The size is 0, or another one than the buffer has; or there is no name.
    Invalid,
    /// No stretch of the pool is free that is large enough.
    NoMemory,
    /// All entries of the directory are taken.
    Full,
    /// There is no such buffer, or the holder does not hold it.
    Absent,
}

impl Refusal {
    /// As the negative of an error number that C programs know.
    pub fn errno(self) -> i64 {
        match self {
            Refusal::Absent => -2,
            Refusal::NoMemory => -12,
            Refusal::Invalid => -22,
            Refusal::Full => -28,
        }
    }
}

/// A buffer that is held now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// Index in the directory.
    pub index: usize,
    /// It was made by this: its memory is to be cleared.
    pub is_new: bool,
}

/// The pool, and who holds what.
pub struct Pool {
    size: u64,
    tasks: [[u32; TASKS]; MBUFFS],
}

/// An entry without a buffer.
pub const FREE: Mbuff = Mbuff { name: [0; MBUFF_NAME], offset: 0, size: 0, task_count: 0, linux_count: 0 };

impl Pool {
    /// A pool of that many bytes.
    pub fn new(size: u64) -> Pool {
        Pool { size, tasks: [[0; TASKS]; MBUFFS] }
    }

    /// Finds or makes a buffer and holds it.
    pub fn hold(&mut self, all: &mut [Mbuff; MBUFFS], holder: Holder, name: &Name, size: u64) -> Result<Held, Refusal> {
        let size =
            size.checked_next_multiple_of(PAGE).filter(|s| *s != 0 && *s <= self.size).ok_or(Refusal::Invalid)?;
        if name[0] == 0 || name[MBUFF_NAME - 1] != 0 {
            return Err(Refusal::Invalid);
        }
        let held = match find(all, name) {
            Some(index) if all[index].size >= size => Held { index, is_new: false },
            Some(_) => return Err(Refusal::Invalid),
            None => Held { index: self.make(all, name, size)?, is_new: true },
        };
        match holder {
            Holder::Task(task) => self.tasks[held.index][task] += 1,
            Holder::Linux => all[held.index].linux_count = 1,
        }
        self.count(all, held.index);
        Ok(held)
    }

    /// Gives one hold back.
    pub fn release(&mut self, all: &mut [Mbuff; MBUFFS], holder: Holder, name: &Name) -> Result<(), Refusal> {
        let index = find(all, name).ok_or(Refusal::Absent)?;
        let held = match holder {
            Holder::Task(task) => &mut self.tasks[index][task],
            Holder::Linux => &mut all[index].linux_count,
        };
        *held = held.checked_sub(1).ok_or(Refusal::Absent)?;
        self.count(all, index);
        Ok(())
    }

    /// Gives back everything that somebody holds.
    pub fn release_all(&mut self, all: &mut [Mbuff; MBUFFS], holder: Holder) {
        for index in 0..MBUFFS {
            match holder {
                Holder::Task(task) => self.tasks[index][task] = 0,
                Holder::Linux => all[index].linux_count = 0,
            }
            self.count(all, index);
        }
    }

    fn make(&self, all: &mut [Mbuff; MBUFFS], name: &Name, size: u64) -> Result<usize, Refusal> {
        let index = all.iter().position(|b| b.size == 0).ok_or(Refusal::Full)?;
        let offset = self.place(all, size).ok_or(Refusal::NoMemory)?;
        all[index] = Mbuff { name: *name, offset, size, ..FREE };
        Ok(index)
    }

    /// The lowest place that is free: the start of the pool, or behind a buffer.
    fn place(&self, all: &[Mbuff; MBUFFS], size: u64) -> Option<u64> {
        let free = |at: u64| {
            let apart = |b: &Mbuff| at + size <= b.offset || b.offset + b.size <= at;
            at + size <= self.size && all.iter().filter(|b| b.size != 0).all(apart)
        };
        let behind = all.iter().filter(|b| b.size != 0).map(|b| b.offset + b.size);
        core::iter::once(0).chain(behind).filter(|at| free(*at)).min()
    }

    /// Counts the tasks' holds anew; a buffer that nobody holds goes.
    fn count(&self, all: &mut [Mbuff; MBUFFS], index: usize) {
        let buffer = &mut all[index];
        buffer.task_count = self.tasks[index].iter().fold(0, |sum: u32, n| sum.saturating_add(*n));
        if buffer.task_count == 0 && buffer.linux_count == 0 {
            *buffer = FREE;
        }
    }
}

fn find(all: &[Mbuff; MBUFFS], name: &Name) -> Option<usize> {
    all.iter().position(|b| b.size != 0 && b.name == *name)
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use proptest::prelude::*;
    use std::{collections::BTreeMap, vec::Vec};

    const SIZE: u64 = 16 * PAGE;

    fn name(number: u8) -> Name {
        let mut name = [0; MBUFF_NAME];
        name[0] = b'a' + number;
        name
    }

    #[test]
    fn the_first_hold_makes_it_and_the_last_release_frees_it() {
        let (mut pool, mut all) = (Pool::new(SIZE), [FREE; MBUFFS]);
        let first = pool.hold(&mut all, Holder::Task(0), &name(0), 5000).unwrap();
        assert_eq!((first, all[0].size), (Held { index: 0, is_new: true }, 2 * PAGE));
        let again = pool.hold(&mut all, Holder::Linux, &name(0), 1).unwrap();
        assert_eq!(again, Held { index: 0, is_new: false });
        assert_eq!(pool.hold(&mut all, Holder::Linux, &name(0), 3 * PAGE), Err(Refusal::Invalid));
        pool.release(&mut all, Holder::Task(0), &name(0)).unwrap();
        assert_eq!(pool.release(&mut all, Holder::Task(0), &name(0)), Err(Refusal::Absent));
        assert_eq!((all[0].task_count, all[0].linux_count), (0, 1));
        pool.release_all(&mut all, Holder::Linux);
        assert_eq!(all[0].size, 0);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let (mut pool, mut all) = (Pool::new(SIZE), [FREE; MBUFFS]);
        for size in [0, SIZE + 1, u64::MAX] {
            assert_eq!(pool.hold(&mut all, Holder::Linux, &name(0), size), Err(Refusal::Invalid));
        }
        assert_eq!(pool.hold(&mut all, Holder::Linux, &[b'x'; MBUFF_NAME], 1), Err(Refusal::Invalid));
        assert_eq!(pool.hold(&mut all, Holder::Linux, &[0; MBUFF_NAME], 1), Err(Refusal::Invalid));
        pool.hold(&mut all, Holder::Linux, &name(0), SIZE).unwrap();
        assert_eq!(pool.hold(&mut all, Holder::Linux, &name(1), 1), Err(Refusal::NoMemory));
        let (mut pool, mut all) = (Pool::new(64 * PAGE), [FREE; MBUFFS]);
        for number in 0..32 {
            pool.hold(&mut all, Holder::Linux, &name(number), 1).unwrap();
        }
        assert_eq!(pool.hold(&mut all, Holder::Linux, &name(40), 1), Err(Refusal::Full));
    }

    #[derive(Clone, Debug)]
    enum Step {
        Hold(Holder, u8, u64),
        Release(Holder, u8),
        End(Holder),
    }

    fn step() -> impl Strategy<Value = Step> {
        let holder = || prop_oneof![3 => (0..3usize).prop_map(Holder::Task), 1 => Just(Holder::Linux)];
        prop_oneof![
            4 => (holder(), 0..8u8, 1..6 * PAGE).prop_map(|(h, n, s)| Step::Hold(h, n, s)),
            3 => (holder(), 0..8u8).prop_map(|(h, n)| Step::Release(h, n)),
            1 => holder().prop_map(Step::End),
        ]
    }

    /// All buffers are whole pages of the pool, and none overlaps another one.
    fn apart(all: &[Mbuff]) -> bool {
        let used: Vec<_> = all.iter().filter(|b| b.size != 0).collect();
        let inside = |b: &Mbuff| b.offset + b.size <= SIZE && (b.offset | b.size).is_multiple_of(PAGE);
        let beside = |a: &Mbuff, b: &Mbuff| a.offset + a.size <= b.offset || b.offset + b.size <= a.offset;
        used.iter().enumerate().all(|(i, a)| inside(a) && used[..i].iter().all(|b| beside(a, b)))
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Buffers never overlap, one exists exactly while a model says that it is held, and at the end nothing is left.
        #[test]
        fn buffers_are_apart_and_none_is_lost(steps in prop::collection::vec(step(), 0..80)) {
            let (mut pool, mut all) = (Pool::new(SIZE), [FREE; MBUFFS]);
            let mut model: BTreeMap<(u8, usize), u32> = BTreeMap::new();
            let key = |holder: Holder| match holder { Holder::Task(task) => task, Holder::Linux => TASKS };
            for step in steps {
                match step {
                    Step::Hold(h, n, size) => if pool.hold(&mut all, h, &name(n), size).is_ok() {
                        let count = model.entry((n, key(h))).or_default();
                        *count = if h == Holder::Linux { 1 } else { *count + 1 };
                    },
                    Step::Release(h, n) => {
                        let count = model.entry((n, key(h))).or_default();
                        prop_assert_eq!(pool.release(&mut all, h, &name(n)).is_ok(), *count != 0);
                        *count = count.saturating_sub(1);
                    }
                    Step::End(h) => {
                        pool.release_all(&mut all, h);
                        model.retain(|(_, holder), _| *holder != key(h));
                    }
                }
                prop_assert!(apart(&all));
                for n in 0..8 {
                    let held = model.iter().any(|((name, _), count)| *name == n && *count != 0);
                    prop_assert_eq!(find(&all, &name(n)).is_some(), held);
                }
            }
            for holder in (0..3).map(Holder::Task).chain([Holder::Linux]) {
                pool.release_all(&mut all, holder);
            }
            prop_assert!(all.iter().all(|b| b.size == 0));
            prop_assert!(pool.hold(&mut all, Holder::Linux, &name(9), SIZE).is_ok());
        }
    }
}
