//! The threads that use objects. A thread is known while it is in primary mode and uses objects,
//! and as long as it owns a mutex or has a period, in primary mode or not.

use super::period::Period;
use super::wait::Wait;
use super::{Objects, error};
use pillion_abi::dual::MEMORIES;
use pillion_rt_core::inherit::THREADS;

/// Maximum number of threads that are known.
pub const PARTIES: usize = THREADS;
/// Maximum number of one process's: a few processes cannot keep out the threads of another.
const PARTIES_OF_ONE: usize = 32;

/// A thread that is known, by its index.
pub type Party = usize;

/// Which thread it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Its memory, below [`MEMORIES`].
    pub memory: u8,
    /// Its number in its process.
    pub thread: u32,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    /// `None`: it is nobody.
    pub identity: Option<Identity>,
    /// Its runner while it is in primary mode.
    pub runner: Option<u8>,
    /// Its priority in Linux.
    pub base: u8,
    /// Mutexes that it owns.
    pub owned: u32,
    /// The highest ceiling of these; 0: none has one.
    pub ceiling: u8,
    pub wait: Wait,
    pub period: Option<Period>,
}

impl Known {
    pub const NONE: Known =
        Known { identity: None, runner: None, base: 0, owned: 0, ceiling: 0, wait: Wait::NONE, period: None };

    /// Its memory; nobody has none.
    pub fn memory(&self) -> Option<u8> {
        self.identity.map(|identity| identity.memory)
    }

    fn must_stay(&self) -> bool {
        self.identity.is_some() && (self.owned != 0 || self.period.is_some())
    }
}

impl Objects {
    /// A thread that has entered primary mode. `number` is that of its memory.
    pub fn attach(&mut self, identity: Identity, number: u64, runner: u8, priority: u8) -> Result<Party, i64> {
        let memory = usize::from(identity.memory);
        if memory >= MEMORIES || number == 0 {
            return Err(error::EAGAIN);
        }
        self.follow_memory(memory, number)?;
        let party = match self.party_of(identity) {
            // Somebody who waits for it has attached it.
            Some(party) if self.parties[party].runner == Some(runner) => return Ok(party),
            // Linux runs a thread once; one that is said to be in two places is nobody.
            Some(party) if self.parties[party].runner.is_some() => return Err(error::EAGAIN),
            Some(party) => party,
            None => self.add(identity)?,
        };
        self.parties[party].runner = Some(runner);
        self.parties[party].base = priority;
        self.effects.changed |= 1 << party;
        self.follow_ceiling(party);
        Ok(party)
    }

    /// A party's priority, or its ceiling, has changed.
    pub(super) fn follow_ceiling(&mut self, party: Party) {
        let Known { base, ceiling, .. } = self.parties[party];
        self.effects.changed |= self.inheritance.set_own(party, base.max(ceiling));
    }

    /// Who a thread is, if it is known: then it has to be attached when it enters primary mode.
    #[must_use]
    pub fn party_of(&self, identity: Identity) -> Option<Party> {
        self.parties.iter().position(|known| known.identity == Some(identity))
    }

    pub(super) fn add(&mut self, identity: Identity) -> Result<Party, i64> {
        let is_of_memory = |known: &&Known| known.identity.is_some_and(|one| one.memory == identity.memory);
        let of_memory = self.parties.iter().filter(is_of_memory).count();
        let is_free = |known: &Known| known.identity.is_none() && known.runner.is_none();
        let free = self.parties.iter().position(is_free);
        let party = free.filter(|_| of_memory < PARTIES_OF_ONE).ok_or(error::EAGAIN)?;
        self.parties[party] = Known { identity: Some(identity), ..Known::NONE };
        Ok(party)
    }

    /// A thread that is known only because it owned a mutex is nobody if it owns none.
    pub(super) fn forget_if_free(&mut self, party: Party) {
        if self.parties[party].runner.is_none() && !self.parties[party].must_stay() {
            self.forget(party);
        }
    }

    /// A thread leaves primary mode; it does not wait.
    pub fn detach(&mut self, party: Party) {
        self.cut(party, super::Cut::Recalled);
        self.leave_futexes(party);
        self.owner_leaves(party);
        self.parties[party].runner = None;
        self.forget_if_free(party);
    }

    /// The same for whomever a runner has, if that is known.
    pub fn detach_runner(&mut self, runner: u8) {
        if let Some(party) = self.parties.iter().position(|known| known.runner == Some(runner)) {
            self.detach(party);
        }
    }

    /// How many threads are known, but not in primary mode.
    #[must_use]
    pub fn away(&self) -> usize {
        self.parties.iter().filter(|known| known.identity.is_some() && known.runner.is_none()).count()
    }

    fn forget(&mut self, party: Party) {
        self.effects.changed |= self.inheritance.remove(party) | self.inheritance.set_own(party, 0);
        self.parties[party] = Known::NONE;
    }

    /// How urgent a party is, including what it inherits.
    #[must_use]
    pub fn urgency(&self, party: Party) -> u8 {
        self.inheritance.effective(party)
    }

    /// The runner of a party.
    #[must_use]
    pub fn runner(&self, party: Party) -> Option<u8> {
        self.parties[party].runner
    }

    /// Their memories, as bits, have gone: those in primary mode nevertheless are nobody until they
    /// leave it. Ends so many at most; returns whether that was all.
    pub(super) fn end_parties(&mut self, memories: u32, most: usize) -> bool {
        let mut left = most;
        for party in 0..PARTIES {
            if self.parties[party].memory().is_none_or(|memory| memories >> memory & 1 == 0) {
                continue;
            }
            if left == 0 {
                return false;
            }
            left -= 1;
            match self.parties[party].runner {
                Some(_) => {
                    let known = &mut self.parties[party];
                    (known.identity, known.period, known.ceiling) = (None, None, 0);
                    self.follow_ceiling(party);
                }
                None => self.forget(party),
            }
        }
        true
    }
}
