//! Futexes with priority inheritance (`FUTEX_LOCK_PI` of futex(2)), while all who use one are in
//! primary mode. The futex says who owns it; here is who waits for it, and how urgent that makes
//! the owner. An owner that leaves primary mode sends its waiters to Linux, which raises it there.

#[cfg(all(test, not(loom)))]
mod tests;

use super::wait::Place;
use super::{Identity, Objects, Party, error};
use pillion_rt_core::inherit::bits;

/// The bits of a futex: the owner's number, and whether its owner has to ask for unlocking it.
const THREAD: u32 = 0x3fff_ffff;
const OWNER_DIED: u32 = 1 << 30;
const WAITERS: u32 = 1 << 31;

/// How often an operation is tried while threads change the futex.
const ATTEMPTS: u32 = 8;

/// Result of a wait for a futex that goes on in Linux, where its owner is.
pub const TO_LINUX: i64 = i64::MIN;

/// A futex in a process's memory, which the process's threads change at any time. `None`: it cannot
/// be accessed.
pub trait Word {
    /// Its value.
    fn load(&self) -> Option<u32>;
    /// Replaces a value by another one. Returns whether it had that value.
    fn exchange(&self, old: u32, new: u32) -> Option<bool>;
}

/// A thread in primary mode, which need not be known yet.
#[derive(Clone, Copy, Debug)]
pub struct Present {
    /// Its runner.
    pub runner: u8,
    /// Its priority in Linux.
    pub priority: u8,
}

/// What became of a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Locked {
    /// It has this result.
    Done(i64),
    /// The caller waits until [`Objects::result`] has one.
    Waits,
    /// It is Linux's, as the owner is in Linux.
    Inversion,
    /// It is Linux's.
    Linux,
}

impl Objects {
    /// Locks a futex for a party, or has it wait. `present` finds the threads of its process that
    /// are in primary mode, by their numbers: such a thread is detached when it leaves.
    pub fn futex_lock(
        &mut self,
        party: Party,
        address: u64,
        word: &impl Word,
        present: impl Fn(u32) -> Option<Present>,
    ) -> Locked {
        for _ in 0..ATTEMPTS {
            match self.try_futex_lock(party, address, word, &present) {
                None => return Locked::Linux,
                Some(None) => {}
                Some(Some(locked)) => return locked,
            }
        }
        Locked::Linux
    }

    /// The same once. `None`: it is Linux's; `Some(None)`: the futex has changed meanwhile.
    fn try_futex_lock(
        &mut self,
        party: Party,
        address: u64,
        word: &impl Word,
        present: impl Fn(u32) -> Option<Present>,
    ) -> Option<Option<Locked>> {
        let own = self.parties[party].identity?;
        let value = word.load()?;
        let owner = value & THREAD;
        if owner == own.thread {
            return Some(Some(Locked::Done(error::EDEADLK)));
        }
        if owner == 0 {
            let waiters = if self.futex_waiters(own.memory, address) != 0 { WAITERS } else { 0 };
            let is_locked = word.exchange(value, value & OWNER_DIED | waiters | own.thread)?;
            return Some(is_locked.then_some(Locked::Done(0)));
        }
        let Some(found) = present(owner) else { return Some(Some(Locked::Inversion)) };
        let owner = self.present_party(Identity { thread: owner, ..own }, found)?;
        if self.inheritance.closes_circle(party, owner) {
            return Some(Some(Locked::Done(error::EDEADLK)));
        }
        if !word.exchange(value, value | WAITERS)? {
            return Some(None);
        }
        self.begin_wait(party, Place::Futex { address, owner });
        self.futex_waiters |= 1 << party;
        self.effects.changed |= self.inheritance.wait(party, owner);
        Some(Some(Locked::Waits))
    }

    /// A thread in primary mode, known from now on if it was not.
    pub(super) fn present_party(&mut self, identity: Identity, Present { runner, priority }: Present) -> Option<Party> {
        let number = self.memories[usize::from(identity.memory)];
        self.attach(identity, number, runner, priority).ok()
    }

    /// Unlocks a futex of a thread, and hands it to the first of those that wait for it. `None`: it
    /// is Linux's.
    pub fn futex_unlock(&mut self, own: Identity, address: u64, word: &impl Word) -> Option<i64> {
        // So it is where the owner asks because others wait.
        let mut value = own.thread | WAITERS;
        for _ in 0..ATTEMPTS {
            if value & THREAD != own.thread {
                return Some(error::EPERM);
            }
            let waiters = self.futex_waiters(own.memory, address);
            let next = self.first_of(waiters);
            let new = next.map_or(0, |next| self.locked_for(next, waiters & !(1 << next)));
            if word.exchange(value, new)? {
                if let Some(next) = next {
                    self.hand_futex(next, waiters);
                }
                return Some(0);
            }
            value = word.load()?;
        }
        None
    }

    /// The value of a futex that a party owns while others wait for it.
    fn locked_for(&self, party: Party, others: u64) -> u32 {
        let thread = self.parties[party].identity.map_or(0, |identity| identity.thread);
        thread | if others == 0 { 0 } else { WAITERS }
    }

    /// The party owns what it has waited for; the others wait for it now.
    #[inline(always)]
    fn hand_futex(&mut self, next: Party, waiters: u64) {
        self.wake(next, 0);
        for waiter in bits(waiters & !(1 << next)) {
            if let Some(Place::Futex { owner, .. }) = &mut self.parties[waiter].wait.place {
                *owner = next;
            }
            self.effects.changed |= self.inheritance.wait(waiter, next);
        }
    }

    /// The parties that wait for a futex, as bits.
    #[inline(always)]
    fn futex_waiters(&self, memory: u8, address: u64) -> u64 {
        let waits = |party: &usize| {
            let known = &self.parties[*party];
            known.memory() == Some(memory) && known.wait.place.is_some_and(|place| place.is_futex(address))
        };
        bits(self.futex_waiters).filter(waits).fold(0, |all, party| all | 1 << party)
    }

    /// An owner leaves primary mode: those that wait for its futexes go on in Linux.
    pub(super) fn leave_futexes(&mut self, owner: Party) {
        for waiter in bits(self.futex_waiters) {
            if matches!(self.parties[waiter].wait.place, Some(Place::Futex { owner: one, .. }) if one == owner) {
                self.wake(waiter, TO_LINUX);
            }
        }
    }
}
