//! Counting semaphores.

use super::{Done, Kind, Objects, Outcome, Party, error};

/// Greatest value.
pub const MOST: u32 = i32::MAX as u32;

impl Objects {
    fn semaphore(&mut self, party: Party, handle: u64) -> Result<(usize, &mut u32), i64> {
        let index = self.find(party, handle).ok_or(error::EINVAL)?;
        match &mut self.objects[index].kind {
            Some(Kind::Semaphore { value }) => Ok((index, value)),
            Some(Kind::Kept(_)) => Err(error::ELSEWHERE),
            _ => Err(error::EINVAL),
        }
    }

    /// Takes one, or waits for it if the caller may wait.
    pub fn semaphore_wait(&mut self, party: Party, handle: u64, may_wait: bool) -> Outcome {
        match self.semaphore(party, handle) {
            Err(error) => Outcome::Done(error),
            Ok((_, value)) if *value > 0 => {
                *value -= 1;
                Outcome::Done(0)
            }
            Ok((index, _)) if may_wait => self.enqueue(party, index),
            Ok(_) => Outcome::Done(error::EAGAIN),
        }
    }

    /// Gives one to the first waiter, or adds it. With `to_all`, all waiters get one, and nothing
    /// is added.
    pub fn semaphore_post(&mut self, party: Party, handle: u64, to_all: bool) -> Done {
        let (index, _) = self.semaphore(party, handle)?;
        while let Some(first) = self.first_waiter(index) {
            self.wake(first, 0);
            if !to_all {
                return Ok(0);
            }
        }
        let (_, value) = self.semaphore(party, handle)?;
        if !to_all {
            *value = Some(*value + 1).filter(|new| *new <= MOST).ok_or(error::EOVERFLOW)?;
        }
        Ok(0)
    }

    /// The value.
    pub fn semaphore_value(&mut self, party: Party, handle: u64) -> Done {
        self.semaphore(party, handle).map(|(_, value)| i64::from(*value))
    }
}
