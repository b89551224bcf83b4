//! A hostile Linux that writes anything, at any time, into the memory that it can write.

mod common;

use common::{Linux, Rig, word};
use pillion_channel::{
    Fifo,
    ring::{Counters, Piece, Producer, TRIES, take},
};
use proptest::{collection::vec, prelude::*};
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::*};
use std::time::{Duration, Instant};

const CONTROL: usize = size_of::<pillion_abi::channel::FifoControl>();

/// Fills the part of the task's buffer that must not be written.
const BEYOND: u8 = 0x5a;

/// Makes one call of each kind; results must be within bounds.
fn use_all(rig: &Rig, fifo: &mut Fifo, len: usize) {
    let (a, b) = fifo.lengths();
    assert!(a <= rig.size && b <= rig.size);
    if let Ok(moved) = fifo.put(&vec![7; len]) {
        assert!(moved.bytes == len && len <= rig.size);
    }
    let mut buffer = vec![BEYOND; len + 32];
    let moved = fifo.get(&mut buffer[..len]);
    assert!(moved.bytes <= len && moved.bytes <= 2 * rig.size);
    assert!(buffer[len..].iter().all(|byte| *byte == BEYOND));
    let _ = fifo.room();
    let _ = fifo.opens();
    if let Some(request) = fifo.request() {
        fifo.answer(&request, -5);
    }
    rig.check_guards();
}

/// After a repair the FIFO works again if Linux keeps to the rules from then on.
fn works_again(rig: &Rig, fifo: &mut Fifo) {
    fifo.flush();
    assert!(fifo.is_empty());
    fifo.put(b"ab").unwrap();
    assert_eq!(Linux::default().read(rig, 2), b"ab");
}

/// Writes every value to every byte of the control words of a FIFO that is not empty.
#[test]
#[cfg_attr(miri, ignore = "an hour")]
fn every_byte_of_the_control_words() {
    let rig = Rig::new(37);
    for offset in 0..CONTROL {
        for value in 0..=255 {
            for len in [0, 1, 37, 38] {
                let mut fifo = rig.fifo();
                fifo.put(&[1; 20]).unwrap();
                Linux::default().write(&rig, &[2; 30]);
                rig.scribble(offset, value);
                use_all(&rig, &mut fifo, len);
                works_again(&rig, &mut fifo);
            }
        }
    }
}

/// An impossible count is detected and counted.
#[test]
fn damage_is_counted() {
    let rig = Rig::new(16);
    for offset in [word::TO_LINUX_READ, word::TO_TASK_READ, word::TO_TASK_WRITTEN] {
        for value in [17, u64::MAX / 2, 1 << 32] {
            let mut fifo = rig.fifo();
            rig.word(offset).store(value, Relaxed);
            fifo.lengths();
            assert_eq!(fifo.damaged(), 1, "{value} at {offset}");
            works_again(&rig, &mut fifo);
            assert_eq!(fifo.damaged(), 1);
        }
    }
}

/// Linux cannot change the task's own count.
#[test]
fn what_is_written_to_linux_is_counted_privately() {
    let rig = Rig::new(16);
    let mut fifo = rig.fifo();
    fifo.put(b"abc").unwrap();
    rig.word(word::TO_LINUX_WRITTEN).store(1_000, Relaxed);
    assert_eq!(fifo.lengths(), (3, 0));
    fifo.put(b"de").unwrap();
    assert_eq!((Linux::default().read(&rig, 9).as_slice(), fifo.damaged()), (&b"abcde"[..], 0));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 3 } else { 3_000 }, failure_persistence: None, ..ProptestConfig::default() })]

    /// Writes any words between calls.
    #[test]
    fn any_words_between_calls(
        size in 2usize..100,
        rounds in vec((vec((0..CONTROL / 8, any_word()), 0..4), 0usize..120), 1..20),
    ) {
        let rig = Rig::new(size);
        let mut fifo = rig.fifo();
        for (words, len) in rounds {
            for (index, value) in words {
                rig.word(index * 8).store(value, Relaxed);
            }
            use_all(&rig, &mut fifo, len);
        }
        works_again(&rig, &mut fifo);
    }

    /// Changes the counts to any values while a call moves a piece.
    #[test]
    fn any_counts_within_calls(size in 1u64..50, start in any_word(), words in vec((any_word(), any_word()), 1..60)) {
        let (written, read) = (AtomicU64::new(0), AtomicU64::new(0));
        let counters = Counters { written: &written, read: &read };
        let size = NonZeroU64::new(size).unwrap();
        let mut producer = Producer::new(start);
        let mut feed = words.iter().cycle();
        let mut moves = 0;
        for len in 0..60usize {
            let mut hostile = |p: Piece| {
                moves += 1;
                assert!((p.at + p.len) as u64 <= size.get() && p.data + p.len <= len);
                let (w, r) = feed.next().unwrap();
                written.store(*w, Relaxed);
                read.store(*r, Relaxed);
            };
            let before = producer.written();
            let put = producer.put(counters, size, len, &mut hostile);
            prop_assert_eq!(producer.written(), before.wrapping_add(if put.is_ok() { len as u64 } else { 0 }));
            prop_assert!(put.is_err() || len as u64 <= size.get());
            let most = len.min(size.get() as usize);
            prop_assert!(take(counters, || counters.theirs(), size, len, &mut hostile).bytes <= most);
            prop_assert!(take(counters, || producer.written(), size, len, &mut hostile).bytes <= most);
        }
        prop_assert!(moves <= 60 * (2 + 2 * 2 * 4), "bounded");
    }
}

/// A taker whose bytes the other side took retries with those that are left, and gives up after
/// [`TRIES`] attempts.
#[test]
fn others_take_at_the_same_time() {
    let (written, read) = (AtomicU64::new(8), AtomicU64::new(0));
    let (counters, size) = (Counters { written: &written, read: &read }, NonZeroU64::new(8).unwrap());
    let mut turns = 0;
    let mut rival = |until: u32| {
        turns = 0;
        let taken = take(
            counters,
            || 8,
            size,
            1,
            |piece| {
                assert_eq!((piece.at as u64, piece.len), (read.load(Relaxed), 1));
                if turns < until {
                    read.fetch_add(1, Relaxed);
                }
                turns += 1;
            },
        );
        (taken.bytes, turns)
    };
    assert_eq!(rival(1), (1, 2));
    assert_eq!(read.load(Relaxed), 2);
    assert_eq!(rival(TRIES), (0, TRIES));
    assert_eq!(read.load(Relaxed), 2 + u64::from(TRIES));
}

/// Words near plausible counts, or any word.
fn any_word() -> impl Strategy<Value = u64> {
    prop_oneof![0u64..200, any::<u64>(), (0u64..200).prop_map(u64::wrapping_neg)]
}

/// Another processor writes random words the whole time.
#[test]
#[cfg_attr(miri, ignore = "concurrent accesses of different sizes to one location are defined by the processor only")]
fn any_words_at_the_same_time() {
    let rig = Rig::new(61);
    let mut fifo = rig.fifo();
    let stop = AtomicBool::new(false);
    // The memory is never freed.
    let words: Vec<&AtomicU64> = (0..CONTROL / 8).map(|i| rig.word(i * 8)).collect();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut seed = 0x9e37_79b9_7f4a_7c15u64;
            while !stop.load(Relaxed) {
                seed ^= seed << 13;
                seed ^= seed >> 7;
                seed ^= seed << 17;
                let value = if seed & 1 == 0 { seed >> 32 & 0xff } else { seed };
                words[(seed >> 8) as usize % words.len()].store(value, Relaxed);
            }
        });
        let end = Instant::now() + Duration::from_millis(500);
        let mut len = 0;
        while Instant::now() < end {
            use_all(&rig, &mut fifo, len % 80);
            len += 1;
        }
        stop.store(true, Relaxed);
    });
    assert!(fifo.damaged() > 0, "the other processor caused no damage");
    works_again(&rig, &mut fifo);
}
