//! Objects with names, which several processes use. Linux's kernel states the name, and who asks
//! for it ([`Naming`](pillion_abi::dual::Naming)), in the slot: no process can write that.

use crate::answer::Thread;
use crate::place;
use pillion_abi::dual::{flag, service};
use pillion_dual::objects::{Party, Wanted, error};

impl Thread<'_> {
    /// Whether the call is none of those with a name, or the one that Linux offered the thread at.
    pub fn may_name(&self, number: u64) -> bool {
        let names = number == service::OPEN || number == service::UNLINK;
        !names || self.offer.flags & flag::NAMED != 0 && self.counts.calls == 0
    }

    fn wanted(&self) -> Result<Wanted, i64> {
        Wanted::new(&self.place.naming())
    }

    /// Opens an object, or makes it: in the place of those of processes that have ended, if there
    /// is no other.
    pub fn open(&self, party: Party) -> i64 {
        let wanted = match self.wanted() {
            Ok(wanted) => wanted,
            Err(error) => return error,
        };
        self.with(|objects| match objects.open(party, &wanted) {
            error::ENOSPC => {
                objects.sweep(place::memory);
                objects.open(party, &wanted)
            }
            result => result,
        })
    }

    /// Removes a name.
    pub fn unlink(&self) -> i64 {
        self.wanted().map_or_else(|error| error, |wanted| self.with(|objects| objects.unlink(&wanted)))
    }
}
