//! Objects on which threads in primary mode wait for each other: semaphores, mutexes, condition
//! variables, flags; and threads' periods.
//!
//! All of it is bounded: the objects, the threads that are known ([`Party`]), and the time of each
//! operation. An operation never waits: it has a result, or it leaves the caller in a queue, and
//! says whom to signal and whose urgency changed ([`Objects::take_effects`]). Whatever Linux and
//! its processes state, the worst that happens is that their objects do not work.

mod condition;
mod dead;
#[cfg(test)]
mod dead_tests;
mod flags;
pub mod futex;
mod kept;
mod mutex;
#[cfg(test)]
mod mutex_tests;
mod named;
#[cfg(test)]
mod named_tests;
mod party;
mod period;
mod semaphore;
#[cfg(test)]
mod tests;
mod wait;
mod word;

pub use kept::{Kept, Origin};
pub use named::Wanted;
pub use party::{Identity, PARTIES, Party};
pub use wait::{Cut, Outcome};
pub use word::Words;

use party::Known;
use pillion_abi::dual::{MEMORIES, object};
use pillion_rt_core::inherit::Inheritance;

/// Maximum number of objects.
pub const OBJECTS: usize = 256;
/// Maximum number of objects of a process.
pub const OBJECTS_OF_ONE: usize = 128;

/// Errors, as Linux numbers them.
pub mod error {
    #![allow(missing_docs, reason = "the names of the errors")]
    pub const EPERM: i64 = -1;
    pub const ENOENT: i64 = -2;
    pub const EINTR: i64 = -4;
    pub const EIO: i64 = -5;
    pub const EAGAIN: i64 = -11;
    pub const EACCES: i64 = -13;
    pub const EFAULT: i64 = -14;
    pub const EBUSY: i64 = -16;
    pub const EEXIST: i64 = -17;
    pub const EINVAL: i64 = -22;
    pub const ENOSPC: i64 = -28;
    pub const EDEADLK: i64 = -35;
    pub const ENAMETOOLONG: i64 = -36;
    pub const EIDRM: i64 = -43;
    pub const EOVERFLOW: i64 = -75;
    pub const EMSGSIZE: i64 = -90;
    pub const EOPNOTSUPP: i64 = -95;
    pub const ETIMEDOUT: i64 = -110;
    pub const EOWNERDEAD: i64 = -130;
    pub const ENOTRECOVERABLE: i64 = -131;
    /// It is not the caller's: the broker keeps the object.
    pub const ELSEWHERE: i64 = i64::MIN;
    /// It is not the caller's: whose the object was is not known any more.
    pub const FORGOTTEN: i64 = i64::MIN + 1;
}

/// Bits of a handle that are the object's index; the rest, but for the sign of 32 bits, counts the
/// objects that have had it.
const INDEX_BITS: u32 = 8;
const GENERATIONS: u32 = 1 << (31 - INDEX_BITS);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Semaphore { value: u32 },
    Mutex(mutex::Mutex),
    Condition,
    Flags(flags::Flags),
    Kept(Kept),
}

impl Kind {
    /// A new object of that kind; `None`: there is none such.
    fn new(kind: u64, value: u64, flags: u64) -> Option<Kind> {
        match kind {
            object::SEMAPHORE if value <= semaphore::MOST.into() && flags == 0 => {
                Some(Kind::Semaphore { value: value as u32 })
            }
            object::MUTEX => mutex::Mutex::new(value, flags).map(Kind::Mutex),
            object::CONDITION if value == 0 && flags == 0 => Some(Kind::Condition),
            object::FLAGS => flags::Flags::new(value, flags).map(Kind::Flags),
            _ => None,
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Object {
    /// `None`: there is none.
    kind: Option<Kind>,
    /// The memories in which it can be used, as bits: one, or those that have opened it.
    memories: u32,
    /// It was opened by its name.
    is_shared: bool,
    generation: u32,
    /// The parties that wait for it, as bits.
    waiters: u64,
    /// See [`kept`].
    owed: u8,
    is_closing: bool,
}

impl Object {
    const NONE: Object =
        Object { kind: None, memories: 0, is_shared: false, generation: 0, waiters: 0, owed: 0, is_closing: false };

    fn is_open_in(&self, memory: u8) -> bool {
        self.kind.is_some() && self.memories >> memory & 1 == 1
    }

    fn handle(&self, index: usize) -> u32 {
        self.generation << INDEX_BITS | index as u32
    }
}

/// What an operation leaves to its caller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// Runners to be signalled, as bits.
    pub wakes: u32,
    /// Parties whose urgency changed, as bits.
    pub changed: u64,
}

/// All objects, and the threads that use them.
#[derive(Debug)]
pub struct Objects {
    objects: [Object; OBJECTS],
    names: [Option<named::Named>; named::NAMES],
    parties: [Known; PARTIES],
    inheritance: Inheritance<u8>,
    /// The number of each memory that has objects here; see [`pillion_abi::dual::Dual::memories`].
    memories: [u64; MEMORIES],
    dead: dead::Dead,
    /// Parties that wait for futexes, as bits.
    futex_waiters: u64,
    /// How many closes the broker has not been told of; see [`kept`].
    owed: u32,
    /// Waits so far: orders waiters of equal urgency.
    order: u64,
    effects: Effects,
}

/// An operation's result: an error is as good as a value.
type Done = Result<i64, i64>;

impl Default for Objects {
    fn default() -> Self {
        Objects::new()
    }
}

impl Objects {
    /// Without any.
    #[must_use]
    pub const fn new() -> Objects {
        Objects {
            objects: [Object::NONE; OBJECTS],
            names: [None; named::NAMES],
            parties: [Known::NONE; PARTIES],
            inheritance: Inheritance::new(0),
            memories: [0; MEMORIES],
            dead: dead::Dead::NONE,
            futex_waiters: 0,
            owed: 0,
            order: 0,
            effects: Effects { wakes: 0, changed: 0 },
        }
    }

    /// What has to be done since this was last asked.
    pub fn take_effects(&mut self) -> Effects {
        core::mem::take(&mut self.effects)
    }

    /// Makes an object; returns its handle.
    pub fn create(&mut self, party: Party, kind: u64, value: u64, flags: u64) -> i64 {
        match self.try_create(party, kind, value, flags) {
            Ok(handle) => i64::from(handle),
            Err(error) => error,
        }
    }

    fn try_create(&mut self, party: Party, kind: u64, value: u64, flags: u64) -> Result<u32, i64> {
        let kind = Kind::new(kind, value, flags).ok_or(error::EINVAL)?;
        self.add_object(party, kind)
    }

    fn add_object(&mut self, party: Party, kind: Kind) -> Result<u32, i64> {
        let memory = self.memory(party).ok_or(error::EAGAIN)?;
        let index = self.make(memory, kind)?;
        Ok(self.objects[index].handle(index))
    }

    /// Makes an object that is open in one memory. Returns its index.
    fn make(&mut self, memory: u8, kind: Kind) -> Result<usize, i64> {
        let of_memory = self.objects.iter().filter(|object| object.is_open_in(memory)).count();
        let free = self.objects.iter().position(|object| object.kind.is_none());
        let index = free.filter(|_| of_memory < OBJECTS_OF_ONE).ok_or(error::ENOSPC)?;
        // Handle 0 is none.
        let generation = ((self.objects[index].generation + 1) % GENERATIONS).max(1);
        self.objects[index] = Object { kind: Some(kind), memories: 1 << memory, generation, ..Object::NONE };
        Ok(index)
    }

    /// Ends an object without a name. Threads that wait for it are an error, or are woken.
    pub fn destroy(&mut self, party: Party, handle: u64, by_force: bool) -> i64 {
        let found = self.find(party, handle).filter(|index| !self.objects[*index].is_shared);
        let Some(index) = found else { return error::EINVAL };
        if self.owner(index).is_some() || self.objects[index].waiters != 0 && !by_force {
            return error::EBUSY;
        }
        self.end_object(index);
        0
    }

    fn end_object(&mut self, index: usize) {
        while let Some(first) = self.first_waiter(index) {
            self.wake(first, error::EIDRM);
        }
        if let Some(Kind::Mutex(mutex)) = self.objects[index].kind.take()
            && let Some(owner) = mutex.owner
        {
            self.loses(owner.into(), mutex.ceiling);
        }
        if self.objects[index].is_shared {
            self.forget_name(index);
        }
    }

    /// The owner of a mutex.
    fn owner(&self, index: usize) -> Option<Party> {
        match self.objects[index].kind {
            Some(Kind::Mutex(mutex)) => mutex.owner.map(usize::from),
            _ => None,
        }
    }

    /// The index of an object that a party may use.
    fn find(&self, party: Party, handle: u64) -> Option<usize> {
        let handle = u32::try_from(handle).ok()?;
        let index = (handle % (1 << INDEX_BITS)) as usize;
        let object = self.objects.get(index)?;
        let memory = self.memory(party)?;
        (object.is_open_in(memory) && object.generation == handle >> INDEX_BITS).then_some(index)
    }

    /// Makes a memory known by its number. Fails as long as an earlier one at the same index has
    /// something here.
    fn follow_memory(&mut self, memory: usize, number: u64) -> Result<(), i64> {
        match self.memories[memory] {
            0 => self.memories[memory] = number,
            known if known != number => return Err(error::EAGAIN),
            _ => {}
        }
        Ok(())
    }
}

const _: () = assert!(MEMORIES <= u8::MAX as usize && PARTIES <= 64);
