// SPDX-License-Identifier: GPL-2.0-only
//! Linux's side and the real-time side on the same memory.

use pillion_abi::channel::FifoControl;
use pillion_channel::fifo::Fifo;
use pillion_ring_test::{OUTSIDE, Ring, fill, put, take};
use std::num::NonZeroU32;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

const BYTES: usize = 3 << 20;

/// A FIFO whose memory lives as long as the test.
struct Both {
    fifo: Fifo,
    to_linux: Ring,
    to_task: Ring,
}

/// # Safety
/// The word is never freed, is aligned, and all accesses to it are atomic.
unsafe fn counter(word: *mut u64) -> &'static AtomicU64 {
    // SAFETY: the caller's promise.
    unsafe { AtomicU64::from_ptr(word) }
}

fn both(size: u32) -> Both {
    let control = Box::leak(Box::new(FifoControl::default())) as *mut FifoControl;
    let data = || vec![0_u8; size as usize].leak().as_mut_ptr();
    let (ours, theirs) = (data(), data());
    let pointer = |data| NonNull::new(data).unwrap();
    let size = NonZeroU32::new(size).unwrap();
    // SAFETY: all of it is leaked memory that nothing else refers to.
    let fifo = unsafe { Fifo::create(NonNull::new(control).unwrap(), pointer(ours), pointer(theirs), size) };
    // SAFETY: fields of the leaked control words, which all access atomically.
    let words = unsafe {
        [
            counter(&raw mut (*control).to_linux_written),
            counter(&raw mut (*control).to_linux_read),
            counter(&raw mut (*control).to_task_written),
            counter(&raw mut (*control).to_task_read),
        ]
    };
    let ring = |data, written, read| Ring { data, size: u64::from(size.get()), written, read };
    Both { fifo, to_linux: ring(ours, words[0], words[1]), to_task: ring(theirs, words[2], words[3]) }
}

/// Numbers without a visible pattern, the same in each run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }
}

/// Byte `n` of the data sent.
fn byte(n: usize) -> u8 {
    (n ^ n >> 8 ^ n >> 16) as u8
}

#[test]
fn what_a_task_puts_linux_reads() {
    for size in [1, 7, 256, 1000, 4096] {
        let Both { mut fifo, to_linux, .. } = both(size);
        let total = BYTES / if size < 100 { 64 } else { 1 };
        let writer = thread::spawn(move || {
            let (mut sent, mut random) = (0, Random(1));
            while sent < total {
                let length = (1 + random.below(size as usize)).min(total - sent);
                let message: Vec<u8> = (sent..sent + length).map(byte).collect();
                while fifo.put(&message).is_err() {
                    thread::yield_now();
                }
                sent += length;
            }
            assert_eq!(fifo.damaged(), 0);
        });
        let (mut got, mut random, mut buffer) = (0, Random(2), [0; 5000]);
        while got < total {
            let most = 1 + random.below(buffer.len());
            // SAFETY: the ring's memory is leaked.
            let count = unsafe { take(&to_linux, &mut buffer[..most]) };
            assert!(count >= 0);
            for (i, &there) in buffer[..count as usize].iter().enumerate() {
                assert_eq!(there, byte(got + i), "byte {} through {size}", got + i);
            }
            got += count as usize;
            if count == 0 {
                thread::yield_now();
            }
        }
        writer.join().unwrap();
    }
}

#[test]
fn what_linux_writes_a_task_gets() {
    for size in [1, 7, 256, 1000, 4096] {
        let Both { mut fifo, to_task, .. } = both(size);
        let total = BYTES / if size < 100 { 64 } else { 1 };
        let writer = thread::spawn(move || {
            // The thread captures the whole of it, not its pointers one by one.
            let to_task = to_task;
            let (mut sent, mut random) = (0, Random(3));
            while sent < total {
                let length = (1 + random.below(5000)).min(total - sent);
                let message: Vec<u8> = (sent..sent + length).map(byte).collect();
                // SAFETY: the ring's memory is leaked.
                let count = unsafe { put(&to_task, &message) };
                assert!(count >= 0);
                sent += count as usize;
                if count == 0 {
                    thread::yield_now();
                }
            }
        });
        let (mut got, mut random, mut buffer) = (0, Random(4), [0; 5000]);
        while got < total {
            let most = 1 + random.below(buffer.len());
            let count = fifo.get(&mut buffer[..most]).bytes;
            for (i, &there) in buffer[..count].iter().enumerate() {
                assert_eq!(there, byte(got + i), "byte {} through {size}", got + i);
            }
            got += count;
            if count == 0 {
                thread::yield_now();
            }
        }
        writer.join().unwrap();
        assert_eq!(fifo.damaged(), 0);
    }
}

/// The task takes from its own ring at the same time as Linux: each byte goes to one of them.
#[test]
fn both_take_from_one_ring() {
    let Both { mut fifo, to_linux, .. } = both(512);
    static ENDED: AtomicBool = AtomicBool::new(false);
    let task = thread::spawn(move || {
        let (mut kept, mut sum, mut random, mut buffer) = (0, 0_u64, Random(5), [0; 64]);
        let mut sent = 0;
        while sent < BYTES / 8 {
            let message: Vec<u8> = (sent..sent + 32).map(byte).collect();
            sent += if fifo.put(&message).is_ok() { 32 } else { 0 };
            if random.below(3) == 0 {
                let count = fifo.get(&mut buffer).bytes;
                kept += count;
                sum += buffer[..count].iter().map(|&b| u64::from(b)).sum::<u64>();
            }
        }
        ENDED.store(true, Ordering::SeqCst);
        assert_eq!(fifo.damaged(), 0);
        (sent, kept, sum)
    });
    let (mut got, mut sum, mut buffer) = (0, 0_u64, [0; 64]);
    loop {
        let ended = ENDED.load(Ordering::SeqCst);
        // SAFETY: the ring's memory is leaked.
        let count = unsafe { take(&to_linux, &mut buffer) } as usize;
        got += count;
        sum += buffer[..count].iter().map(|&b| u64::from(b)).sum::<u64>();
        if ended && count == 0 {
            break;
        }
    }
    let (sent, kept, kept_sum) = task.join().unwrap();
    assert_eq!(got + kept, sent);
    assert_eq!(sum + kept_sum, (0..sent).map(|n| u64::from(byte(n))).sum());
}

/// Whatever the counters contain, Linux's side stays within the ring and terminates.
#[test]
fn no_counter_leads_outside() {
    for size in [1, 13, 4096] {
        let Both { to_linux, .. } = both(size);
        // SAFETY: leaked counters.
        let (written, read) = unsafe { (&*to_linux.written, &*to_linux.read) };
        let near = [0, 1, u64::from(size) - 1, u64::from(size), u64::from(size) + 1, u64::MAX, u64::MAX - 1, 1 << 63];
        let mut random = Random(6);
        let mut buffer = vec![0; 9000];
        for i in 0..200_000 {
            let mut number = || near[i % near.len()].wrapping_add(if i % 3 == 0 { random.next() } else { 0 });
            let (w, r) = (number(), if i % 2 == 0 { number() } else { near[i / 8 % near.len()] });
            written.store(w, Ordering::Relaxed);
            read.store(r, Ordering::Relaxed);
            let possible = w.wrapping_sub(r) <= u64::from(size);
            // SAFETY: the ring's memory is leaked.
            let (used, room) = unsafe { fill(&to_linux) };
            assert_eq!((used, room), if possible { (w.wrapping_sub(r), u64::from(size) - used) } else { (0, 0) });
            // SAFETY: as above.
            unsafe {
                assert!((0..=used as i64).contains(&take(&to_linux, &mut buffer)), "{w} {r}");
                assert_ne!(put(&to_linux, &buffer), OUTSIDE, "{w} {r}");
            }
        }
    }
}

/// The same while another thread keeps writing to the counters.
#[test]
fn counters_that_change_at_any_time_lead_nowhere() {
    let Both { to_linux, .. } = both(300);
    static ENDED: AtomicBool = AtomicBool::new(false);
    // SAFETY: leaked counters.
    let (written, read) = unsafe { (&*to_linux.written, &*to_linux.read) };
    let vandal = thread::spawn(move || {
        let mut random = Random(7);
        while !ENDED.load(Ordering::Relaxed) {
            let word = if random.below(2) == 0 { written } else { read };
            let value = random.next() >> random.below(64);
            word.store(value, Ordering::Relaxed);
        }
    });
    let mut buffer = vec![0; 1000];
    let (mut moved, mut turns) = (0, 0);
    // The vandal may stay off the CPU for all of these turns, with counters that allow nothing.
    while turns < 300_000 || (moved == 0 && turns < 30_000_000) {
        // SAFETY: the ring's memory is leaked.
        let (taken, given) = unsafe { (take(&to_linux, &mut buffer), put(&to_linux, &buffer)) };
        assert!((0..=300).contains(&taken) && (0..=300).contains(&given));
        moved += taken + given;
        turns += 1;
    }
    ENDED.store(true, Ordering::Relaxed);
    vandal.join().unwrap();
    assert!(moved > 0);
}
