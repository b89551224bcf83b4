//! Flags: 32 bits that threads wait for.

use super::{Done, Kind, Objects, Outcome, Party, error};
use pillion_abi::dual::service::ANY;
use pillion_rt_core::inherit::bits;

/// The bits that end a wait for `wanted`, if they do.
pub(super) fn found(value: u32, wanted: u64) -> Option<i64> {
    let set = value & wanted as u32;
    let is_enough = if wanted & ANY != 0 { set != 0 } else { set == wanted as u32 };
    is_enough.then_some(i64::from(set))
}

impl Objects {
    fn flags(&mut self, party: Party, handle: u64) -> Result<(usize, &mut u32), i64> {
        let index = self.find(party, handle).ok_or(error::EINVAL)?;
        match &mut self.objects[index].kind {
            Some(Kind::Flags { bits }) => Ok((index, bits)),
            _ => Err(error::EINVAL),
        }
    }

    /// Waits for bits, if the caller may wait. They stay set.
    pub fn flags_wait(&mut self, party: Party, handle: u64, wanted: u64, may_wait: bool) -> Outcome {
        let (index, value) = match self.flags(party, handle) {
            Ok((index, value)) => (index, *value),
            Err(error) => return Outcome::Done(error),
        };
        if wanted as u32 == 0 || wanted >= ANY << 1 {
            return Outcome::Done(error::EINVAL);
        }
        match found(value, wanted) {
            Some(set) => Outcome::Done(set),
            None if may_wait => {
                self.parties[party].wait.bits = wanted;
                self.enqueue(party, index)
            }
            None => Outcome::Done(error::EAGAIN),
        }
    }

    /// Sets bits, and wakes those for whom they are enough.
    pub fn flags_set(&mut self, party: Party, handle: u64, set: u64) -> Done {
        let (index, value) = self.flags(party, handle)?;
        *value |= u32::try_from(set).map_err(|_| error::EINVAL)?;
        let value = *value;
        for waiter in bits(self.objects[index].waiters) {
            if let Some(set) = found(value, self.parties[waiter].wait.bits) {
                self.wake(waiter, set);
            }
        }
        Ok(0)
    }

    /// Clears bits; returns the value before.
    pub fn flags_clear(&mut self, party: Party, handle: u64, clear: u64) -> Done {
        let (_, value) = self.flags(party, handle)?;
        let before = *value;
        *value &= !(clear as u32);
        Ok(before.into())
    }
}
