//! A reader beside Linux, which states its clocks on another processor: what corresponds to the
//! `smp_store_release` and `smp_wmb` of `linux/module/dual_clock.c`.

use super::*;
use crate::sync::Ordering::Release;
use loom::{sync::Arc, thread};

/// Two words of each copy. A statement with number `n` says `n` in both.
struct Clocks {
    number: AtomicU64,
    copies: [[AtomicU64; 2]; 2],
}

impl Clocks {
    fn new() -> Clocks {
        let copies = core::array::from_fn(|_| core::array::from_fn(|_| AtomicU64::new(0)));
        Clocks { number: AtomicU64::new(0), copies }
    }

    /// Linux advances its clocks: `advanced()`.
    fn state(&self, what: u64) {
        for (copy, words) in self.copies.iter().enumerate() {
            let next = (self.number.load(Relaxed) & !1) + 1 + copy as u64;
            self.number.store(next, Release);
            fence(Release);
            words.iter().for_each(|word| word.store(what, Relaxed));
            fence(Release);
        }
    }

    fn read(&self) -> Option<[u64; 2]> {
        stated(&self.number, |copy| Some([0, 1].map(|word: usize| self.copies[copy][word].load(Relaxed)))).1
    }
}

#[test]
fn what_is_read_is_one_statement() {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder.check(|| {
        let clocks = Arc::new(Clocks::new());
        let linux = {
            let clocks = clocks.clone();
            thread::spawn(move || (1..=2).for_each(|what| clocks.state(what)))
        };
        let [first, second] = [clocks.read(), clocks.read()];
        for [one, other] in [first, second].into_iter().flatten() {
            assert_eq!(one, other, "half of each");
        }
        if let (Some(first), Some(second)) = (first, second) {
            assert!(first[0] <= second[0], "the time goes backwards");
        }
        linux.join().unwrap();
        assert_eq!(clocks.read(), Some([2, 2]));
    });
}
