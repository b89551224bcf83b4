//! Objects that the broker keeps, because RTLinux tasks use them too: semaphores and message queues
//! with names. Here is who has them open, and who may.
//!
//! The broker counts how often the task has such an object open: once for each process that has,
//! and once for each that no longer has, but is still owed ([`Objects::first_owed`]). A runner pays
//! that without the lock. Until then the object stays here, so that nobody finds it in the broker
//! whose rights are not known.

use super::named::{Rights, Wanted};
use super::{Kind, MEMORIES, OBJECTS, Objects, Party, error};

/// Closes of an object that the broker has not been told of, from which on nobody opens it: a
/// process that opens and closes it again and again, while a less urgent runner tells the broker,
/// waits then. Those that have it open can still close it.
const OWED: u8 = 64;

const _: () = assert!(OWED as usize + MEMORIES <= u8::MAX as usize);

/// What the broker calls an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    /// A queue; else a semaphore.
    pub is_queue: bool,
    /// The broker's handle.
    pub handle: u32,
}

/// Where an object comes from that the task has just opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// This open made it.
    Made,
    /// A process made it, by an earlier open.
    Process,
    /// A task made it.
    Task,
}

impl Objects {
    /// Has a party's process open an object that the task has just opened once more. Returns its
    /// handle, and whether the process needs that open: if not, or with an error, the broker is to
    /// be told of a close.
    pub fn adopt(&mut self, party: Party, wanted: &Wanted, kept: Kept, from: Origin) -> Result<(u32, bool), i64> {
        let memory = self.memory(party).ok_or(error::EAGAIN)?;
        let Some(index) = self.index_of(kept) else {
            let rights = match from {
                Origin::Made => wanted.rights(),
                Origin::Task => Rights::OF_TASKS,
                // Tasks still have it open, or the last process closed it after this open.
                Origin::Process if wanted.asker.privileged => wanted.rights(),
                Origin::Process => return Err(error::FORGOTTEN),
            };
            return Ok((self.make_shared(memory, Kind::Kept(kept), wanted.name, rights)?, true));
        };
        if !self.rights(index).is_some_and(|rights| rights.let_in(&wanted.asker)) {
            return Err(error::EACCES);
        }
        let is_new = !self.objects[index].is_open_in(memory);
        if is_new && self.objects[index].owed >= OWED {
            return Err(error::EAGAIN);
        }
        Ok((self.open_in(memory, index)?, is_new))
    }

    /// Whether somebody may remove the name of an object: its owner; of a task's, the superuser.
    #[must_use]
    pub fn may_unlink(&self, wanted: &Wanted, kept: Kept) -> bool {
        let rights = self.index_of(kept).and_then(|index| self.rights(index));
        rights.unwrap_or(Rights::OF_TASKS).belong_to(&wanted.asker)
    }

    /// What a party's handle stands for, if the broker keeps it.
    #[must_use]
    pub fn kept(&self, party: Party, handle: u64) -> Option<Kept> {
        match self.objects[self.find(party, handle)?].kind {
            Some(Kind::Kept(kept)) => Some(kept),
            _ => None,
        }
    }

    fn index_of(&self, kept: Kept) -> Option<usize> {
        self.objects.iter().position(|object| object.kind == Some(Kind::Kept(kept)))
    }

    /// A process no longer has an object open.
    pub(super) fn owe(&mut self, index: usize) {
        self.objects[index].owed += 1;
        self.owed += 1;
    }

    /// An object of which the broker has to be told that it was closed once, and nobody does that
    /// yet. The caller does, and says so by [`Objects::paid`].
    pub fn first_owed(&mut self) -> Option<(usize, Kept)> {
        if self.owed == 0 {
            return None;
        }
        (0..OBJECTS).find_map(|index| match self.objects[index] {
            object if object.owed == 0 || object.is_closing => None,
            super::Object { kind: Some(Kind::Kept(kept)), .. } => {
                self.objects[index].is_closing = true;
                Some((index, kept))
            }
            _ => None,
        })
    }

    /// Whether a runner without a thread has something to do: the broker has to be told of a close,
    /// or the dead have something here.
    #[must_use]
    pub fn owes(&self) -> bool {
        self.owed != 0 || self.has_dead()
    }

    /// The broker has been told.
    pub fn paid(&mut self, index: usize) {
        let object = &mut self.objects[index];
        if !core::mem::take(&mut object.is_closing) {
            return;
        }
        object.owed -= 1;
        let is_over = object.owed == 0 && object.memories == 0;
        self.owed -= 1;
        if is_over {
            self.end_object(index);
        }
    }
}
