//! Objects with names, which several processes use. Linux's kernel states the name, and who asks
//! for it ([`Naming`](pillion_abi::dual::Naming)), in the slot: no process can write that.

use crate::answer::Thread;
use pillion_abi::dual::{flag, object, service};
use pillion_dual::objects::{Party, Wanted, error};

/// Whether the broker keeps such objects.
fn is_kept(wanted: &Wanted) -> bool {
    matches!(wanted.kind, object::SEMAPHORE | object::QUEUE)
}

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
        match self.open_once(party, &wanted) {
            error::ENOSPC => {
                self.sweep();
                self.open_once(party, &wanted)
            }
            result => result,
        }
    }

    fn open_once(&self, party: Party, wanted: &Wanted) -> i64 {
        if is_kept(wanted) {
            // What is owed has places in the broker.
            self.pay();
            return self.open_kept(party, wanted).unwrap_or_else(|error| error);
        }
        if !self.may_rise_to(wanted.kind, wanted.value) {
            return error::EPERM;
        }
        self.with(|objects| objects.open(party, wanted))
    }

    /// Closes an object with a name.
    pub fn close(&self, party: Party, handle: u64) -> Result<i64, i64> {
        let done = self.with(|objects| objects.close(party, handle));
        self.pay();
        done
    }

    /// Removes a name.
    pub fn unlink(&self) -> i64 {
        let unlinked = self.wanted().and_then(|wanted| match is_kept(&wanted) {
            true => self.unlink_kept(&wanted),
            false => Ok(self.with(|objects| objects.unlink(&wanted))),
        });
        unlinked.unwrap_or_else(|error| error)
    }
}
