//! Named objects, and how often each task has each of them open.

use crate::Result;
use pillion_abi::channel::TASKS;
use pillion_runtime::broker::errno::{EBADF, EEXIST, ENFILE, ENOENT};
use pillion_runtime::broker::{Name, open};

/// Number of generations that a handle distinguishes: with the index in its low byte, a handle is
/// positive in 32 bits.
const GENERATIONS: u32 = 1 << 23;

/// The objects of one kind.
#[derive(Debug)]
pub struct Table<T, const N: usize> {
    entries: [Entry; N],
    objects: [T; N],
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// Its name and name space, until it is unlinked.
    name: Option<(u8, Name)>,
    /// Older objects in the same entry have handles of another generation.
    generation: u32,
    /// The task that made it, until that task ends: from then on the last task that closes it
    /// removes the name.
    maker: Option<u8>,
    /// The name goes with the last close, also while that task lives.
    passes: bool,
    /// How often each task has it open.
    holds: [u16; TASKS],
}

impl Entry {
    const FREE: Entry = Entry { name: None, generation: 0, maker: None, passes: false, holds: [0; TASKS] };

    fn is_free(&self) -> bool {
        self.name.is_none() && self.holds == [0; TASKS]
    }

    /// The task whose share it counts towards, if the entry is not free.
    fn payer(&self) -> Option<usize> {
        let maker = self.maker.map(usize::from).filter(|maker| self.name.is_some() || self.holds[*maker] != 0);
        maker.or_else(|| self.holds.iter().position(|n| *n != 0))
    }

    /// Removes the name if no task has the object open, and the maker has ended or left it.
    fn settle(&mut self) {
        if (self.maker.is_none() || self.passes) && self.holds == [0; TASKS] {
            self.name = None;
        }
    }

    fn hold(&mut self, task: usize) -> Result<()> {
        self.holds[task] = self.holds[task].checked_add(1).ok_or(ENFILE)?;
        Ok(())
    }
}

/// The result of an open.
#[derive(Debug, PartialEq, Eq)]
pub enum Opened {
    /// The object exists.
    Found(usize),
    /// The object must be made.
    Absent,
}

impl<T, const N: usize> Table<T, N> {
    /// A table whose entries are all free.
    pub const fn new(objects: [T; N]) -> Table<T, N> {
        Table { entries: [Entry::FREE; N], objects }
    }

    /// The object with this index.
    pub fn at(&mut self, index: usize) -> &mut T {
        &mut self.objects[index]
    }

    /// All objects, in use or not.
    pub fn all(&self) -> &[T; N] {
        &self.objects
    }

    /// The index behind a task's handle.
    pub fn index(&self, handle: u32, task: usize) -> Result<usize> {
        let index = (handle & 0xff) as usize;
        match self.entries.get(index) {
            Some(entry) if entry.generation == handle >> 8 && entry.holds[task] != 0 => Ok(index),
            _ => Err(EBADF),
        }
    }

    /// The object behind a task's handle.
    pub fn object(&mut self, handle: u32, task: usize) -> Result<&mut T> {
        let index = self.index(handle, task)?;
        Ok(self.at(index))
    }

    /// The handle of the object with this index.
    pub fn handle(&self, index: usize) -> u32 {
        self.entries[index].generation << 8 | index as u32
    }

    /// The handle, as an open answers it.
    pub fn opened(&self, index: usize) -> u64 {
        let passes = if self.entries[index].passes { open::PASSES } else { 0 };
        passes | u64::from(self.handle(index))
    }

    /// Opens the object with this name, or reports that it must be made.
    pub fn open(&mut self, space: u8, name: Name, flags: u32, task: usize) -> Result<Opened> {
        match (self.find(space, name), flags & open::CREATE != 0, flags & open::EXCLUSIVE != 0) {
            (Ok(_), true, true) => Err(EEXIST),
            (Ok(index), _, _) => self.entries[index].hold(task).map(|()| Opened::Found(index)),
            (Err(_), true, _) => Ok(Opened::Absent),
            (Err(errno), false, _) => Err(errno),
        }
    }

    /// A free entry for a task's next object, beside those reserved for the first `tasks` tasks.
    pub fn free_place(&self, task: usize, tasks: usize, kept: usize) -> Result<usize> {
        let (mut used, mut free) = ([0; TASKS], N);
        for task in self.entries.iter().filter_map(Entry::payer) {
            (used[task], free) = (used[task] + 1, free - 1);
        }
        let others = (0..tasks.min(TASKS)).filter(|other| *other != task);
        if free <= others.fold(0, |sum, other| sum + kept.saturating_sub(used[other])) {
            return Err(ENFILE);
        }
        self.entries.iter().position(Entry::is_free).ok_or(ENFILE)
    }

    /// The task whose share an object counts towards, if the entry is not free.
    pub fn payer(&self, index: usize) -> Option<usize> {
        self.entries[index].payer()
    }

    /// Makes the object in a free entry; the task has it open. `flags` are those of the open.
    pub fn make(&mut self, index: usize, (space, name): (u8, Name), task: usize, flags: u32, object: T) {
        let entry = &mut self.entries[index];
        entry.generation = entry.generation % (GENERATIONS - 1) + 1;
        entry.name = Some((space, name));
        entry.maker = Some(task as u8);
        entry.passes = flags & open::PASSING != 0;
        entry.holds[task] = 1;
        self.objects[index] = object;
    }

    /// How often a task has an object open.
    pub fn opens(&self, index: usize, task: usize) -> u16 {
        self.entries[index].holds[task]
    }

    /// Closes one open of a task, which must have one.
    pub fn close(&mut self, index: usize, task: usize) {
        let entry = &mut self.entries[index];
        entry.holds[task] -= 1;
        entry.settle();
    }

    /// Removes the name, if it means the object with the handle `only`, or that is 0. Returns the
    /// index.
    pub fn unlink(&mut self, space: u8, name: Name, only: u32) -> Result<usize> {
        let index = self.find(space, name)?;
        if only != 0 && only != self.handle(index) {
            return Err(ENOENT);
        }
        self.entries[index].name = None;
        Ok(index)
    }

    /// Cleans up after an ended task: closes all that it has open, and removes what it made unless
    /// others have it open. Returns whether there was anything.
    pub fn forget(&mut self, index: usize, task: usize) -> bool {
        let entry = &mut self.entries[index];
        let made = entry.maker == Some(task as u8);
        if made {
            entry.maker = None;
        }
        let held = core::mem::take(&mut entry.holds[task]) != 0;
        entry.settle();
        held || made
    }

    /// Whether the entry is free now.
    pub fn is_free(&self, index: usize) -> bool {
        self.entries[index].is_free()
    }

    fn find(&self, space: u8, name: Name) -> Result<usize> {
        self.entries.iter().position(|entry| entry.name == Some((space, name))).ok_or(ENOENT)
    }
}
