//! Mutexes with a word in their process's memory. As long as nobody waits for one, its word alone
//! says who owns it, and threads lock and unlock it by exchanging the word, without a call:
//!
//! | word | |
//! |---|---|
//! | 0 | nobody owns the mutex; a thread that writes its own number does |
//! | a thread's number | that thread owns it; it may write 0 |
//! | with [`word::CLAIMED`] | the task says who owns it; threads ask it |
//!
//! An operation claims the mutex, so that the word cannot change, and makes its owner known; from
//! there on the mutex is one like any other ([`super::mutex`]). At its end the word says again what
//! the task knows, and is the threads' again if nobody waits.
//!
//! The word is the process's: whatever it writes there, it states an owner of its own, and the
//! worst that happens is that its threads wait for each other for ever.

#[cfg(all(test, loom))]
mod model;
#[cfg(all(test, not(loom)))]
mod tests;

use super::futex::Present;
use super::wait::Place;
use super::{Cut, Identity, Kind, Objects, Party, error};
use pillion_abi::dual::word::{CLAIMED, THREAD};

/// How often a word is looked at again that changes meanwhile.
const ATTEMPTS: u32 = 8;

/// The memory of the process whose thread does something, and its threads.
pub trait Words {
    /// A word; `None`: it cannot be written.
    fn load(&self, at: u64) -> Option<u32>;
    /// Replaces a word's value by another one. Returns whether it had that value.
    fn exchange(&self, at: u64, old: u32, new: u32) -> Option<bool>;
    /// A thread that is in primary mode. From then on it is detached when it leaves; a thread that
    /// is not, and comes later, looks whether it is known.
    fn present(&self, thread: u32) -> Option<Present>;
}

impl Objects {
    /// Makes a mutex with a word.
    pub fn create_with_word(&mut self, party: Party, flags: u64, at: u64) -> i64 {
        let mutex = super::mutex::Mutex::with_word(flags, at).ok_or(error::EINVAL);
        let made = mutex.and_then(|mutex| self.add_object(party, Kind::Mutex(mutex)));
        made.map_or_else(|error| error, i64::from)
    }

    /// The index of a mutex with a word.
    #[must_use]
    pub fn with_word(&self, party: Party, handle: u64) -> Option<usize> {
        self.find(party, handle).filter(|index| self.word(*index) != 0)
    }

    /// The address of a mutex's word; 0: it has none.
    fn word(&self, index: usize) -> u64 {
        match self.objects[index].kind {
            Some(Kind::Mutex(mutex)) => mutex.word,
            _ => 0,
        }
    }

    /// Whether a mutex has an owner that is not in primary mode.
    pub fn is_owned_in_linux(&self, party: Party, handle: u64, words: &impl Words) -> bool {
        let Some(index) = self.find(party, handle) else { return false };
        if let Some(owner) = self.owner(index) {
            return self.parties[owner].runner.is_none();
        }
        let word = Some(self.word(index)).filter(|at| *at != 0).and_then(|at| words.load(at));
        let thread = word.map_or(0, |word| word & THREAD);
        thread != 0 && words.present(thread).is_none()
    }

    /// Claims a mutex for an operation of a party's, and makes its owner known.
    pub fn claim(&mut self, party: Party, index: usize, words: &impl Words) -> Result<(), i64> {
        let at = self.word(index);
        if self.owner(index).is_some() {
            // At the end, the word is written.
            return words.load(at).map(drop).ok_or(error::EFAULT);
        }
        for _ in 0..ATTEMPTS {
            let word = words.load(at).ok_or(error::EFAULT)?;
            // Before the word says so: from then on the thread relies on it.
            let owner = match word & THREAD {
                0 => None,
                thread => Some(self.owner_of(party, thread, words)?),
            };
            let exchanged = words.exchange(at, word, word | CLAIMED);
            match owner {
                Some(owner) if exchanged == Some(true) => self.becomes_owner(owner, index),
                Some(owner) => self.forget_if_free(owner),
                None => {}
            }
            if exchanged.ok_or(error::EFAULT)? {
                return Ok(());
            }
        }
        Err(error::EFAULT)
    }

    /// A thread of a party's process, which is known from now on.
    fn owner_of(&mut self, party: Party, thread: u32, words: &impl Words) -> Result<Party, i64> {
        let own = self.parties[party].identity.ok_or(error::EAGAIN)?;
        let identity = Identity { thread, ..own };
        if let Some(known) = self.party_of(identity) {
            return Ok(known);
        }
        match words.present(thread) {
            Some(present) => self.present_party(identity, present).ok_or(error::EAGAIN),
            None => self.add(identity),
        }
    }

    /// Does something with a mutex, with a word or without.
    pub fn claimed<R>(
        &mut self,
        party: Party,
        handle: u64,
        words: &impl Words,
        operation: impl FnOnce(&mut Objects) -> R,
    ) -> Result<R, i64> {
        let Some(index) = self.with_word(party, handle) else { return Ok(operation(self)) };
        self.claim(party, index, words)?;
        let result = operation(self);
        self.settle(index, words);
        Ok(result)
    }

    /// Cuts a wait short, as [`Objects::cut`]. A thread that then has to lock a mutex itself has
    /// the result EINTR.
    pub fn cut_with_words(&mut self, party: Party, why: Cut, words: &impl Words) -> Option<i64> {
        let mutex = match self.parties[party].wait.place {
            Some(Place::Object(index)) if why == Cut::TimedOut && self.is_condition(index.into()) => {
                self.parties[party].wait.mutex
            }
            _ => 0,
        };
        let cut = self.claimed(party, mutex, words, |objects| objects.cut(party, why));
        cut.unwrap_or_else(|_| self.cut(party, Cut::Recalled))
    }

    /// Unlocks the next mutex from that index on that has a word, if a thread that ends owns it.
    /// Returns the index after it; `None`: there is none.
    pub fn thread_ends_with_word(&mut self, party: Party, from: usize, words: &impl Words) -> Option<usize> {
        let thread = self.parties[party].identity?;
        let is_its = |index: &usize| self.word(*index) != 0 && self.objects[*index].is_open_in(thread.memory);
        let index = (from..super::OBJECTS).find(is_its)?;
        let at = self.word(index);
        // The memory may be something else's by now.
        let is_there = words.load(at.wrapping_sub(4)) == Some(self.objects[index].handle(index));
        let is_owner = is_there && words.load(at).is_some_and(|word| word & THREAD == thread.thread);
        if is_owner && self.claim(party, index, words).is_ok() {
            if self.owner(index) == Some(party) {
                self.hand_over(index);
            }
            self.settle(index, words);
        }
        Some(index + 1)
    }

    /// The end of an operation: the word says who owns the mutex. If it cannot be written, the task
    /// knows better for ever.
    pub fn settle(&mut self, index: usize, words: &impl Words) {
        let at = self.word(index);
        let owner = self.owner(index);
        let thread = owner.and_then(|owner| self.parties[owner].identity).map_or(0, |owner| owner.thread & THREAD);
        let is_claimed = self.objects[index].waiters != 0;
        let new = thread | if is_claimed { CLAIMED } else { 0 };
        if at == 0 || !store(words, at, new) {
            return;
        }
        if let Some(owner) = owner
            && !is_claimed
        {
            self.disowns(index);
            self.forget_if_free(owner);
        }
    }
}

/// Writes a word that only a faulty process changes meanwhile.
fn store(words: &impl Words, at: u64, new: u32) -> bool {
    (0..ATTEMPTS).any(|_| {
        let old = words.load(at);
        old.is_some_and(|old| words.exchange(at, old, new) == Some(true))
    })
}
