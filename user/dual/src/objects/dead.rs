//! What belonged to processes that have ended. One can leave as many objects and threads as it may
//! have, so they are ended a few each time that the lock is held, by whoever has time for it.
//! Nobody else has to wait for that: what the dead have of an object is ended first when a thread
//! uses it ([`Objects::bury`]), and they are not found themselves.

use super::wait::Place;
use super::{INDEX_BITS, MEMORIES, OBJECTS, Objects, Party};
use pillion_rt_core::inherit::bits;

/// Objects and threads that are ended each time that the lock is held.
pub(super) const STEP: usize = 16;

#[derive(Clone, Copy, Debug)]
pub(super) struct Dead {
    /// Memories that have gone, and may have something here, as bits.
    memories: u32,
    /// Those whose objects before [`Dead::next`] have been ended.
    passed: u32,
    next: usize,
}

impl Dead {
    pub const NONE: Dead = Dead { memories: 0, passed: 0, next: 0 };
}

impl Objects {
    /// Finds out which memories have gone: `numbers` are those of today.
    pub fn miss(&mut self, numbers: impl Fn(usize) -> u64) {
        for memory in 0..MEMORIES {
            if self.memories[memory] != 0 && self.memories[memory] != numbers(memory) {
                self.dead.memories |= 1 << memory;
            }
        }
    }

    /// Whether memories that have gone may have something here.
    #[must_use]
    pub fn has_dead(&self) -> bool {
        self.dead.memories != 0
    }

    /// The memory of a party, if it has not gone.
    pub(super) fn memory(&self, party: Party) -> Option<u8> {
        self.parties[party].memory().filter(|memory| self.dead.memories >> memory & 1 == 0)
    }

    /// Ends a few of what the dead have. Returns whether there is more.
    pub fn sweep_some(&mut self) -> bool {
        if !self.has_dead() {
            return false;
        }
        if self.dead.next == 0 {
            self.dead.passed = self.dead.memories;
        }
        let mut ended = 0;
        while self.dead.next < OBJECTS {
            ended += usize::from(self.bury_at(self.dead.next));
            self.dead.next += 1;
            if ended == STEP {
                return true;
            }
        }
        let passed = self.dead.passed;
        if !self.end_parties(passed, STEP - ended) {
            return true;
        }
        bits(passed.into()).for_each(|memory| self.memories[memory] = 0);
        self.dead = Dead { memories: self.dead.memories & !passed, ..Dead::NONE };
        self.has_dead()
    }

    /// Ends what the dead have of the objects with these handles.
    pub fn bury(&mut self, handles: [u64; 2]) {
        for handle in handles {
            self.bury_at((handle % (1 << INDEX_BITS)) as usize);
        }
    }

    /// The same of the object that a party waits for.
    pub fn bury_for(&mut self, party: Party) {
        if let Some(Place::Object(index)) = self.parties[party].wait.place {
            self.bury_at(index.into());
        }
    }

    /// The same of an object by its index. Returns whether it was one of theirs.
    pub(super) fn bury_at(&mut self, index: usize) -> bool {
        let object = &self.objects[index];
        let dead = if object.kind.is_some() { object.memories & self.dead.memories } else { 0 };
        bits(dead.into()).for_each(|memory| self.leave(index, memory));
        dead != 0
    }
}

const _: () = assert!(OBJECTS == 1 << INDEX_BITS && MEMORIES == u32::BITS as usize);
