//! One processor at a time, and all that want to in turn.
//!
//! Nobody waits here: who is refused tries again later, and is known by then. Who ends gives the
//! turn to the next one that is known to want it, in the order of the processors. One that does not
//! take it in time, since it has something more urgent to do, is passed over in the same order. So
//! whoever goes on trying is let in when each of the others has had at most one turn, taken or not,
//! and perhaps one more that came first to a turn that was nobody's.

use crate::Line;
#[cfg(not(loom))]
use core::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};
#[cfg(loom)]
use loom::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

/// Whose turn it is, of at most 32 processors.
#[derive(Debug, Default)]
pub struct Turn(Line<Words>);

#[derive(Debug, Default)]
struct Words {
    /// See [`Whose`].
    whose: AtomicU64,
    /// A bit for each processor that was refused and has not had a turn since.
    wanted: AtomicU32,
}

/// What a word says: its lowest byte the kind and the processor, the rest the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whose {
    Nobodys,
    /// A processor's, which is in.
    Taken(usize),
    /// A processor's, since a time, in ticks without their highest byte.
    Given(usize, u64),
}

const TAKEN: u64 = 1 << 6;
const GIVEN: u64 = 1 << 7;
const PROCESSOR: u64 = 0x1f;
const TIME_SHIFT: u32 = 8;
const TIME: u64 = u64::MAX >> TIME_SHIFT;

impl Whose {
    fn of(word: u64) -> Whose {
        let processor = (word & PROCESSOR) as usize;
        match word & (TAKEN | GIVEN) {
            0 => Whose::Nobodys,
            GIVEN => Whose::Given(processor, word >> TIME_SHIFT),
            _ => Whose::Taken(processor),
        }
    }

    fn word(self) -> u64 {
        match self {
            Whose::Nobodys => 0,
            Whose::Taken(processor) => TAKEN | processor as u64,
            Whose::Given(processor, since) => GIVEN | processor as u64 | since << TIME_SHIFT,
        }
    }
}

impl Turn {
    /// Nobody's.
    #[cfg(not(loom))]
    #[must_use]
    pub const fn new() -> Self {
        Turn(Line(Words { whose: AtomicU64::new(0), wanted: AtomicU32::new(0) }))
    }

    /// Lets a processor in if it is its turn, or nobody's. If not, its turn will come. Passes over
    /// one whose turn it has been for `patience` ticks of a clock that is read `now` if it matters.
    /// Constant time: at most three locked instructions.
    #[must_use = "who is let in has to end that"]
    pub fn take(&self, own: usize, now: impl FnOnce() -> u64, patience: u64) -> bool {
        let Words { whose, wanted } = &self.0.0;
        let word = whose.load(Relaxed);
        let new = match Whose::of(word) {
            Whose::Nobodys => Some(Whose::Taken(own)),
            Whose::Taken(_) => None,
            Whose::Given(to, _) if to == own => Some(Whose::Taken(own)),
            Whose::Given(to, since) => {
                let now = now();
                is_over(since, now, patience).then(|| match next(wanted.load(Relaxed) | 1 << own, to) {
                    Some(next) if next != own => Whose::Given(next, now & TIME),
                    _ => Whose::Taken(own),
                })
            }
        };
        let change = |new: Whose| whose.compare_exchange(word, new.word(), Acquire, Relaxed).is_ok();
        match new {
            Some(new @ Whose::Taken(_)) if change(new) => {
                if wanted.load(Relaxed) & 1 << own != 0 {
                    self.forget(own);
                }
                return true;
            }
            Some(new @ Whose::Given(next, _)) if change(new) => self.forget(next),
            _ => {}
        }
        wanted.fetch_or(1 << own, Relaxed);
        false
    }

    /// Ends the turn of a processor that was let in, by a clock that is read `now`, if it matters.
    /// Constant time: at most one locked instruction.
    pub fn end(&self, own: usize, now: impl FnOnce() -> u64) {
        let Words { whose, wanted } = &self.0.0;
        let next = match next(wanted.load(Relaxed), own) {
            Some(next) => {
                self.forget(next);
                Whose::Given(next, now() & TIME)
            }
            None => Whose::Nobodys,
        };
        whose.store(next.word(), Release);
    }

    /// A processor has, or is given, its turn: should it not come, it has had it.
    fn forget(&self, processor: usize) {
        self.0.0.wanted.fetch_and(!(1 << processor), Relaxed);
    }

    /// Whether a processor was refused and has not had a turn since: for the one that is in.
    #[must_use]
    pub fn is_wanted(&self) -> bool {
        self.0.0.wanted.load(Relaxed) != 0
    }
}

/// Whether `patience` ticks have passed between two times. The later one may seem to be earlier, as
/// clocks differ by a little.
fn is_over(since: u64, now: u64, patience: u64) -> bool {
    (patience..TIME / 2).contains(&(now.wrapping_sub(since) & TIME))
}

/// The first of a set of processors after one of them, around the circle.
fn next(set: u32, own: usize) -> Option<usize> {
    let set = set & !(1 << own);
    let above = set & (u32::MAX - 1) << own;
    let first = if above == 0 { set } else { above };
    (first != 0).then(|| first.trailing_zeros() as usize)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn words_say_what_they_were_made_of() {
        for whose in [Whose::Nobodys, Whose::Taken(0), Whose::Taken(31), Whose::Given(0, 0), Whose::Given(31, TIME)] {
            assert_eq!(Whose::of(whose.word()), whose);
        }
    }

    #[test]
    fn the_next_one_is_found_around_the_circle() {
        let model = |set: u32, own: usize| (1..32).map(|step| (own + step) % 32).find(|at| set & 1 << at != 0);
        for own in 0..32 {
            for set in [0, 1, 0x8000_0000, 0xffff_ffff, 0x0010_0100, 1 << own, 0x7fff_fffe] {
                assert_eq!(next(set, own), model(set, own), "{set:#x} {own}");
            }
        }
    }

    /// Three that always want to: each is let in once among three.
    #[test]
    fn nobody_is_passed_over() {
        let turn = Turn::new();
        assert!(turn.take(0, || 0, 10));
        let order = [1, 2, 0, 1, 2, 0, 1];
        for (now, pair) in (1..).zip(order.windows(2)) {
            let (inside, next) = ((pair[0] + 2) % 3, pair[0]);
            for own in [next, pair[1], inside] {
                assert!(!turn.take(own, || now, 10));
            }
            turn.end(inside, || now);
            for own in 0..3 {
                assert_eq!(turn.take(own, || now, 10), own == next);
            }
        }
    }

    #[test]
    fn one_that_does_not_come_is_passed_over() {
        let turn = Turn::new();
        let refused = |own, now| !turn.take(own, || now, 10);
        assert!(turn.take(0, || TIME - 3, 10) && refused(2, TIME - 3) && refused(1, TIME - 3) && turn.is_wanted());
        turn.end(0, || TIME - 3);
        // It is 1's. The time's highest byte does not count, nor does that it begins again.
        assert!(refused(2, 5) && refused(0, 5));
        // 2 waits longer than 0, which only passes the turn on to it.
        assert!(refused(0, 6) && turn.take(2, || 7, 10));
        turn.end(2, || 8);
        assert!(turn.take(0, || 8, 10) && !turn.is_wanted());
        // Nobody else goes on trying: nobody is known.
        turn.end(0, || 9);
        assert!(turn.take(1, || 9, 10));
    }

    #[test]
    fn a_clock_that_is_behind_passes_nobody_over() {
        let turn = Turn::new();
        assert!(turn.take(0, || 100, 10) && !turn.take(1, || 100, 10));
        turn.end(0, || 100);
        assert!(!turn.take(2, || 99, 10) && !turn.take(2, || 50, 10) && turn.take(1, || 101, 10));
    }

    #[test]
    fn who_passes_a_turn_on_to_itself_is_in() {
        let turn = Turn::new();
        assert!(turn.take(0, || 0, 10) && !turn.take(1, || 0, 10));
        turn.end(0, || 0);
        assert!(!turn.take(3, || 9, 10) && turn.take(3, || 10, 10) && !turn.is_wanted());
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::*;
    use loom::{cell::UnsafeCell, sync::Arc, thread};

    #[derive(Default)]
    struct Shared {
        turn: Turn,
        /// The checker reports two that are in at once, or one that does not see what the one
        /// before it did.
        inside: UnsafeCell<()>,
    }

    /// Goes in once, if one of its attempts succeeds, for one step. Returns whether it did.
    fn step(shared: &Shared, own: usize, attempts: u64, patience: u64) -> bool {
        for attempt in 0..attempts {
            if shared.turn.take(own, || attempt, patience) {
                shared.inside.with_mut(|_| ());
                shared.turn.end(own, || attempt);
                return true;
            }
            thread::yield_now();
        }
        false
    }

    fn explore(patience: u64) {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(2);
        model.check(move || {
            let shared = Arc::new(Shared::default());
            assert!(shared.turn.take(0, || 0, patience));
            let others = [(1, 2), (2, 1)].map(|(own, attempts)| {
                let shared = shared.clone();
                thread::spawn(move || step(&shared, own, attempts, patience))
            });
            shared.inside.with_mut(|_| ());
            shared.turn.end(0, || 0);
            step(&shared, 0, 1, patience);
            for other in others {
                other.join().unwrap();
            }
            // Whoever was refused and gave up keeps nobody out for longer than that.
            assert!((1..=3).any(|pass| shared.turn.take(3, || pass * (patience + 2), patience)));
            shared.inside.with_mut(|_| ());
        });
    }

    /// One at a time, where turns are waited for.
    #[test]
    fn one_at_a_time() {
        explore(1000);
    }

    /// The same where they pass.
    #[test]
    fn one_at_a_time_where_turns_pass() {
        explore(1);
    }
}
