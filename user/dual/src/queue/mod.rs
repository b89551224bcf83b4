//! POSIX's message queues of Linux's that both sides use: which message is received first, where
//! another can be put, and whose turn it is.
//!
//! A message begins when its order is written and ends when that is 0, so a holder that dies leaves
//! a queue. Linux can write all of these words at any time. It can harm only those who use its
//! queues by that: each word is read once and checked, and no loop depends on what is in them.

#[cfg(all(test, not(loom)))]
mod tests;

use core::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed, Release, SeqCst},
};
use pillion_abi::dual::file::{BY_LINUX, BY_TASK, FREE};
use pillion_abi::dual::queue::{FIRST, MESSAGES, NUMBERS, PRIORITIES, QUEUES, SIZE};

/// A [`pillion_abi::dual::Queue`].
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Queue {
    lock: AtomicU32,
    number: AtomicU32,
    most: AtomicU32,
    size: AtomicU32,
    polled: AtomicU32,
    notifies: AtomicU32,
    posted: AtomicU64,
    next: AtomicU64,
    texts: AtomicU64,
    _reserved: [AtomicU64; 2],
    messages: [Message; MESSAGES],
}

/// A [`pillion_abi::dual::Message`].
#[derive(Debug)]
#[repr(C)]
struct Message {
    order: AtomicU64,
    length: AtomicU32,
    _reserved: AtomicU32,
}

/// What a thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// A message.
    Receives,
    /// Room for one.
    Sends,
}

/// What does not change as long as there is the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    number: u32,
    most: usize,
    /// Most bytes of a message.
    pub size: usize,
    texts: u64,
}

/// A message that is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct There {
    /// Its place.
    pub place: usize,
    /// Its priority.
    pub priority: u32,
    /// Its bytes.
    pub length: usize,
}

impl Shape {
    /// Where who waits on a side is found.
    #[must_use]
    pub fn address(&self, side: Side) -> u64 {
        4 * (FIRST + 2 * u64::from(self.number) + u64::from(side == Side::Sends))
    }

    /// The address of the text at a place, in Linux's kernel.
    #[must_use]
    pub fn text(&self, place: usize) -> u64 {
        self.texts.wrapping_add((place * self.size) as u64)
    }
}

impl Queue {
    /// What it is. `None`: it is none that both sides use.
    #[must_use]
    pub fn shape(&self) -> Option<Shape> {
        let [number, most, size] = [&self.number, &self.most, &self.size].map(|word| word.load(Acquire));
        let (texts, most, size) = (self.texts.load(Acquire), most as usize, size as usize);
        let is_valid = number < QUEUES as u32 && (1..=MESSAGES).contains(&most) && (1..=SIZE).contains(&size);
        is_valid.then_some(Shape { number, most, size, texts })
    }

    /// Does something with the messages while Linux does not; runners exclude each other before.
    /// `None` if a thread in Linux was interrupted at them, unless Linux is dead.
    pub fn alone<R>(&self, linux_lives: bool, f: impl FnOnce() -> R) -> Option<R> {
        let before = self.lock.load(Relaxed);
        if before != FREE && (linux_lives || before != BY_LINUX) {
            return None;
        }
        self.lock.compare_exchange(before, BY_TASK, SeqCst, Relaxed).ok()?;
        let result = f();
        let _ = self.lock.compare_exchange(BY_TASK, FREE, SeqCst, Relaxed);
        Some(result)
    }

    /// The message that is received first: the oldest of the highest priority.
    #[must_use]
    pub fn first(&self, shape: &Shape) -> Option<There> {
        let orders = self.messages[..shape.most].iter().map(|message| message.order.load(Acquire));
        let (place, order) = orders.enumerate().max_by_key(|(_, order)| *order).filter(|(_, order)| *order != 0)?;
        let length = self.messages[place].length.load(Relaxed) as usize;
        let priority = (order / NUMBERS).saturating_sub(1) as u32 % PRIORITIES;
        Some(There { place, priority, length: length.min(shape.size) })
    }

    /// A place for another message.
    #[must_use]
    pub fn room(&self, shape: &Shape) -> Option<usize> {
        self.messages[..shape.most].iter().position(|message| message.order.load(Acquire) == 0)
    }

    /// Whether who waits on a side can go on.
    #[must_use]
    pub fn lets(&self, shape: &Shape, side: Side) -> bool {
        match side {
            Side::Receives => self.first(shape).is_some(),
            Side::Sends => self.room(shape).is_some(),
        }
    }

    /// Makes what was written at a place a message.
    pub fn put(&self, place: usize, priority: u32, length: usize) {
        let number = self.next.fetch_add(1, Relaxed) % NUMBERS;
        let order = (u64::from(priority % PRIORITIES) + 1) * NUMBERS + (NUMBERS - 1 - number);
        self.messages[place].length.store(length as u32, Relaxed);
        self.messages[place].order.store(order, Release);
    }

    /// Ends a message that was received.
    pub fn remove(&self, place: usize) {
        self.messages[place].order.store(0, Release);
    }

    /// Whether a process wants to be told of a message, which only Linux can do.
    #[must_use]
    pub fn notifies(&self) -> bool {
        self.notifies.load(SeqCst) != 0
    }

    /// Whether somebody in Linux may wait without being counted. To be asked after a change.
    #[must_use]
    pub fn is_polled(&self) -> bool {
        self.polled.load(SeqCst) != 0
    }

    /// Has Linux wake its threads that wait, as soon as it is told to look.
    pub fn post(&self) {
        self.posted.store(1, SeqCst);
    }
}

const _: () = {
    use core::mem::{offset_of, size_of};
    use pillion_abi::dual;
    assert!(size_of::<Queue>() == size_of::<dual::Queue>());
    assert!(offset_of!(Queue, texts) == offset_of!(dual::Queue, texts));
    assert!(offset_of!(Queue, messages) == offset_of!(dual::Queue, messages));
};
