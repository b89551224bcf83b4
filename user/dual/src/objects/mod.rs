//! Objects on which threads in primary mode wait for each other: semaphores, mutexes, condition
//! variables, flags; and threads' periods.
//!
//! All of it is bounded: the objects, the threads that are known ([`Party`]), and the time of each
//! operation. An operation never waits: it has a result, or it leaves the caller in a queue, and
//! says whom to signal and whose urgency changed ([`Objects::take_effects`]). Whatever Linux and
//! its processes state, the worst that happens is that their objects do not work.

mod condition;
mod flags;
pub mod futex;
mod mutex;
mod party;
mod period;
mod semaphore;
#[cfg(test)]
mod tests;
mod wait;

pub use party::{Identity, PARTIES, Party};
pub use wait::{Cut, Outcome};

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
    pub const EINTR: i64 = -4;
    pub const EAGAIN: i64 = -11;
    pub const EBUSY: i64 = -16;
    pub const EINVAL: i64 = -22;
    pub const ENOSPC: i64 = -28;
    pub const EDEADLK: i64 = -35;
    pub const EIDRM: i64 = -43;
    pub const EOVERFLOW: i64 = -75;
    pub const ETIMEDOUT: i64 = -110;
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
    Flags { bits: u32 },
}

#[derive(Clone, Copy, Debug)]
struct Object {
    /// `None`: there is none.
    kind: Option<Kind>,
    memory: u8,
    generation: u32,
    /// The parties that wait for it, as bits.
    waiters: u64,
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
    parties: [Known; PARTIES],
    inheritance: Inheritance<u8>,
    /// The number of each memory that has objects here; see [`pillion_abi::dual::Dual::memories`].
    memories: [u64; MEMORIES],
    /// Parties that wait for futexes, as bits.
    futex_waiters: u64,
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
            objects: [Object { kind: None, memory: 0, generation: 0, waiters: 0 }; OBJECTS],
            parties: [Known::NONE; PARTIES],
            inheritance: Inheritance::new(0),
            memories: [0; MEMORIES],
            futex_waiters: 0,
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
        let kind = match kind {
            object::SEMAPHORE if value <= semaphore::MOST.into() && flags == 0 => {
                Kind::Semaphore { value: value as u32 }
            }
            object::MUTEX if value == 0 => Kind::Mutex(mutex::Mutex::new(flags).ok_or(error::EINVAL)?),
            object::CONDITION if value == 0 && flags == 0 => Kind::Condition,
            object::FLAGS if value <= u32::MAX.into() && flags == 0 => Kind::Flags { bits: value as u32 },
            _ => return Err(error::EINVAL),
        };
        let memory = self.parties[party].memory().ok_or(error::EAGAIN)?;
        let of_memory = self.objects.iter().filter(|object| object.kind.is_some() && object.memory == memory).count();
        let free = self.objects.iter().position(|object| object.kind.is_none());
        let index = free.filter(|_| of_memory < OBJECTS_OF_ONE).ok_or(error::ENOSPC)?;
        let object = &mut self.objects[index];
        // Handle 0 is none.
        let generation = (object.generation + 1) % GENERATIONS;
        *object = Object { kind: Some(kind), memory, generation: generation.max(1), waiters: 0 };
        Ok(object.generation << INDEX_BITS | index as u32)
    }

    /// Ends an object. Threads that wait for it are an error, or are woken.
    pub fn destroy(&mut self, party: Party, handle: u64, by_force: bool) -> i64 {
        let Some(index) = self.find(party, handle) else { return error::EINVAL };
        let is_owned = matches!(self.objects[index].kind, Some(Kind::Mutex(mutex)) if mutex.owner.is_some());
        if is_owned || self.objects[index].waiters != 0 && !by_force {
            return error::EBUSY;
        }
        self.end_object(index);
        0
    }

    fn end_object(&mut self, index: usize) {
        while let Some(first) = self.first_waiter(index) {
            self.wake(first, error::EIDRM);
        }
        if let Some(Kind::Mutex(mutex::Mutex { owner: Some(owner), .. })) = self.objects[index].kind {
            self.parties[owner as usize].owned -= 1;
        }
        self.objects[index].kind = None;
    }

    /// The index of an object that a party may use.
    fn find(&self, party: Party, handle: u64) -> Option<usize> {
        let handle = u32::try_from(handle).ok()?;
        let index = (handle % (1 << INDEX_BITS)) as usize;
        let object = self.objects.get(index)?;
        let is_it = object.kind.is_some()
            && object.generation == handle >> INDEX_BITS
            && self.parties[party].memory() == Some(object.memory);
        is_it.then_some(index)
    }

    /// Makes a memory known by its number, and ends what an earlier one at the same index left.
    fn follow_memory(&mut self, memory: usize, number: u64) {
        if self.memories[memory] != number {
            self.end_memory(memory);
            self.memories[memory] = number;
        }
    }

    /// Ends what belongs to memories that have gone: `numbers` are those of today.
    pub fn sweep(&mut self, numbers: impl Fn(usize) -> u64) {
        for memory in 0..MEMORIES {
            if self.memories[memory] != 0 && self.memories[memory] != numbers(memory) {
                self.end_memory(memory);
            }
        }
    }

    fn end_memory(&mut self, memory: usize) {
        self.memories[memory] = 0;
        for index in 0..OBJECTS {
            if self.objects[index].kind.is_some() && usize::from(self.objects[index].memory) == memory {
                self.end_object(index);
            }
        }
        self.end_parties(memory);
    }
}

const _: () = assert!(OBJECTS == 1 << INDEX_BITS && MEMORIES <= u8::MAX as usize && PARTIES <= 64);
