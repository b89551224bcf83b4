//! A message queue: slots for messages, and the order in which the filled ones go out.

use crate::waits::List;
use core::num::NonZeroU8;
use pillion_channel::extent::Extent;
use pillion_runtime::broker::{MESSAGE_PRIORITIES, QUEUE_MESSAGES};

const SLOTS: usize = QUEUE_MESSAGES as usize;
const PRIORITIES: usize = MESSAGE_PRIORITIES as usize;

/// A slot's number plus one, or none.
type Link = Option<NonZeroU8>;

fn link(slot: u8) -> Link {
    NonZeroU8::new(slot + 1)
}

fn slot(link: NonZeroU8) -> u8 {
    link.get() - 1
}

/// A message in a slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Message {
    /// Its length in bytes.
    pub length: u32,
    pub priority: u8,
}

/// Slots in order of arrival.
#[derive(Clone, Copy, Debug, Default)]
struct Line {
    first: Link,
    last: Link,
}

/// A queue. Each slot is free, or in the line of its message's priority, or handed to a thread.
#[derive(Clone, Copy, Debug)]
pub struct Queue {
    /// Most messages.
    pub capacity: u32,
    /// Most bytes of a message.
    pub size: u32,
    /// The slots' part of the memory for messages.
    pub extent: Extent,
    /// Threads that wait for a message. There are none while the queue has a message.
    pub receivers: List,
    /// Threads that wait for room. There are none while the queue has room.
    pub senders: List,
    /// Task and thread to notify of a message.
    pub notice: Option<(u8, u8)>,
    messages: [Message; SLOTS],
    next: [Link; SLOTS],
    free: Link,
    lines: [Line; PRIORITIES],
    filled: u32,
    count: u32,
}

impl Queue {
    /// A queue without slots.
    pub const fn new() -> Queue {
        Queue {
            capacity: 0,
            size: 0,
            extent: Extent { at: 0, size: 0 },
            receivers: List::new(),
            senders: List::new(),
            notice: None,
            messages: [Message { length: 0, priority: 0 }; SLOTS],
            next: [None; SLOTS],
            free: None,
            lines: [Line { first: None, last: None }; PRIORITIES],
            filled: 0,
            count: 0,
        }
    }

    /// A queue of free slots: `capacity`, at most [`QUEUE_MESSAGES`], of `size` bytes, at `at`.
    pub fn with(capacity: u32, size: u32, at: u64) -> Queue {
        let extent = Extent { at, size: Queue::bytes(capacity, size) };
        let mut queue = Queue { capacity, size, extent, ..Queue::new() };
        for slot in (0..capacity as u8).rev() {
            queue.release(slot);
        }
        queue
    }

    /// Bytes of all slots of a queue.
    pub fn bytes(capacity: u32, size: u32) -> u64 {
        u64::from(capacity) * u64::from(size)
    }

    /// Offset of a slot in the memory for messages.
    pub fn place(&self, slot: u8) -> u64 {
        self.extent.at + u64::from(slot) * u64::from(self.size)
    }

    pub fn message(&mut self, slot: u8) -> &mut Message {
        &mut self.messages[usize::from(slot)]
    }

    /// Number of messages that wait to be received.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Takes a free slot.
    pub fn take_free(&mut self) -> Option<u8> {
        let slot = slot(self.free?);
        self.free = self.next[usize::from(slot)];
        Some(slot)
    }

    /// Makes a slot free.
    pub fn release(&mut self, slot: u8) {
        self.next[usize::from(slot)] = self.free;
        self.free = link(slot);
    }

    /// Appends a filled slot to the line of its priority.
    pub fn push(&mut self, slot: u8) {
        self.next[usize::from(slot)] = None;
        let line = self.line(slot);
        match core::mem::replace(&mut line.last, link(slot)) {
            Some(last) => self.next[usize::from(self::slot(last))] = link(slot),
            None => line.first = link(slot),
        }
        self.counted(slot);
    }

    /// Puts a filled slot at the front of its priority's line, because it has had its turn.
    pub fn push_front(&mut self, slot: u8) {
        let line = self.line(slot);
        let first = core::mem::replace(&mut line.first, link(slot));
        if first.is_none() {
            line.last = link(slot);
        }
        self.next[usize::from(slot)] = first;
        self.counted(slot);
    }

    /// Takes the oldest slot of the highest priority.
    pub fn pop(&mut self) -> Option<u8> {
        let priority = self.filled.checked_ilog2()?;
        let line = &mut self.lines[priority as usize];
        let slot = slot(line.first?);
        line.first = self.next[usize::from(slot)];
        if line.first.is_none() {
            line.last = None;
            self.filled &= !(1 << priority);
        }
        self.count -= 1;
        Some(slot)
    }

    fn line(&mut self, slot: u8) -> &mut Line {
        &mut self.lines[usize::from(self.messages[usize::from(slot)].priority)]
    }

    fn counted(&mut self, slot: u8) {
        self.filled |= 1 << self.messages[usize::from(slot)].priority;
        self.count += 1;
    }
}
