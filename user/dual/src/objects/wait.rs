//! Waiting and waking.

use super::{Objects, Party, error};
use pillion_rt_core::inherit::bits;

/// What became of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It has this result.
    Done(i64),
    /// The caller waits until [`Objects::result`] has one.
    Waits,
}

/// Why a wait is cut short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Its time is over.
    TimedOut,
    /// Linux wants the thread.
    Recalled,
}

/// What a party waits for, or the result of its last wait.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wait {
    /// The object in whose queue it is.
    pub object: Option<u16>,
    /// What its wait, or the one before, results in.
    pub result: Option<i64>,
    /// The mutex that it locks after a condition, and the condition's result is [`Wait::then`].
    pub mutex: u64,
    /// The result once it owns the mutex that it waits for.
    pub then: i64,
    /// It waits for the mutex after a condition, whose time no longer counts.
    pub again: bool,
    /// The flags that it waits for.
    pub bits: u64,
    /// See [`Objects::order`].
    order: u64,
}

impl Wait {
    pub const NONE: Wait = Wait { object: None, result: None, mutex: 0, then: 0, again: false, bits: 0, order: 0 };
}

impl Objects {
    /// Puts a party into an object's queue.
    pub(super) fn enqueue(&mut self, party: Party, index: usize) -> Outcome {
        self.order += 1;
        self.objects[index].waiters |= 1 << party;
        let wait = &mut self.parties[party].wait;
        wait.object = Some(index as u16);
        wait.result = None;
        wait.again = false;
        wait.order = self.order;
        Outcome::Waits
    }

    /// Takes a party out of its queue, and takes back what it lends. Returns the object.
    pub(super) fn dequeue(&mut self, party: Party) -> Option<usize> {
        let index = usize::from(self.parties[party].wait.object.take()?);
        self.objects[index].waiters &= !(1 << party);
        self.effects.changed |= self.inheritance.end_wait(party);
        Some(index)
    }

    /// The most urgent party that waits for an object; among equals, the one that has waited
    /// longest.
    pub(super) fn first_waiter(&self, index: usize) -> Option<Party> {
        let key = |party: &Party| (self.inheritance.effective(*party), u64::MAX - self.parties[*party].wait.order);
        bits(self.objects[index].waiters).max_by_key(key)
    }

    /// Ends a party's wait.
    pub(super) fn wake(&mut self, party: Party, result: i64) {
        self.dequeue(party);
        self.parties[party].wait.result = Some(result);
        if let Some(runner) = self.parties[party].runner {
            self.effects.wakes |= 1 << runner;
        }
    }

    /// The result of a party's wait, if it has ended. A party that has none, and does not wait, was
    /// never asked to: its wait is over, too.
    pub fn result(&mut self, party: Party) -> Option<i64> {
        let wait = &mut self.parties[party].wait;
        match wait.result.take() {
            None if wait.object.is_none() => Some(error::EINVAL),
            result => result,
        }
    }

    /// Cuts a party's wait short, unless it has ended. Returns its result; a thread whose time is
    /// over while it waits for a condition waits for its mutex from now on, and has no result yet.
    /// Neither has one that waits for that mutex already.
    pub fn cut(&mut self, party: Party, why: Cut) -> Option<i64> {
        let wait = &self.parties[party].wait;
        if why == Cut::TimedOut && wait.again && wait.object.is_some() {
            return None;
        }
        if let Some(index) = self.dequeue(party) {
            if why == Cut::TimedOut && self.is_condition(index) {
                return self.lock_again(party, error::ETIMEDOUT);
            }
            let result = if why == Cut::TimedOut { error::ETIMEDOUT } else { error::EINTR };
            self.parties[party].wait.result = Some(result);
        }
        self.result(party)
    }
}
