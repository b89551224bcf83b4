//! Condition variables. A thread that is woken waits for its mutex without having run.

use super::{Done, Kind, Objects, Outcome, Party, error};

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

    /// Wakes the first waiter, or all. Each gets its mutex, or waits for it.
    pub fn condition_wake(&mut self, party: Party, handle: u64, all: bool) -> Done {
        let index = self.condition(party, handle)?;
        while let Some(first) = self.first_waiter(index) {
            self.dequeue(first);
            if let Some(result) = self.lock_again(first, 0) {
                self.wake(first, result);
            }
            if !all {
                break;
            }
        }
        Ok(0)
    }
}
