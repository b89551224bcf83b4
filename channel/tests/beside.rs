//! The side of a ring on which Linux and threads in primary mode are: the counts can be anything.

use core::num::NonZeroU64;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use pillion_channel::ring::{Counters, Piece, filled, put_beside, room, take_beside};
use proptest::{collection::vec, prelude::*};
use std::collections::VecDeque;

/// A ring, and its bytes.
struct Ring {
    written: AtomicU64,
    read: AtomicU64,
    bytes: Vec<u8>,
}

impl Ring {
    fn new(size: usize, count: u64) -> Ring {
        Ring { written: AtomicU64::new(count), read: AtomicU64::new(count), bytes: vec![0; size] }
    }

    fn counters(&self) -> Counters<'_> {
        Counters { written: &self.written, read: &self.read }
    }

    fn size(&self) -> NonZeroU64 {
        NonZeroU64::new(self.bytes.len() as u64).unwrap()
    }

    fn take(&self, most: usize) -> Option<Vec<u8>> {
        let mut taken = vec![0; most];
        let give = |p: Piece| {
            taken[p.data..][..p.len].copy_from_slice(&self.bytes[p.at..][..p.len]);
            Some(())
        };
        let count = take_beside(self.counters(), self.size(), most, give)?;
        taken.truncate(count);
        Some(taken)
    }

    fn put(&mut self, from: &[u8]) -> bool {
        let (size, counters) = (self.size(), Counters { written: &self.written, read: &self.read });
        let bytes = &mut self.bytes;
        let fetch = |p: Piece| {
            bytes[p.at..][..p.len].copy_from_slice(&from[p.data..][..p.len]);
            Some(())
        };
        put_beside(counters, size, from.len(), fetch).unwrap()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Bytes come out as they went in, and a message goes in whole or not at all.
    #[test]
    fn as_a_queue(size in 1usize..60, first in 0u64..1 << 40,
                  steps in vec((any::<bool>(), 0usize..80), 1..60)) {
        let (mut ring, mut model, mut next) = (Ring::new(size, first), VecDeque::new(), 0u8);
        for (puts, len) in steps {
            if puts {
                let bytes: Vec<u8> = (0..len).map(|i| next.wrapping_add(i as u8)).collect();
                let fits = len <= size - model.len();
                prop_assert_eq!(room(ring.counters(), ring.size()), (size - model.len()) as u64);
                prop_assert_eq!(ring.put(&bytes), fits);
                if fits {
                    next = next.wrapping_add(len as u8);
                    model.extend(bytes);
                }
            } else {
                let expected: Vec<u8> = model.drain(..len.min(model.len())).collect();
                prop_assert_eq!(ring.take(len), Some(expected));
            }
        }
    }

    /// Whatever the counts are, nothing outside the ring is accessed, and they are not repaired.
    #[test]
    fn hostile_counts(size in 1usize..60, written: u64, read: u64, len in 0usize..100) {
        let mut ring = Ring::new(size, 0);
        ring.written.store(written, Relaxed);
        ring.read.store(read, Relaxed);
        let used = written.wrapping_sub(read);
        let there = if used <= size as u64 { used as usize } else { 0 };
        // Who is told that there is something finds it.
        prop_assert_eq!(filled(ring.counters(), ring.size()), there as u64);
        prop_assert_eq!(ring.take(len).unwrap().len(), there.min(len));
        prop_assert_eq!(ring.written.load(Relaxed), written);
        ring.put(&vec![0; len]);
    }
}

#[test]
fn what_cannot_be_moved_stays() {
    let mut ring = Ring::new(4, 3);
    assert!(ring.put(&[1, 2, 3]));
    let mut pieces = 0;
    let one_piece = |_: Piece| {
        pieces += 1;
        (pieces == 1).then_some(())
    };
    assert_eq!(take_beside(ring.counters(), ring.size(), 3, one_piece), None, "it wraps: two pieces");
    assert_eq!(put_beside(ring.counters(), ring.size(), 1, |_| None), None);
    assert_eq!(ring.take(4), Some(vec![1, 2, 3]));
}
