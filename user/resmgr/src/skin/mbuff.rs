//! Shared buffers: named parts of the pool. A buffer exists while something holds it; after the
//! last release its memory is free again. So that no holder can take everything, one directory
//! entry is reserved for each task and for Linux, and for each task the memory that the system file
//! states.

use pillion_abi::PAGE;
use pillion_abi::channel::{MBUFF_NAME, MBUFFS, Mbuff, TASKS};

/// A name as the directory has it: one to [`LONGEST`] printable ASCII characters, then zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name([u8; MBUFF_NAME]);

/// Most characters of a name.
const LONGEST: usize = 32;

impl Name {
    /// The name in these bytes. Only zeros may follow the first zero, so that two names that look
    /// alike are equal.
    pub fn new(bytes: &[u8; MBUFF_NAME]) -> Result<Name, Refusal> {
        let end = bytes.iter().position(|b| *b == 0).unwrap_or(MBUFF_NAME);
        let (text, rest) = bytes.split_at(end);
        let good = (1..=LONGEST).contains(&end) && text.iter().all(|b| (b' '..=b'~').contains(b));
        if good && rest.iter().all(|b| *b == 0) { Ok(Name(*bytes)) } else { Err(Refusal::Invalid) }
    }
}

/// What holds a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// The task with that index, which may hold a buffer several times.
    Task(usize),
    /// Linux, which counts its own users.
    Linux,
}

impl Holder {
    /// Index in tables of all holders.
    fn index(self) -> usize {
        match self {
            Holder::Task(task) => task,
            Holder::Linux => TASKS,
        }
    }
}

/// Number of possible holders.
const HOLDERS: usize = TASKS + 1;

/// Why a request for a buffer fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The size is 0, or larger than the buffer or the pool; or the name is invalid.
    Invalid,
    /// No free part of the pool, beside what is reserved for others, is large enough.
    NoMemory,
    /// All directory entries are taken or reserved for others; or the count of holds is full.
    Full,
    /// There is no such buffer, or the holder does not hold it.
    Absent,
    /// The buffer is being cleared: the holder must ask again.
    Again,
}

impl Refusal {
    /// The negative errno that C programs know.
    pub fn errno(self) -> i64 {
        match self {
            Refusal::Absent => -2,
            Refusal::Again => -11,
            Refusal::NoMemory => -12,
            Refusal::Invalid => -22,
            Refusal::Full => -28,
        }
    }
}

/// Bytes that are cleared at a time: the manager serves others between two pieces.
pub const PIECE: u64 = 256 << 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// The holder holds the buffer with this index in the directory.
    Held(usize),
    /// A piece must be cleared first ([`Pool::cleared`]); then the holder must ask again.
    Clear {
        /// Index in the directory.
        index: usize,
        /// Offset in the pool.
        at: u64,
        /// Bytes, whole pages.
        bytes: u64,
    },
}

/// The pool, and the holds on its buffers.
pub struct Pool {
    size: u64,
    /// Bytes reserved for each holder.
    kept: [u64; HOLDERS],
    /// Number of tasks; the rest of `kept` is unused.
    tasks: usize,
    buffers: [State; MBUFFS],
}

/// State of a buffer that the directory does not show.
#[derive(Clone, Copy)]
struct State {
    holds: [u32; HOLDERS],
    /// Its maker. The buffer counts towards the maker's share while the maker holds it.
    maker: Holder,
    /// Bytes cleared so far.
    cleared: u64,
    /// The maker has not yet been told that the buffer is cleared.
    pending: bool,
}

impl State {
    const FREE: State = State { holds: [0; HOLDERS], maker: Holder::Linux, cleared: 0, pending: false };

    /// Index of the holder whose share the buffer counts towards.
    fn payer(&self) -> usize {
        let maker = self.maker.index();
        if self.holds[maker] != 0 { maker } else { self.holds.iter().position(|n| *n != 0).unwrap_or(maker) }
    }
}

/// An entry without a buffer.
pub const FREE: Mbuff = Mbuff { name: [0; MBUFF_NAME], offset: 0, size: 0, task_count: 0, linux_count: 0 };

impl Pool {
    /// A pool of `size` bytes, with `kept[i]` of them reserved for task `i`.
    pub fn new(size: u64, kept: &[u64]) -> Pool {
        let mut all = [0; HOLDERS];
        all.iter_mut().zip(kept.iter().take(TASKS)).for_each(|(to, from)| *to = *from);
        Pool { size, kept: all, tasks: kept.len().min(TASKS), buffers: [State::FREE; MBUFFS] }
    }

    /// Finds or makes a buffer and holds it. The manager clears a new buffer one piece per request,
    /// from whichever holder.
    pub fn hold(&mut self, all: &mut [Mbuff; MBUFFS], holder: Holder, name: &Name, size: u64) -> Result<Hold, Refusal> {
        let size =
            size.checked_next_multiple_of(PAGE).filter(|s| *s != 0 && *s <= self.size).ok_or(Refusal::Invalid)?;
        let index = match find(all, name) {
            Some(index) if all[index].size >= size => index,
            Some(_) => return Err(Refusal::Invalid),
            None => self.make(all, holder, name, size)?,
        };
        let state = &mut self.buffers[index];
        let bytes = (all[index].size - state.cleared).min(PIECE);
        if bytes != 0 {
            return Ok(Hold::Clear { index, at: all[index].offset + state.cleared, bytes });
        }
        if state.pending && state.maker == holder {
            state.pending = false;
            return Ok(Hold::Held(index));
        }
        let held = &mut state.holds[holder.index()];
        *held = if holder == Holder::Linux { 1 } else { held.checked_add(1).ok_or(Refusal::Full)? };
        self.count(all, index);
        Ok(Hold::Held(index))
    }

    /// Records that `bytes` more of a buffer are cleared.
    pub fn cleared(&mut self, index: usize, bytes: u64) {
        self.buffers[index].cleared += bytes;
    }

    pub fn release(&mut self, all: &mut [Mbuff; MBUFFS], holder: Holder, name: &Name) -> Result<(), Refusal> {
        let index = find(all, name).ok_or(Refusal::Absent)?;
        let held = &mut self.buffers[index].holds[holder.index()];
        *held = held.checked_sub(1).ok_or(Refusal::Absent)?;
        self.count(all, index);
        Ok(())
    }

    pub fn release_all(&mut self, all: &mut [Mbuff; MBUFFS], holder: Holder) {
        for index in 0..MBUFFS {
            self.buffers[index].holds[holder.index()] = 0;
            self.count(all, index);
        }
    }

    /// Makes a buffer that is yet to be cleared. Its maker holds it: it goes when its maker goes.
    fn make(&mut self, all: &mut [Mbuff; MBUFFS], maker: Holder, name: &Name, size: u64) -> Result<usize, Refusal> {
        let index = all.iter().position(|b| b.size == 0).ok_or(Refusal::Full)?;
        let [entries, bytes] = self.kept_from(all, maker);
        let used = all.iter().fold([0, 0], |[n, sum], b| [n + u64::from(b.size != 0), sum + b.size]);
        if used[0] + 1 + entries > MBUFFS as u64 {
            return Err(Refusal::Full);
        }
        if used[1] + size + bytes > self.size {
            return Err(Refusal::NoMemory);
        }
        let offset = self.place(all, size).ok_or(Refusal::NoMemory)?;
        all[index] = Mbuff { name: name.0, offset, size, ..FREE };
        self.buffers[index] = State { maker, pending: true, ..State::FREE };
        self.buffers[index].holds[maker.index()] = 1;
        self.count(all, index);
        Ok(index)
    }

    /// Entries and bytes still reserved for the other holders: one entry for each, and its share of
    /// the memory, less what it already has.
    fn kept_from(&self, all: &[Mbuff; MBUFFS], maker: Holder) -> [u64; 2] {
        let mut used = [[0; 2]; HOLDERS];
        for (buffer, state) in all.iter().zip(&self.buffers).filter(|(buffer, _)| buffer.size != 0) {
            let [count, bytes] = &mut used[state.payer()];
            (*count, *bytes) = (*count + 1, *bytes + buffer.size);
        }
        let others = (0..self.tasks).chain([TASKS]).filter(|other| *other != maker.index());
        others.fold([0, 0], |[entries, sum], other| {
            let [count, bytes] = used[other];
            [entries + u64::from(count == 0), sum + self.kept[other].saturating_sub(bytes)]
        })
    }

    /// The lowest free offset: the start of the pool, or the end of a buffer.
    fn place(&self, all: &[Mbuff; MBUFFS], size: u64) -> Option<u64> {
        let free = |at: u64| {
            let apart = |b: &Mbuff| at + size <= b.offset || b.offset + b.size <= at;
            at + size <= self.size && all.iter().filter(|b| b.size != 0).all(apart)
        };
        let behind = all.iter().filter(|b| b.size != 0).map(|b| b.offset + b.size);
        core::iter::once(0).chain(behind).filter(|at| free(*at)).min()
    }

    /// Updates the counts in the directory; frees a buffer without holds.
    fn count(&mut self, all: &mut [Mbuff; MBUFFS], index: usize) {
        let (buffer, holds) = (&mut all[index], &self.buffers[index].holds);
        buffer.task_count = holds[..TASKS].iter().fold(0, |sum: u32, n| sum.saturating_add(*n));
        buffer.linux_count = holds[TASKS];
        if buffer.task_count == 0 && buffer.linux_count == 0 {
            *buffer = FREE;
            self.buffers[index] = State::FREE;
        }
    }
}

fn find(all: &[Mbuff; MBUFFS], name: &Name) -> Option<usize> {
    all.iter().position(|b| b.size != 0 && b.name == name.0)
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use proptest::prelude::*;
    use std::{collections::BTreeMap, vec, vec::Vec};

    const SIZE: u64 = 16 * PAGE;

    fn name(number: u8) -> Name {
        named(&[b' ' + number]).unwrap()
    }

    fn named(text: &[u8]) -> Result<Name, Refusal> {
        let mut bytes = [0; MBUFF_NAME];
        bytes[..text.len()].copy_from_slice(text);
        Name::new(&bytes)
    }

    /// A pool with nothing reserved, and its directory.
    fn common(size: u64) -> (Pool, [Mbuff; MBUFFS]) {
        (Pool::new(size, &[]), [FREE; MBUFFS])
    }

    /// Asks until the buffer is cleared.
    fn hold(
        pool: &mut Pool,
        all: &mut [Mbuff; MBUFFS],
        holder: Holder,
        name: &Name,
        size: u64,
    ) -> Result<usize, Refusal> {
        loop {
            match pool.hold(all, holder, name, size)? {
                Hold::Held(index) => return Ok(index),
                Hold::Clear { index, bytes, .. } => pool.cleared(index, bytes),
            }
        }
    }

    #[test]
    fn names_that_look_alike_are_one() {
        assert!(named(&[b'x'; LONGEST]).is_ok() && named(b"a name").is_ok());
        for bad in [&b""[..], &[b'x'; LONGEST + 1], b"foo\0junk", b"\0foo", b"a\nb", b"a\x7f", b"\xc3\xa4", b"\x9b"] {
            assert_eq!(named(bad), Err(Refusal::Invalid), "{bad:?}");
        }
        assert_eq!(Name::new(&[b'x'; MBUFF_NAME]), Err(Refusal::Invalid));
    }

    #[test]
    fn the_first_hold_makes_it_and_the_last_release_frees_it() {
        let (mut pool, mut all) = common(SIZE);
        assert_eq!(hold(&mut pool, &mut all, Holder::Task(0), &name(0), 5000), Ok(0));
        assert_eq!((all[0].size, all[0].task_count), (2 * PAGE, 1));
        assert_eq!(pool.hold(&mut all, Holder::Linux, &name(0), 1), Ok(Hold::Held(0)));
        assert_eq!(pool.hold(&mut all, Holder::Linux, &name(0), 3 * PAGE), Err(Refusal::Invalid));
        pool.release(&mut all, Holder::Task(0), &name(0)).unwrap();
        assert_eq!(pool.release(&mut all, Holder::Task(0), &name(0)), Err(Refusal::Absent));
        assert_eq!((all[0].task_count, all[0].linux_count), (0, 1));
        pool.release_all(&mut all, Holder::Linux);
        assert_eq!(all[0].size, 0);
    }

    /// No holder gets a buffer before all of it is cleared, and its maker holds it once, whatever
    /// others asked meanwhile.
    #[test]
    fn a_large_one_is_cleared_in_pieces() {
        let size = 2 * PIECE + PAGE;
        let (mut pool, mut all) = common(size);
        let mut pieces = vec![];
        let clear = |pool: &mut Pool, all: &mut _, holder, pieces: &mut Vec<_>| {
            let Ok(Hold::Clear { index, at, bytes }) = pool.hold(all, holder, &name(0), size) else { panic!() };
            pool.cleared(index, bytes);
            pieces.push((at, bytes));
        };
        for holder in [Holder::Task(1), Holder::Linux, Holder::Task(1)] {
            clear(&mut pool, &mut all, holder, &mut pieces);
        }
        assert_eq!(pieces, [(0, PIECE), (PIECE, PIECE), (2 * PIECE, PAGE)]);
        assert_eq!((all[0].task_count, all[0].linux_count), (1, 0));
        assert_eq!(pool.hold(&mut all, Holder::Task(1), &name(0), 1), Ok(Hold::Held(0)));
        assert_eq!(all[0].task_count, 1);
        // A buffer given up halfway is gone; when made anew it is cleared from its beginning.
        pool.release_all(&mut all, Holder::Task(1));
        clear(&mut pool, &mut all, Holder::Task(0), &mut pieces);
        pool.release_all(&mut all, Holder::Task(0));
        assert_eq!(all[0].size, 0);
        clear(&mut pool, &mut all, Holder::Linux, &mut pieces);
        assert_eq!(pieces[3..], [(0, PIECE), (0, PIECE)]);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let (mut pool, mut all) = common(SIZE);
        for size in [0, SIZE + 1, u64::MAX] {
            assert_eq!(pool.hold(&mut all, Holder::Linux, &name(0), size), Err(Refusal::Invalid));
        }
        hold(&mut pool, &mut all, Holder::Linux, &name(0), SIZE).unwrap();
        assert_eq!(pool.hold(&mut all, Holder::Linux, &name(1), 1), Err(Refusal::NoMemory));
        let (mut pool, mut all) = common(64 * PAGE);
        for number in 0..32 {
            hold(&mut pool, &mut all, Holder::Linux, &name(number), 1).unwrap();
        }
        assert_eq!(pool.hold(&mut all, Holder::Linux, &name(40), 1), Err(Refusal::Full));
    }

    /// A count that wrapped would free a buffer that is held.
    #[test]
    fn holds_are_counted_to_the_end() {
        let (mut pool, mut all) = common(SIZE);
        hold(&mut pool, &mut all, Holder::Task(0), &name(0), 1).unwrap();
        pool.buffers[0].holds[0] = u32::MAX;
        assert_eq!(pool.hold(&mut all, Holder::Task(0), &name(0), 1), Err(Refusal::Full));
        assert_ne!(all[0].size, 0);
    }

    /// Whatever one holder takes, each of the others gets an entry and the memory reserved for it;
    /// what is not reserved is free to all.
    #[test]
    fn one_does_not_take_what_is_kept_for_others() {
        let greedy = |holder: Holder| {
            let (mut pool, mut all) = (Pool::new(64 * PAGE, &[2 * PAGE, 3 * PAGE, 0]), [FREE; MBUFFS]);
            let made = (0..).take_while(|n| hold(&mut pool, &mut all, holder, &name(*n), 1).is_ok()).count();
            (pool, all, made)
        };
        let (mut pool, mut all, made) = greedy(Holder::Task(0));
        assert_eq!(made, MBUFFS - 3);
        assert_eq!(hold(&mut pool, &mut all, Holder::Task(1), &name(50), 3 * PAGE), Ok(MBUFFS - 3));
        assert_eq!(hold(&mut pool, &mut all, Holder::Task(1), &name(51), 1), Err(Refusal::Full));
        assert!(hold(&mut pool, &mut all, Holder::Linux, &name(52), 1).is_ok());
        assert!(hold(&mut pool, &mut all, Holder::Task(2), &name(53), 1).is_ok());
        // A buffer that its maker has released counts towards those that hold it.
        pool.release_all(&mut all, Holder::Task(0));
        assert!(hold(&mut pool, &mut all, Holder::Task(0), &name(0), 2 * PAGE).is_ok());

        let (mut pool, mut all) = (Pool::new(64 * PAGE, &[2 * PAGE, 3 * PAGE]), [FREE; MBUFFS]);
        assert_eq!(pool.hold(&mut all, Holder::Linux, &name(0), 60 * PAGE), Err(Refusal::NoMemory));
        assert!(hold(&mut pool, &mut all, Holder::Linux, &name(0), 59 * PAGE).is_ok());
        assert_eq!(pool.hold(&mut all, Holder::Task(0), &name(1), 3 * PAGE), Err(Refusal::NoMemory));
        assert!(hold(&mut pool, &mut all, Holder::Task(0), &name(1), 2 * PAGE).is_ok());
        assert!(hold(&mut pool, &mut all, Holder::Task(1), &name(2), 3 * PAGE).is_ok());
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

    /// All buffers are whole pages within the pool, and no two overlap.
    fn apart(all: &[Mbuff]) -> bool {
        let used: Vec<_> = all.iter().filter(|b| b.size != 0).collect();
        let inside = |b: &Mbuff| b.offset + b.size <= SIZE && (b.offset | b.size).is_multiple_of(PAGE);
        let beside = |a: &Mbuff, b: &Mbuff| a.offset + a.size <= b.offset || b.offset + b.size <= a.offset;
        used.iter().enumerate().all(|(i, a)| inside(a) && used[..i].iter().all(|b| beside(a, b)))
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Buffers never overlap, a buffer exists exactly while a model says that it is held, and
        /// at the end none is left.
        #[test]
        fn buffers_are_apart_and_none_is_lost(steps in prop::collection::vec(step(), 0..80)) {
            let (mut pool, mut all) = common(SIZE);
            let mut model: BTreeMap<(u8, usize), u32> = BTreeMap::new();
            let key = Holder::index;
            for step in steps {
                match step {
                    Step::Hold(h, n, size) => if hold(&mut pool, &mut all, h, &name(n), size).is_ok() {
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
            prop_assert!(hold(&mut pool, &mut all, Holder::Linux, &name(9), SIZE).is_ok());
        }
    }
}
