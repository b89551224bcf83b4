//! Interrupts that the guest of one processor sends the guest of another.
//!
//! A vector is a bit, so a vector that is sent twice before the receiver looks arrives once, as in
//! a local APIC. The receiver is interrupted by the first vector that comes since it last looked.

use crate::Line;
#[cfg(not(loom))]
use core::sync::atomic::{
    AtomicBool, AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};
#[cfg(loom)]
use loom::sync::atomic::{
    AtomicBool, AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};

/// What guests of other processors have sent the guest of one.
#[derive(Debug, Default)]
pub struct Messages(Line<Words>);

#[derive(Debug, Default)]
struct Words {
    vectors: [AtomicU64; 4],
    /// The receiver has been, or is being, interrupted, and has not looked since.
    told: AtomicBool,
    /// There is a guest.
    open: AtomicBool,
}

impl Messages {
    /// Nothing, and no guest.
    #[cfg(not(loom))]
    #[must_use]
    pub const fn new() -> Self {
        let vectors = [const { AtomicU64::new(0) }; 4];
        Messages(Line(Words { vectors, told: AtomicBool::new(false), open: AtomicBool::new(false) }))
    }

    /// The receiver's guest comes or goes.
    pub fn open(&self, open: bool) {
        self.0.0.open.store(open, Release);
    }

    /// Whether there is a guest.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.0.0.open.load(Acquire)
    }

    /// Puts a vector in. Returns whether the receiver has to be interrupted. Constant time: two
    /// locked instructions.
    #[must_use = "the receiver learns of the vector by an interrupt only"]
    pub fn put(&self, vector: u8) -> bool {
        let Words { vectors, told, .. } = &self.0.0;
        vectors[usize::from(vector >> 6)].fetch_or(1 << (vector & 63), Relaxed);
        // Releases the bit to whoever takes this word back.
        !told.swap(true, AcqRel)
    }

    /// Takes all vectors: for the receiver, once for each interrupt. Constant time: at most five
    /// locked instructions.
    #[must_use]
    pub fn take(&self) -> [u64; 4] {
        let Words { vectors, told, .. } = &self.0.0;
        // First: a sender that comes later interrupts again, and all that came before are seen.
        told.swap(false, AcqRel);
        [0, 1, 2, 3].map(|word| match vectors[word].load(Relaxed) {
            0 => 0,
            _ => vectors[word].swap(0, Relaxed),
        })
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::*;
    use loom::{sync::Arc, thread};

    /// Two senders and a receiver that looks once for each interrupt: it finds each vector, and
    /// none is left without an interrupt.
    #[test]
    fn no_vector_is_lost() {
        loom::model(|| {
            let shared = Arc::new((Messages::default(), AtomicU64::new(0)));
            let senders = [0xfb_u8, 0x31].map(|vector| {
                let shared = shared.clone();
                thread::spawn(move || {
                    if shared.0.put(vector) {
                        shared.1.fetch_add(1, AcqRel);
                    }
                })
            });
            let mut found = [0; 4];
            let mut looked = 0;
            let look = |found: &mut [u64; 4], looked: &mut u64| {
                while *looked < shared.1.load(Acquire) {
                    *looked += 1;
                    shared.0.take().iter().zip(&mut *found).for_each(|(new, all)| *all |= new);
                }
            };
            look(&mut found, &mut looked);
            senders.into_iter().for_each(|sender| sender.join().unwrap());
            look(&mut found, &mut looked);
            assert_eq!(found, [1 << 0x31, 0, 0, 1 << (0xfb - 0xc0)]);
        });
    }
}
