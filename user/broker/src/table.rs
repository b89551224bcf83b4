//! Objects with names, and how often each task has each of them open.

use pillion_abi::channel::TASKS;
use pillion_runtime::broker::{
    Name,
    errno::{EBADF, EEXIST, ENFILE, ENOENT},
    open,
};

/// Generations that a handle can tell apart: with the index in its low byte, a handle is positive in 32 bits.
const GENERATIONS: u32 = 1 << 23;

/// Objects of a kind.
#[derive(Debug)]
pub struct Table<T, const N: usize> {
    entries: [Entry; N],
    objects: [T; N],
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// Its name and name space, until it is unlinked.
    name: Option<(u8, Name)>,
    /// Handles of older objects in the same place are of another generation.
    generation: u32,
    /// How often each task has it open.
    holds: [u16; TASKS],
}

impl Entry {
    const FREE: Entry = Entry { name: None, generation: 0, holds: [0; TASKS] };

    fn is_free(&self) -> bool {
        self.name.is_none() && self.holds == [0; TASKS]
    }

    fn hold(&mut self, task: usize) -> Result<(), i32> {
        self.holds[task] = self.holds[task].checked_add(1).ok_or(ENFILE)?;
        Ok(())
    }
}

/// What an open found.
#[derive(Debug, PartialEq, Eq)]
pub enum Opened {
    /// It was there.
    Found(usize),
    /// It is to be made.
    Absent,
}

/// What a close led to.
#[derive(Debug, PartialEq, Eq)]
pub enum Closed {
    /// The task has it open still.
    Held,
    /// The task has it open no more.
    Left(usize),
}

impl<T, const N: usize> Table<T, N> {
    /// A table of objects that are all free.
    pub const fn new(objects: [T; N]) -> Table<T, N> {
        Table { entries: [Entry::FREE; N], objects }
    }

    /// The object with this index.
    pub fn at(&mut self, index: usize) -> &mut T {
        &mut self.objects[index]
    }

    /// All objects, whether in use or not.
    pub fn all(&self) -> &[T; N] {
        &self.objects
    }

    /// The index behind a task's handle.
    pub fn index(&self, handle: u32, task: usize) -> Result<usize, i32> {
        let index = (handle & 0xff) as usize;
        match self.entries.get(index) {
            Some(entry) if entry.generation == handle >> 8 && entry.holds[task] != 0 => Ok(index),
            _ => Err(EBADF),
        }
    }

    /// The object behind a task's handle.
    pub fn object(&mut self, handle: u32, task: usize) -> Result<&mut T, i32> {
        let index = self.index(handle, task)?;
        Ok(self.at(index))
    }

    /// The handle of the object with this index.
    pub fn handle(&self, index: usize) -> u32 {
        self.entries[index].generation << 8 | index as u32
    }

    /// Opens what has this name, or says that it is to be made.
    pub fn open(&mut self, space: u8, name: Name, flags: u32, task: usize) -> Result<Opened, i32> {
        match (self.find(space, name), flags & open::CREATE != 0, flags & open::EXCLUSIVE != 0) {
            (Ok(_), true, true) => Err(EEXIST),
            (Ok(index), _, _) => self.entries[index].hold(task).map(|()| Opened::Found(index)),
            (Err(_), true, _) => Ok(Opened::Absent),
            (Err(errno), false, _) => Err(errno),
        }
    }

    /// Whether there is a place for one more.
    pub fn free_place(&self) -> Result<usize, i32> {
        self.entries.iter().position(Entry::is_free).ok_or(ENFILE)
    }

    /// Makes the object in a free place; the task has it open.
    pub fn make(&mut self, index: usize, space: u8, name: Name, task: usize, object: T) -> u32 {
        let entry = &mut self.entries[index];
        entry.generation = entry.generation % (GENERATIONS - 1) + 1;
        entry.name = Some((space, name));
        entry.holds[task] = 1;
        self.objects[index] = object;
        self.handle(index)
    }

    /// Takes one open of a task back.
    pub fn close(&mut self, handle: u32, task: usize) -> Result<Closed, i32> {
        let index = self.index(handle, task)?;
        let holds = &mut self.entries[index].holds[task];
        *holds -= 1;
        Ok(if *holds == 0 { Closed::Left(index) } else { Closed::Held })
    }

    /// Takes the name away. Returns the index.
    pub fn unlink(&mut self, space: u8, name: Name) -> Result<usize, i32> {
        let index = self.find(space, name)?;
        self.entries[index].name = None;
        Ok(index)
    }

    /// Takes everything back that a task has open, and the name if it is in this space. Returns whether there was anything.
    pub fn forget(&mut self, index: usize, task: usize, space: u8) -> bool {
        let entry = &mut self.entries[index];
        let named = entry.name.is_some_and(|(of, _)| of == space);
        if named {
            entry.name = None;
        }
        core::mem::take(&mut entry.holds[task]) != 0 || named
    }

    /// Whether the place is free now.
    pub fn is_free(&self, index: usize) -> bool {
        self.entries[index].is_free()
    }

    fn find(&self, space: u8, name: Name) -> Result<usize, i32> {
        self.entries.iter().position(|entry| entry.name == Some((space, name))).ok_or(ENOENT)
    }
}
