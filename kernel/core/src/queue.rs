//! The ready threads: a list for each priority and a bitmap of the lists that are not empty.

use crate::{Id, Machine, Opt, thread::Thread};
use pillion_abi::PRIORITIES;

const WORDS: usize = PRIORITIES / 64;

/// Ready threads of one CPU. Every operation is O(1).
#[derive(Clone, Debug)]
pub struct ReadyQueue {
    present: [u64; WORDS],
    head: [Opt<Thread>; PRIORITIES],
    tail: [Opt<Thread>; PRIORITIES],
    /// See [`ReadyQueue::top`].
    top: u8,
}

impl Default for ReadyQueue {
    fn default() -> Self {
        Self::new()
    }
}

impl ReadyQueue {
    /// An empty queue.
    pub const fn new() -> Self {
        ReadyQueue { present: [0; WORDS], head: [None; PRIORITIES], tail: [None; PRIORITIES], top: 0 }
    }

    /// The highest priority of a ready thread; 0 if there is none.
    #[inline]
    pub fn top(&self) -> u8 {
        self.top
    }

    fn highest_present(&self) -> u8 {
        for word in (0..WORDS).rev() {
            if self.present[word] != 0 {
                return (word * 64 + 63 - self.present[word].leading_zeros() as usize) as u8;
            }
        }
        0
    }

    /// Adds a thread behind the others of its priority.
    pub fn push_back<M: Machine>(&mut self, m: &mut M, id: Id<Thread>) {
        let level = self.enter(m, id);
        let last = self.tail[level];
        m.get(id).previous = last;
        m.get(id).next = None;
        self.tail[level] = Some(id);
        match last {
            Some(last) => m.get(last).next = Some(id),
            None => self.head[level] = Some(id),
        }
    }

    /// Adds a thread before the others of its priority.
    #[inline(always)]
    pub fn push_front<M: Machine>(&mut self, m: &mut M, id: Id<Thread>) {
        let level = self.enter(m, id);
        let first = self.head[level];
        m.get(id).previous = None;
        m.get(id).next = first;
        self.head[level] = Some(id);
        match first {
            Some(first) => m.get(first).previous = Some(id),
            None => self.tail[level] = Some(id),
        }
    }

    fn enter<M: Machine>(&mut self, m: &mut M, id: Id<Thread>) -> usize {
        let thread = m.get(id);
        thread.queued = true;
        let level = usize::from(thread.priority);
        self.present[level / 64] |= 1 << (level % 64);
        self.top = self.top.max(level as u8);
        level
    }

    /// Removes the first thread of the highest priority.
    pub fn pop<M: Machine>(&mut self, m: &mut M) -> Opt<Thread> {
        let id = self.head[usize::from(self.top())]?;
        self.remove(m, id);
        Some(id)
    }

    /// Puts a thread behind the others of its priority. Removes the first of them, and returns it.
    pub fn turn<M: Machine>(&mut self, m: &mut M, id: Id<Thread>) -> Id<Thread> {
        let level = usize::from(m.get(id).priority);
        let Some(first) = self.head[level] else { return id };
        self.push_back(m, id);
        let t = m.get(first);
        t.queued = false;
        let next = t.next;
        self.head[level] = next;
        if let Some(next) = next {
            m.get(next).previous = None;
        }
        first
    }

    /// Removes a thread; does nothing if it is not queued.
    pub fn remove<M: Machine>(&mut self, m: &mut M, id: Id<Thread>) {
        let thread = m.get(id);
        if !thread.queued {
            return;
        }
        thread.queued = false;
        let (level, previous, next) = (usize::from(thread.priority), thread.previous, thread.next);
        match previous {
            Some(p) => m.get(p).next = next,
            None => self.head[level] = next,
        }
        match next {
            Some(n) => m.get(n).previous = previous,
            None => self.tail[level] = previous,
        }
        if self.head[level].is_none() {
            self.present[level / 64] &= !(1 << (level % 64));
            if usize::from(self.top) == level {
                self.top = self.highest_present();
            }
        }
    }
}
