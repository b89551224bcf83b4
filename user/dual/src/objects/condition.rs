//! Condition variables. A thread that is woken waits for its mutex without having run.

use super::{Done, Identity, Kind, Objects, Outcome, Party, Words, error};

impl Objects {
    fn condition(&self, party: Party, handle: u64) -> Result<usize, i64> {
        self.find(party, handle).filter(|index| self.is_condition(*index)).ok_or(error::EINVAL)
    }

    pub(super) fn is_condition(&self, index: usize) -> bool {
        matches!(self.objects[index].kind, Some(Kind::Condition))
    }

    /// Unlocks a mutex and waits.
    pub fn condition_wait(&mut self, party: Party, handle: u64, mutex: u64) -> Outcome {
        let unlocked = self.condition(party, handle).and_then(|index| {
            self.unlock_for_condition(party, mutex)?;
            Ok(index)
        });
        match unlocked {
            Ok(index) => {
                self.parties[party].wait.mutex = mutex;
                self.enqueue(party, index)
            }
            Err(error) => Outcome::Done(error),
        }
    }

    /// Wakes the first waiter, or all. Each gets its mutex, or waits for it; one whose mutex the
    /// party's process does not reach has to lock that itself.
    pub fn condition_wake(&mut self, party: Party, handle: u64, all: bool, words: &impl Words) -> Done {
        let index = self.condition(party, handle)?;
        let mut claimed = None;
        while let Some(first) = self.first_waiter(index) {
            self.wake_from_condition(first, party, &mut claimed, words);
            if !all {
                break;
            }
        }
        if let Some(mutex) = claimed {
            self.settle(mutex, words);
        }
        Ok(0)
    }

    /// Wakes a thread of the party's process, if it waits for the condition.
    pub fn condition_wake_thread(&mut self, party: Party, handle: u64, thread: u64, words: &impl Words) -> Done {
        let index = self.condition(party, handle)?;
        let memory = self.parties[party].memory().ok_or(error::EINVAL)?;
        let thread = u32::try_from(thread).map_err(|_| error::EINVAL)?;
        let waiter = self.party_of(Identity { memory, thread });
        let mut claimed = None;
        if let Some(waiter) = waiter.filter(|waiter| self.objects[index].waiters >> waiter & 1 == 1) {
            self.wake_from_condition(waiter, party, &mut claimed, words);
        }
        if let Some(mutex) = claimed {
            self.settle(mutex, words);
        }
        Ok(0)
    }

    fn wake_from_condition(&mut self, waiter: Party, caller: Party, claimed: &mut Option<usize>, words: &impl Words) {
        self.dequeue(waiter);
        match self.claim_mutex_of(waiter, caller, claimed, words) {
            Ok(()) => {
                if let Some(result) = self.lock_again(waiter, 0) {
                    self.wake(waiter, result);
                }
            }
            Err(_) => self.wake(waiter, error::EINTR),
        }
    }

    /// Claims the mutex that a waiter gets after a condition, if it has a word: nearly always, it
    /// is the one that was claimed for the waiter before.
    fn claim_mutex_of(
        &mut self,
        waiter: Party,
        caller: Party,
        claimed: &mut Option<usize>,
        words: &impl Words,
    ) -> Result<(), i64> {
        let Some(mutex) = self.with_word(waiter, self.parties[waiter].wait.mutex) else { return Ok(()) };
        if *claimed == Some(mutex) {
            return Ok(());
        }
        if self.parties[waiter].memory() != self.parties[caller].memory() {
            return Err(error::EFAULT);
        }
        if let Some(before) = claimed.take() {
            self.settle(before, words);
        }
        self.claim(caller, mutex, words)?;
        *claimed = Some(mutex);
        Ok(())
    }
}
