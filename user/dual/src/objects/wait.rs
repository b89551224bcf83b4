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

/// Where a party waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// In the queue of an object.
    Object(u16),
    /// For a futex at an address, which another party owns.
    Futex { address: u64, owner: Party },
}

impl Place {
    pub fn is_futex(self, at: u64) -> bool {
        matches!(self, Place::Futex { address, .. } if address == at)
    }
}

/// What a party waits for, or the result of its last wait.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wait {
    /// `None`: it does not wait.
    pub place: Option<Place>,
    /// What its wait, or the one before, results in.
    pub result: Option<i64>,
    /// The mutex that it locks after a condition, and the condition's result is [`Wait::then`].
    pub mutex: u64,
    /// The result once it owns the mutex that it waits for.
    pub then: i64,
    /// Its wait for a mutex ends with [`TO_LINUX`](super::futex::TO_LINUX) if the owner goes there.
    pub is_told: bool,
    /// It waits for the mutex after a condition, whose time no longer counts.
    pub again: bool,
    /// The flags that it waits for.
    pub bits: u64,
    /// See [`Objects::order`].
    order: u64,
}

impl Wait {
    pub const NONE: Wait =
        Wait { place: None, result: None, mutex: 0, then: 0, is_told: false, again: false, bits: 0, order: 0 };
}

impl Objects {
    /// Puts a party into an object's queue.
    pub(super) fn enqueue(&mut self, party: Party, index: usize) -> Outcome {
        self.objects[index].waiters |= 1 << party;
        self.begin_wait(party, Place::Object(index as u16));
        Outcome::Waits
    }

    pub(super) fn begin_wait(&mut self, party: Party, place: Place) {
        self.order += 1;
        let wait = &mut self.parties[party].wait;
        wait.place = Some(place);
        wait.result = None;
        wait.again = false;
        wait.is_told = false;
        wait.order = self.order;
    }

    /// Takes a party from where it waits, and takes back what it lends. Returns where that was.
    pub(super) fn dequeue(&mut self, party: Party) -> Option<Place> {
        let place = self.parties[party].wait.place.take()?;
        match place {
            Place::Object(index) => self.objects[usize::from(index)].waiters &= !(1 << party),
            Place::Futex { .. } => self.futex_waiters &= !(1 << party),
        }
        self.effects.changed |= self.inheritance.end_wait(party);
        Some(place)
    }

    /// The most urgent party that waits for an object; among equals, the one that has waited
    /// longest.
    pub(super) fn first_waiter(&self, index: usize) -> Option<Party> {
        self.first_of(self.objects[index].waiters)
    }

    /// The same of some parties, as bits.
    #[inline]
    pub(super) fn first_of(&self, waiters: u64) -> Option<Party> {
        let key = |party: &Party| (self.inheritance.effective(*party), u64::MAX - self.parties[*party].wait.order);
        bits(waiters).max_by_key(key)
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
            None if wait.place.is_none() => Some(error::EINVAL),
            result => result,
        }
    }

    /// Cuts a party's wait short, unless it has ended. Returns its result; a thread whose time is
    /// over while it waits for a condition waits for its mutex from now on, and has no result yet.
    /// Neither has one that waits for that mutex already.
    pub fn cut(&mut self, party: Party, why: Cut) -> Option<i64> {
        let wait = &self.parties[party].wait;
        if why == Cut::TimedOut && wait.again && wait.place.is_some() {
            return None;
        }
        if let Some(place) = self.dequeue(party) {
            let is_condition = matches!(place, Place::Object(index) if self.is_condition(index.into()));
            if why == Cut::TimedOut && is_condition {
                return self.lock_again(party, error::ETIMEDOUT);
            }
            let result = if why == Cut::TimedOut { error::ETIMEDOUT } else { error::EINTR };
            self.parties[party].wait.result = Some(result);
        }
        self.result(party)
    }
}
