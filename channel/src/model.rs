//! Rings and wake-ups in all interleavings of the two sides. Linux's side uses the equivalents of
//! the C module's `smp_load_acquire`, `smp_store_release`, `cmpxchg`, `smp_mb` and `xchg`.

use crate::event;
use crate::ring::{Counters, Piece, Producer, take, take_beside};
use crate::sync::{AtomicU32, AtomicU64, Ordering, fence};
use core::num::NonZeroU64;
use loom::sync::atomic::AtomicU8;
use loom::sync::{Arc, Notify};
use loom::thread::{self, JoinHandle};

const SIZE: usize = 2;
const RING_SIZE: NonZeroU64 = NonZeroU64::new(SIZE as u64).unwrap();

/// A ring, and how its two sides wake each other.
struct Shared {
    written: AtomicU64,
    read: AtomicU64,
    bytes: [AtomicU8; SIZE],
    want: AtomicU32,
    events: AtomicU64,
    doorbell: Notify,
}

impl Shared {
    fn new() -> Arc<Shared> {
        Arc::new(Shared {
            written: AtomicU64::new(0),
            read: AtomicU64::new(0),
            bytes: core::array::from_fn(|_| AtomicU8::new(0)),
            want: AtomicU32::new(0),
            events: AtomicU64::new(0),
            doorbell: Notify::new(),
        })
    }

    fn counters(&self) -> Counters<'_> {
        Counters { written: &self.written, read: &self.read }
    }

    fn put(&self, producer: &mut Producer, byte: u8) -> bool {
        let fill = |p: Piece| (0..p.len).for_each(|i| self.bytes[p.at + i].store(byte, Ordering::Relaxed));
        producer.put(self.counters(), RING_SIZE, 1, fill).is_ok()
    }

    /// Takes one byte, if there is one.
    fn get(&self, written: impl Fn() -> u64) -> Option<u8> {
        let mut byte = 0;
        let look = |p: Piece| (0..p.len).for_each(|i| byte = self.bytes[p.at + i].load(Ordering::Relaxed));
        let count = take(self.counters(), written, RING_SIZE, 1, look);
        assert!(!count.repaired, "repaired although both sides keep to the rules");
        (count.bytes == 1).then_some(byte)
    }

    /// Linux takes one byte, if there is one.
    fn linux_read(&self) -> Option<u8> {
        loop {
            let read = self.read.load(Ordering::Acquire);
            if self.written.load(Ordering::Acquire) == read {
                return None;
            }
            let byte = self.bytes[read as usize % SIZE].load(Ordering::Relaxed);
            if self.read.compare_exchange(read, read + 1, Ordering::SeqCst, Ordering::Relaxed).is_ok() {
                return Some(byte);
            }
        }
    }

    /// A thread in primary mode takes one byte, if there is one.
    fn take_beside(&self) -> Option<u8> {
        let mut byte = 0;
        let look = |p: Piece| {
            (0..p.len).for_each(|i| byte = self.bytes[p.at + i].load(Ordering::Relaxed));
            Some(())
        };
        (take_beside(self.counters(), RING_SIZE, 1, look) == Some(1)).then_some(byte)
    }

    /// Linux puts one byte, if there is room; `written` is its own count.
    fn linux_write(&self, written: &mut u64, byte: u8) -> bool {
        if *written - self.read.load(Ordering::Acquire) == SIZE as u64 {
            return false;
        }
        self.bytes[*written as usize % SIZE].store(byte, Ordering::Relaxed);
        *written += 1;
        self.written.store(*written, Ordering::Release);
        true
    }

    /// The task's wake-up of Linux after moving bytes.
    fn wake(&self) {
        if event::wanted(&self.want) != 0 && event::raise(&self.events, 1) {
            self.doorbell.notify();
        }
    }

    /// Linux sleeps until `ready` returns a value.
    fn linux_wait<T>(&self, mut ready: impl FnMut() -> Option<T>) -> T {
        loop {
            self.want.store(1, Ordering::Relaxed);
            fence(Ordering::SeqCst);
            if let Some(value) = ready() {
                self.want.store(0, Ordering::Relaxed);
                return value;
            }
            self.doorbell.wait();
            // The doorbell's handler.
            self.events.swap(0, Ordering::SeqCst);
        }
    }
}

/// Reads while the writer puts 1, 2 and so on, then the rest once it has ended. The writer returns
/// how many bytes it put.
fn arrive_in_order(read: impl Fn() -> Option<u8>, writer: thread::JoinHandle<u8>) {
    let mut expected = 1;
    for _ in 0..2 {
        if let Some(byte) = read() {
            assert_eq!(byte, expected);
            expected += 1;
        }
    }
    let put = writer.join().unwrap();
    while let Some(byte) = read() {
        assert_eq!(byte, expected);
        expected += 1;
    }
    assert_eq!(expected, put + 1, "bytes were lost");
}

/// Bytes to Linux arrive in order, although the ring wraps.
#[test]
fn ring_to_linux() {
    loom::model(|| {
        let shared = Shared::new();
        let task = {
            let shared = shared.clone();
            thread::spawn(move || {
                let mut producer = Producer::default();
                let mut next = 1;
                for _ in 0..3 {
                    next += u8::from(shared.put(&mut producer, next));
                }
                next - 1
            })
        };
        arrive_in_order(|| shared.linux_read(), task);
    });
}

/// Bytes to the task arrive in order.
#[test]
fn ring_to_task() {
    loom::model(|| {
        let shared = Shared::new();
        let linux = {
            let shared = shared.clone();
            thread::spawn(move || {
                let (mut written, mut next) = (0, 1);
                for _ in 0..3 {
                    next += u8::from(shared.linux_write(&mut written, next));
                }
                next - 1
            })
        };
        arrive_in_order(|| shared.get(|| shared.counters().theirs()), linux);
    });
}

/// A ring with the bytes 1 and 2, and a thread of Linux that reads one of them.
fn two_that_linux_reads() -> (Arc<Shared>, Producer, JoinHandle<Option<u8>>) {
    let shared = Shared::new();
    let mut producer = Producer::default();
    assert!(shared.put(&mut producer, 1) && shared.put(&mut producer, 2));
    let linux = {
        let shared = shared.clone();
        thread::spawn(move || shared.linux_read())
    };
    (shared, producer, linux)
}

/// The task takes back bytes while Linux reads them: each byte goes to exactly one side.
#[test]
fn both_take() {
    loom::model(|| {
        let (shared, mut producer, linux) = two_that_linux_reads();
        let mut taken: Vec<u8> = (0..2).filter_map(|_| shared.get(|| producer.written())).collect();
        assert!(shared.put(&mut producer, 3), "there is room again");
        taken.extend(linux.join().unwrap());
        while let Some(byte) = shared.linux_read() {
            taken.push(byte);
        }
        taken.sort_unstable();
        assert_eq!(taken, [1, 2, 3]);
    });
}

/// Linux, and a thread in primary mode beside it, take while the task takes back: each byte goes to
/// one of them, and they come in order to each.
#[test]
fn three_take() {
    loom::model(|| {
        let (shared, producer, linux) = two_that_linux_reads();
        let beside = {
            let shared = shared.clone();
            thread::spawn(move || shared.take_beside())
        };
        let mut taken: Vec<u8> = shared.get(|| producer.written()).into_iter().collect();
        taken.extend(linux.join().unwrap());
        taken.extend(beside.join().unwrap());
        while let Some(byte) = shared.linux_read() {
            taken.push(byte);
        }
        taken.sort_unstable();
        assert_eq!(taken, [1, 2]);
    });
}

/// A sleeping reader is woken for data. A lost wake-up would be a deadlock, which the model checker
/// reports.
#[test]
fn no_lost_wake_for_data() {
    loom::model(|| {
        let shared = Shared::new();
        let task = {
            let shared = shared.clone();
            thread::spawn(move || {
                let mut producer = Producer::default();
                for byte in 1..=2 {
                    assert!(shared.put(&mut producer, byte));
                    shared.wake();
                }
            })
        };
        for expected in 1..=2 {
            assert_eq!(shared.linux_wait(|| shared.linux_read()), expected);
        }
        task.join().unwrap();
    });
}

/// A sleeping writer is woken for room.
#[test]
fn no_lost_wake_for_room() {
    loom::model(|| {
        let shared = Shared::new();
        let mut written = 0;
        assert!(shared.linux_write(&mut written, 1) && shared.linux_write(&mut written, 2));
        let task = {
            let shared = shared.clone();
            thread::spawn(move || {
                assert_eq!(shared.get(|| shared.counters().theirs()), Some(1));
                shared.wake();
            })
        };
        shared.linux_wait(|| shared.linux_write(&mut written, 3).then_some(()));
        task.join().unwrap();
        assert_eq!([2, 3, 0].map(|_| shared.linux_read().unwrap_or(0)), [2, 3, 0]);
    });
}

/// Whatever counts Linux writes, and when, no access leaves the ring.
#[test]
fn hostile_counts() {
    loom::model(|| {
        let shared = Shared::new();
        let linux = {
            let shared = shared.clone();
            thread::spawn(move || {
                shared.read.store(u64::MAX, Ordering::Relaxed);
                shared.written.store(5, Ordering::Relaxed);
                shared.read.store(1, Ordering::Relaxed);
            })
        };
        let mut producer = Producer::default();
        let inside = |p: Piece| assert!(p.at + p.len <= SIZE && p.data + p.len <= SIZE);
        let _ = producer.put(shared.counters(), RING_SIZE, 2, inside);
        take(shared.counters(), || shared.counters().theirs(), RING_SIZE, 2, inside);
        take(shared.counters(), || producer.written(), RING_SIZE, 2, inside);
        linux.join().unwrap();
        take(shared.counters(), || producer.written(), RING_SIZE, 2, inside);
        assert!(producer.put(shared.counters(), RING_SIZE, 1, inside).is_ok(), "it works again");
    });
}
