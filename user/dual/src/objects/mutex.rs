//! Mutexes. One that is unlocked goes to its first waiter, so that no other thread comes between.

use super::dead::STEP;
use super::futex::TO_LINUX;
use super::wait::Place;
use super::{Done, Kind, OBJECTS, Objects, Outcome, Party, error};
use pillion_abi::dual::object::{CEILING_MAX, CHECKED, INHERIT, RECURSIVE, ROBUST};
use pillion_rt_core::inherit::bits;

/// How often a recursive mutex can be locked.
const DEPTH: u32 = u16::MAX as u32;

/// What a mutex guards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Guarded {
    Consistent,
    /// Its owner ended, and nobody has been told.
    Orphaned,
    /// Its owner has been told.
    Inconsistent,
    /// Whoever was told unlocked it nevertheless.
    Lost,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mutex {
    flags: u64,
    /// Its owner is at least as urgent; 0: it has none.
    pub ceiling: u8,
    /// The address of its word; 0: it has none ([`super::word`]).
    pub word: u64,
    /// A party.
    pub owner: Option<u8>,
    /// How often it was locked again.
    depth: u32,
    guarded: Guarded,
}

impl Mutex {
    /// `None` if the flags are unknown, or exclude each other or a ceiling.
    pub fn new(ceiling: u64, flags: u64) -> Option<Mutex> {
        let both = RECURSIVE | CHECKED;
        let is_one = flags & !(INHERIT | ROBUST | both) == 0 && flags & both != both;
        let is_level = ceiling == 0 || ceiling <= CEILING_MAX && flags & INHERIT == 0;
        (is_one && is_level).then_some(Mutex {
            flags,
            ceiling: ceiling as u8,
            word: 0,
            owner: None,
            depth: 0,
            guarded: Guarded::Consistent,
        })
    }

    /// One with a word. How often it is locked is known there only, so it is not recursive here.
    pub fn with_word(flags: u64, at: u64) -> Option<Mutex> {
        let is_possible = flags & (RECURSIVE | ROBUST) == 0 && at != 0 && at.is_multiple_of(4);
        Mutex::new(0, flags).filter(|_| is_possible).map(|mutex| Mutex { word: at, ..mutex })
    }

    /// Its next owner is told what became of the last one: returns the result of its lock.
    fn tell(&mut self) -> Option<i64> {
        if self.guarded != Guarded::Orphaned {
            return None;
        }
        self.guarded = if self.flags & ROBUST != 0 { Guarded::Inconsistent } else { Guarded::Consistent };
        Some(error::EOWNERDEAD)
    }

    /// Whether its owner is as urgent as its waiters. With a ceiling, it nearly always is already,
    /// but a waiter can have inherited more.
    fn inherits(&self) -> bool {
        self.flags & INHERIT != 0 || self.ceiling != 0
    }
}

impl Objects {
    fn mutex(&mut self, party: Party, handle: u64) -> Result<(usize, &mut Mutex), i64> {
        let index = self.find(party, handle).ok_or(error::EINVAL)?;
        match &mut self.objects[index].kind {
            Some(Kind::Mutex(mutex)) => Ok((index, mutex)),
            _ => Err(error::EINVAL),
        }
    }

    /// Locks a mutex, or waits for it if the caller may wait. A caller that is more urgent than its
    /// ceiling may not have it.
    pub fn mutex_lock(&mut self, party: Party, handle: u64, may_wait: bool) -> Outcome {
        let base = self.parties[party].base;
        match self.mutex(party, handle) {
            Ok((_, mutex)) if mutex.ceiling != 0 && base > mutex.ceiling => Outcome::Done(error::EINVAL),
            _ => self.mutex_lock_above(party, handle, may_wait),
        }
    }

    /// The same without regard to its ceiling, for a caller that wants to change that.
    pub fn mutex_lock_above(&mut self, party: Party, handle: u64, may_wait: bool) -> Outcome {
        let (index, mutex) = match self.mutex(party, handle) {
            Ok(found) => found,
            Err(error) => return Outcome::Done(error),
        };
        if mutex.owner == Some(party as u8) {
            if mutex.flags & RECURSIVE != 0 {
                let is_deepest = mutex.depth == DEPTH;
                mutex.depth += u32::from(!is_deepest);
                return Outcome::Done(if is_deepest { error::EAGAIN } else { 0 });
            }
            if may_wait && mutex.flags & CHECKED != 0 {
                return Outcome::Done(error::EDEADLK);
            }
        }
        if mutex.owner.is_some() && !may_wait {
            return Outcome::Done(error::EBUSY);
        }
        self.parties[party].wait.then = 0;
        self.acquire(party, index)
    }

    /// Has a party that waits for a mutex go to Linux if the owner does: it wants to be told.
    pub fn tell_of_owner(&mut self, party: Party) {
        self.parties[party].wait.is_told = true;
    }

    /// An owner leaves primary mode: those that wait for its mutexes and want to be told go to
    /// Linux for that, and wait again afterwards.
    pub(super) fn owner_leaves(&mut self, owner: Party) {
        if self.parties[owner].owned == 0 {
            return;
        }
        for waiter in 0..super::PARTIES {
            let wait = self.parties[waiter].wait;
            let is_its = |index: u16| self.owner(index.into()) == Some(owner);
            if wait.is_told && matches!(wait.place, Some(Place::Object(index)) if is_its(index)) {
                self.wake(waiter, TO_LINUX);
            }
        }
    }

    /// Makes a party the owner of a mutex, or queues it. The result is [`super::wait::Wait::then`],
    /// or EOWNERDEAD if the last owner ended: then, too, the party is the owner.
    fn acquire(&mut self, party: Party, index: usize) -> Outcome {
        let Some(Kind::Mutex(mutex)) = &mut self.objects[index].kind else { return Outcome::Done(error::EINVAL) };
        match (mutex.owner, mutex.inherits()) {
            (None, _) if mutex.guarded == Guarded::Lost => Outcome::Done(error::ENOTRECOVERABLE),
            (None, _) => {
                mutex.owner = Some(party as u8);
                let (told, ceiling) = (mutex.tell(), mutex.ceiling);
                self.gains(party, ceiling);
                Outcome::Done(told.unwrap_or(self.parties[party].wait.then))
            }
            (Some(owner), inherits) => {
                self.enqueue(party, index);
                if inherits {
                    self.effects.changed |= self.inheritance.wait(party, owner.into());
                }
                Outcome::Waits
            }
        }
    }

    /// Unlocks a mutex of the caller's.
    pub fn mutex_unlock(&mut self, party: Party, handle: u64) -> Done {
        let (index, mutex) = self.mutex(party, handle)?;
        if mutex.owner != Some(party as u8) {
            return Err(error::EPERM);
        }
        if mutex.depth > 0 {
            mutex.depth -= 1;
        } else {
            self.hand_over(index);
        }
        Ok(0)
    }

    /// The owner has ended: the next owner is told.
    pub(super) fn lose_owner(&mut self, index: usize) {
        if let Some(Kind::Mutex(mutex)) = &mut self.objects[index].kind {
            mutex.guarded = Guarded::Orphaned;
        }
        self.hand_over(index);
    }

    /// The owner of a robust mutex that was told of the end of the last one has mended what the
    /// mutex guards.
    pub fn mutex_consistent(&mut self, party: Party, handle: u64) -> Done {
        let (_, mutex) = self.mutex(party, handle)?;
        if mutex.owner != Some(party as u8) || mutex.guarded != Guarded::Inconsistent {
            return Err(error::EINVAL);
        }
        mutex.guarded = Guarded::Consistent;
        Ok(0)
    }

    /// Nobody has a mutex any more.
    fn give_up(&mut self, index: usize) {
        self.disowns(index);
        while let Some(first) = self.first_waiter(index) {
            self.wake(first, error::ENOTRECOVERABLE);
        }
    }

    /// Gives a mutex to its first waiter; nobody owns it if there is none.
    pub(super) fn hand_over(&mut self, index: usize) {
        let next = self.first_waiter(index);
        let Some(Kind::Mutex(mutex)) = &mut self.objects[index].kind else { return };
        if mutex.guarded == Guarded::Inconsistent {
            mutex.guarded = Guarded::Lost;
            return self.give_up(index);
        }
        let (inherits, ceiling) = (mutex.inherits(), mutex.ceiling);
        mutex.depth = 0;
        let told = next.and_then(|_| mutex.tell());
        if let Some(before) = core::mem::replace(&mut mutex.owner, next.map(|next| next as u8)) {
            self.loses(before.into(), ceiling);
        }
        let Some(next) = next else { return };
        self.gains(next, ceiling);
        self.wake(next, told.unwrap_or(self.parties[next].wait.then));
        if inherits {
            for waiter in bits(self.objects[index].waiters) {
                self.effects.changed |= self.inheritance.wait(waiter, next);
            }
        }
    }

    /// A party owns a mutex that nobody is said to own.
    pub(super) fn becomes_owner(&mut self, party: Party, index: usize) {
        if let Some(Kind::Mutex(mutex)) = &mut self.objects[index].kind {
            mutex.owner = Some(party as u8);
            let ceiling = mutex.ceiling;
            self.gains(party, ceiling);
        }
    }

    /// Nobody is said to own a mutex any more.
    pub(super) fn disowns(&mut self, index: usize) {
        if let Some(Kind::Mutex(mutex)) = &mut self.objects[index].kind
            && let (Some(owner), ceiling) = (mutex.owner.take(), mutex.ceiling)
        {
            self.loses(owner.into(), ceiling);
        }
    }

    /// A party owns one mutex more.
    fn gains(&mut self, party: Party, ceiling: u8) {
        let known = &mut self.parties[party];
        known.owned += 1;
        if ceiling > known.ceiling {
            known.ceiling = ceiling;
            self.follow_ceiling(party);
        }
    }

    /// It owns one less, which it is not said to own any more. One that has gone goes with all of
    /// them: nobody has to look which ceiling is the highest that is left.
    pub(super) fn loses(&mut self, party: Party, ceiling: u8) {
        self.parties[party].owned -= 1;
        if ceiling != 0 && ceiling == self.parties[party].ceiling && self.memory(party).is_some() {
            self.find_ceiling(party);
        }
    }

    /// Looks for the highest ceiling of those that a party owns.
    fn find_ceiling(&mut self, party: Party) {
        let of_party = |object: &super::Object| match object.kind {
            Some(Kind::Mutex(mutex)) if mutex.owner == Some(party as u8) => Some(mutex.ceiling),
            _ => None,
        };
        // Nearly always, it owns none.
        let owns = self.parties[party].owned != 0;
        self.parties[party].ceiling =
            if owns { self.objects.iter().filter_map(of_party).max().unwrap_or(0) } else { 0 };
        self.follow_ceiling(party);
    }

    /// The ceiling of a mutex; sets another one, unless that is 0, with which its owner rises or
    /// falls.
    pub fn mutex_ceiling(&mut self, party: Party, handle: u64, ceiling: u64) -> Done {
        let (_, mutex) = self.mutex(party, handle)?;
        if mutex.ceiling == 0 || ceiling > CEILING_MAX {
            return Err(error::EINVAL);
        }
        let before = mutex.ceiling;
        if ceiling != 0 {
            mutex.ceiling = ceiling as u8;
            if let Some(owner) = mutex.owner {
                self.find_ceiling(owner.into());
            }
        }
        Ok(before.into())
    }

    /// For a condition: unlocks a mutex that the caller has locked once.
    pub(super) fn unlock_for_condition(&mut self, party: Party, handle: u64) -> Done {
        let (index, mutex) = self.mutex(party, handle)?;
        if mutex.owner != Some(party as u8) || mutex.depth != 0 {
            return Err(error::EPERM);
        }
        self.hand_over(index);
        Ok(0)
    }

    /// After a condition: locks the mutex, or waits for it. Returns the result, if there is one.
    pub(super) fn lock_again(&mut self, party: Party, then: i64) -> Option<i64> {
        self.parties[party].wait.then = then;
        let outcome = match self.mutex(party, self.parties[party].wait.mutex) {
            Ok((index, _)) => {
                self.bury_at(index);
                self.acquire(party, index)
            }
            Err(error) => Outcome::Done(error),
        };
        match outcome {
            Outcome::Done(result) => Some(result),
            Outcome::Waits => {
                self.parties[party].wait.again = true;
                None
            }
        }
    }

    /// Unlocks a few of the mutexes that a thread that ends has locked, from that index on. Returns
    /// where to go on; `None`: there are no more, and its periods have ended as well.
    pub fn thread_ends(&mut self, party: Party, from: usize) -> Option<usize> {
        // It goes with all of them: nobody has to look which is the highest that is left.
        self.parties[party].ceiling = 0;
        let mut left = STEP;
        for index in from..OBJECTS {
            match self.objects[index].kind {
                Some(Kind::Mutex(mutex)) if mutex.owner == Some(party as u8) => {
                    if left == 0 {
                        return Some(index);
                    }
                    left -= 1;
                    if mutex.flags & ROBUST != 0 {
                        self.lose_owner(index);
                    } else {
                        self.hand_over(index);
                    }
                }
                _ => {}
            }
        }
        self.follow_ceiling(party);
        self.parties[party].period = None;
        None
    }
}
