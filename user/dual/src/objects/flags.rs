//! Flags: 32 bits that threads wait for. They stay set, or are taken by who waits.

use super::{Done, Kind, Objects, Outcome, Party, error};
use pillion_abi::dual::object::TAKEN;
use pillion_abi::dual::service::ANY;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Flags {
    pub bits: u32,
    /// Who waits for bits takes them.
    are_taken: bool,
}

impl Flags {
    pub fn new(value: u64, flags: u64) -> Option<Flags> {
        let bits = u32::try_from(value).ok()?;
        (flags & !TAKEN == 0).then_some(Flags { bits, are_taken: flags & TAKEN != 0 })
    }
}

/// The bits that end a wait for `wanted`, if they do.
pub(super) fn found(value: u32, wanted: u64) -> Option<i64> {
    let set = value & wanted as u32;
    let is_enough = if wanted & ANY != 0 { set != 0 } else { set == wanted as u32 };
    is_enough.then_some(i64::from(set))
}

impl Objects {
    fn flags(&mut self, party: Party, handle: u64) -> Result<(usize, &mut Flags), i64> {
        let index = self.find(party, handle).ok_or(error::EINVAL)?;
        match &mut self.objects[index].kind {
            Some(Kind::Flags(flags)) => Ok((index, flags)),
            _ => Err(error::EINVAL),
        }
    }

    /// Waits for bits, if the caller may wait.
    pub fn flags_wait(&mut self, party: Party, handle: u64, wanted: u64, may_wait: bool) -> Outcome {
        let (index, flags) = match self.flags(party, handle) {
            Ok(found) => found,
            Err(error) => return Outcome::Done(error),
        };
        if wanted as u32 == 0 || wanted >= ANY << 1 {
            return Outcome::Done(error::EINVAL);
        }
        match found(flags.bits, wanted) {
            Some(set) => {
                if flags.are_taken {
                    flags.bits &= !(set as u32);
                }
                Outcome::Done(set)
            }
            None if may_wait => {
                self.parties[party].wait.bits = wanted;
                self.enqueue(party, index)
            }
            None => Outcome::Done(error::EAGAIN),
        }
    }

    /// Sets bits, and wakes those for whom they are enough, the most urgent first. If bits are
    /// taken, they are for one party, unless they are for all that wait now.
    pub fn flags_set(&mut self, party: Party, handle: u64, set: u64, for_all: bool) -> Done {
        let (index, flags) = self.flags(party, handle)?;
        flags.bits |= u32::try_from(set).map_err(|_| error::EINVAL)?;
        let are_taken = flags.are_taken;
        let (mut value, mut taken) = (flags.bits, 0);
        let mut waiters = self.objects[index].waiters;
        while let Some(waiter) = self.first_of(waiters) {
            waiters &= !(1 << waiter);
            let Some(set) = found(value, self.parties[waiter].wait.bits) else { continue };
            self.wake(waiter, set);
            if are_taken {
                taken |= set as u32;
                value &= if for_all { u32::MAX } else { !(set as u32) };
            }
        }
        let (_, flags) = self.flags(party, handle)?;
        flags.bits &= !taken;
        Ok(0)
    }

    /// Clears bits; returns the value before.
    pub fn flags_clear(&mut self, party: Party, handle: u64, clear: u64) -> Done {
        let (_, flags) = self.flags(party, handle)?;
        let before = flags.bits;
        flags.bits &= !(clear as u32);
        Ok(before.into())
    }
}
