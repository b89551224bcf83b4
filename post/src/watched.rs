//! Two words that one processor at a time changes while others look at them.
//!
//! A look is good if both words are the same when they are loaded once more. The head says whether
//! there is anything, and has a count of how often the words were filled, so that it does not come
//! back while somebody looks.

#[cfg(not(loom))]
use core::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed, Release, SeqCst},
};
#[cfg(loom)]
use loom::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed, Release, SeqCst},
};

/// The words: a head, whose bits of `COUNT` are the count, and another one. Zeros are empty.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Watched<const COUNT: u64> {
    head: AtomicU64,
    other: AtomicU64,
}

impl<const COUNT: u64> Watched<COUNT> {
    /// Head and other word. Where they change meanwhile, they belong together if they are
    /// [still the same](Self::still_has) afterwards.
    #[inline(always)]
    #[must_use]
    pub fn look(&self) -> (u64, u64) {
        (self.head.load(Acquire), self.other.load(Acquire))
    }

    /// Whether the words are still what a look found.
    #[inline(always)]
    #[must_use]
    pub fn still_has(&self, (head, other): (u64, u64)) -> bool {
        self.head.load(Acquire) == head && self.other.load(Relaxed) == other
    }

    /// The head, for whoever needs nothing else, or keeps others from changes.
    #[inline(always)]
    #[must_use]
    pub fn head(&self) -> u64 {
        self.head.load(Acquire)
    }

    /// The other word, for whoever keeps others from changes.
    #[inline(always)]
    #[must_use]
    pub fn other(&self) -> u64 {
        self.other.load(Relaxed)
    }

    /// Writes the other word, when it is empty. Whoever sees it sees that the words were empty.
    #[inline(always)]
    pub fn prepare(&self, other: u64) {
        self.other.store(other, Release);
    }

    /// Fills it with a head, without its count, and with what was [prepared](Self::prepare). Who
    /// sees the head sees what was written before.
    #[inline(always)]
    pub fn fill(&self, head: u64) {
        let count = self.head.load(Relaxed).wrapping_add(1 << COUNT.trailing_zeros()) & COUNT;
        self.head.store(head | count, Release);
    }

    /// Changes some bits of the head, which do not tell a look that it is another one.
    #[inline(always)]
    pub fn change(&self, change: impl FnOnce(u64) -> u64) {
        self.head.store(change(self.head.load(Relaxed)), Release);
    }

    /// Leaves these bits of the head only, in the order of all fences: who finds another head
    /// afterwards has looked before.
    #[inline(always)]
    pub fn keep(&self, bits: u64) {
        self.head.store(self.head.load(Relaxed) & bits, SeqCst);
    }

    /// Empties it. The order is that of [`Self::keep`].
    #[inline(always)]
    pub fn empty(&self) {
        self.keep(COUNT);
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::*;
    use loom::{sync::Arc, thread};

    const COUNT: u64 = 3 << 4;

    fn fill(words: &Watched<COUNT>, number: u64) {
        words.prepare(number);
        words.fill(number);
    }

    /// Whoever looks finds nothing, or words that belong together, and were there at one time.
    #[test]
    fn whole_or_nothing() {
        loom::model(|| {
            let words = Arc::new(Watched::<COUNT>::default());
            fill(&words, 1);
            let reader = {
                let words = words.clone();
                thread::spawn(move || {
                    let look = words.look();
                    let number = look.0 & 15;
                    if words.still_has(look) && number != 0 {
                        assert_eq!(look.1, number);
                    }
                })
            };
            words.empty();
            fill(&words, 2);
            words.empty();
            fill(&words, 1);
            reader.join().unwrap();
        });
    }
}
