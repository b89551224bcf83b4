//! A FIFO in memory, with control words that Linux writes.

use crate::input::Input;
use pillion_channel::ring::{Counters, Piece, Producer, take};
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Any counts before, between and within calls: each piece lies in the ring and in the buffer, and
/// their number is bounded.
pub fn fifo(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let (written, read) = (AtomicU64::new(0), AtomicU64::new(0));
    let counters = Counters { written: &written, read: &read };
    let Some(size) = NonZeroU64::new(u64::from(input.u8())) else { return };
    let mut producer = Producer::new(input.u64());
    let (mut moves, mut calls) = (0u32, 0u32);
    while !input.is_empty() {
        let (kind, len) = (input.u8(), usize::from(input.u8()));
        calls += 1;
        let mut hostile = |piece: Piece| {
            moves += 1;
            assert!((piece.at + piece.len) as u64 <= size.get() && piece.data + piece.len <= len, "{len} of {size}");
            // Only some of a piece's bytes change: otherwise no input would be long enough.
            if kind & 4 != 0 {
                written.store(input.u64(), Relaxed);
            }
            if kind & 8 != 0 {
                read.store(input.u64(), Relaxed);
            }
        };
        if kind & 1 == 0 {
            let before = producer.written();
            let put = producer.put(counters, size, len, &mut hostile);
            assert_eq!(producer.written(), before.wrapping_add(if put.is_ok() { len as u64 } else { 0 }));
        } else {
            let seen = || if kind & 2 == 0 { counters.theirs() } else { producer.written() };
            assert!(take(counters, seen, size, len, &mut hostile).bytes <= len.min(size.get() as usize));
        }
    }
    assert!(moves <= 16 * calls, "{moves} pieces in {calls} calls");
}
