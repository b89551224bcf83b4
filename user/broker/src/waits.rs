//! Waiting threads: what each waits for, and in which order they are served.

use core::num::NonZeroU16;
use pillion_abi::channel::{TASKS, THREADS};

pub const WAITERS: usize = TASKS * THREADS;

/// What a thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Object {
    /// One unit of a semaphore.
    Semaphore(usize),
    /// A message from a queue.
    Receive(usize),
    /// Room in a queue.
    Send(usize),
}

/// State of a thread. It has a tag of its own whose first value is 0, so that a broker without
/// objects is all zeros, which take no room in an image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum State {
    /// It does not wait.
    #[default]
    Idle,
    /// It is in the object's list.
    Waiting(Object),
    /// It has been handed one unit of the object; for a queue, this slot.
    Granted(Object, u8),
    /// The task has closed the object; the value is an errno.
    Failed(i32),
}

/// A thread's number plus one, or none.
type Link = Option<NonZeroU16>;

fn link(id: usize) -> Link {
    NonZeroU16::new(id as u16 + 1)
}

fn id(link: NonZeroU16) -> usize {
    usize::from(link.get()) - 1
}

/// Threads that wait for an object: the most urgent first, first come first served among equals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct List {
    first: Link,
    last: Link,
}

impl List {
    pub const fn new() -> List {
        List { first: None, last: None }
    }
}

#[derive(Clone, Copy, Debug)]
struct Waiter {
    state: State,
    level: u8,
    previous: Link,
    next: Link,
}

/// The wait states of all threads.
#[derive(Debug)]
pub struct Waits {
    waiters: [Waiter; WAITERS],
}

impl Waits {
    /// No thread waits.
    pub const fn new() -> Waits {
        Waits { waiters: [Waiter { state: State::Idle, level: 0, previous: None, next: None }; WAITERS] }
    }

    pub fn state(&self, thread: usize) -> State {
        self.waiters[thread].state
    }

    /// Sets the state of a thread that is in no list.
    pub fn set(&mut self, thread: usize, state: State) {
        self.waiters[thread].state = state;
    }

    /// Puts a thread that is in no list into an object's list. Work: a walk past the less urgent
    /// threads.
    pub fn insert(&mut self, list: &mut List, thread: usize, level: u8, object: Object) {
        let mut before = list.last;
        while let Some(at) = before.filter(|at| self.waiters[id(*at)].level < level) {
            before = self.waiters[id(at)].previous;
        }
        let next = match before {
            Some(at) => core::mem::replace(&mut self.waiters[id(at)].next, link(thread)),
            None => core::mem::replace(&mut list.first, link(thread)),
        };
        match next {
            Some(at) => self.waiters[id(at)].previous = link(thread),
            None => list.last = link(thread),
        }
        self.waiters[thread] = Waiter { state: State::Waiting(object), level, previous: before, next };
    }

    pub fn remove(&mut self, list: &mut List, thread: usize) {
        let Waiter { previous, next, .. } = self.waiters[thread];
        match previous {
            Some(at) => self.waiters[id(at)].next = next,
            None => list.first = next,
        }
        match next {
            Some(at) => self.waiters[id(at)].previous = previous,
            None => list.last = previous,
        }
        let waiter = &mut self.waiters[thread];
        (waiter.previous, waiter.next, waiter.state) = (None, None, State::Idle);
    }

    /// Removes the most urgent thread from a list.
    pub fn pop(&mut self, list: &mut List) -> Option<usize> {
        let thread = id(list.first?);
        self.remove(list, thread);
        Some(thread)
    }
}
