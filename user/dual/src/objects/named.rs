//! Names, by which processes find each other's objects, and who may use them.

use super::{Done, Kept, Kind, MEMORIES, OBJECTS, Objects, Party, error};
use pillion_abi::dual::name::{CREATE, EXCLUSIVE, GROUPS};
use pillion_abi::dual::{Naming, object};
use pillion_runtime::broker::Name;

/// Maximum number of objects with names.
pub const NAMES: usize = 64;
/// Maximum number of those that one process has open.
pub const NAMES_OF_ONE: usize = 32;

/// Reading and writing: whoever uses an object does both.
const USE: u32 = 6;
/// Bits of a mode: what owner, group and all others may do.
const MODE: u32 = 0o777;

/// Who asks, as Linux's kernel says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asker {
    pub(super) user: u32,
    pub(super) group: u32,
    /// No mode keeps it out.
    pub(super) privileged: bool,
    pub(super) more: [u32; GROUPS],
    pub(super) more_count: usize,
    /// It is in other groups, too, which Linux did not state.
    pub(super) more_is_cut: bool,
}

impl Asker {
    fn is_in(&self, group: u32) -> bool {
        self.group == group || self.more[..self.more_count].contains(&group)
    }
}

/// Who may open an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rights {
    user: u32,
    group: u32,
    mode: u32,
}

impl Rights {
    /// Whoever may open the device may open what a task made.
    pub const OF_TASKS: Rights = Rights { user: 0, group: 0, mode: 0o666 };

    /// As Linux does for a file: the first class that fits decides. If it is not known whether that
    /// is the group's, both have to allow it.
    pub(super) fn let_in(&self, asker: &Asker) -> bool {
        let class = match self {
            _ if self.user == asker.user => self.mode >> 6,
            _ if asker.is_in(self.group) => self.mode >> 3,
            _ if asker.more_is_cut => self.mode >> 3 & self.mode,
            _ => self.mode,
        };
        asker.privileged || class & USE == USE
    }

    pub(super) fn belong_to(&self, asker: &Asker) -> bool {
        asker.privileged || self.user == asker.user
    }
}

/// What a process asks for.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// Its name.
    pub name: Name,
    /// One of [`object`].
    pub kind: u64,
    /// See [`CREATE`].
    pub flags: u32,
    pub(super) mode: u32,
    /// If it is made: its value.
    pub value: u64,
    pub(super) object_flags: u64,
    pub(super) asker: Asker,
}

impl Wanted {
    /// Checks what Linux's kernel stated.
    pub fn new(naming: &Naming) -> Result<Wanted, i64> {
        let end = naming.name.iter().position(|byte| *byte == 0).ok_or(error::ENAMETOOLONG)?;
        let asker = Asker {
            user: naming.user,
            group: naming.group,
            privileged: naming.privileged != 0,
            more: naming.groups,
            more_count: (naming.group_count as usize).min(GROUPS),
            more_is_cut: naming.group_count as usize > GROUPS,
        };
        if naming.flags & !(CREATE | EXCLUSIVE) != 0 {
            return Err(error::EINVAL);
        }
        Ok(Wanted {
            name: Name::new(&naming.name[..end]).ok_or(error::EINVAL)?,
            kind: naming.kind.into(),
            flags: naming.flags,
            mode: naming.mode & MODE,
            value: naming.value,
            object_flags: naming.object_flags.into(),
            asker,
        })
    }

    /// If it is made: its flags.
    #[must_use]
    pub fn object_flags(&self) -> u64 {
        self.object_flags
    }

    pub(super) fn rights(&self) -> Rights {
        Rights { user: self.asker.user, group: self.asker.group, mode: self.mode }
    }
}

/// A name, and the object that has it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Named {
    name: Name,
    kind: u64,
    pub(super) object: u16,
    rights: Rights,
}

impl Kind {
    /// Objects of different kinds can have the same name.
    fn number(&self) -> u64 {
        match self {
            Kind::Semaphore { .. } => object::SEMAPHORE,
            Kind::Mutex(_) => object::MUTEX,
            Kind::Condition => object::CONDITION,
            Kind::Flags { .. } => object::FLAGS,
            Kind::Kept(Kept { is_queue: false, .. }) => object::SEMAPHORE,
            Kind::Kept(_) => object::QUEUE,
        }
    }
}

impl Objects {
    /// Opens the object with a name for a party's process, or makes it. Returns its handle, which
    /// is the same for all processes. Not for what the broker keeps.
    pub fn open(&mut self, party: Party, wanted: &Wanted) -> i64 {
        self.try_open(party, wanted).map_or_else(|error| error, i64::from)
    }

    fn try_open(&mut self, party: Party, wanted: &Wanted) -> Result<u32, i64> {
        let memory = self.memory(party).ok_or(error::EAGAIN)?;
        match self.named(wanted) {
            Some(_) if wanted.flags & (CREATE | EXCLUSIVE) == CREATE | EXCLUSIVE => Err(error::EEXIST),
            Some(found) => self.enter(memory, found, wanted),
            None if wanted.flags & CREATE == 0 => Err(error::ENOENT),
            None => self.make_named(memory, wanted),
        }
    }

    fn named(&self, wanted: &Wanted) -> Option<usize> {
        let is_it = |named: &Named| named.kind == wanted.kind && named.name == wanted.name;
        self.names.iter().position(|named| named.as_ref().is_some_and(is_it))
    }

    fn enter(&mut self, memory: u8, found: usize, wanted: &Wanted) -> Result<u32, i64> {
        let Some(named) = self.names[found] else { return Err(error::ENOENT) };
        if !named.rights.let_in(&wanted.asker) {
            return Err(error::EACCES);
        }
        self.open_in(memory, named.object.into())
    }

    /// Has a process open an object.
    pub(super) fn open_in(&mut self, memory: u8, index: usize) -> Result<u32, i64> {
        if !self.objects[index].is_open_in(memory) {
            self.has_room(memory)?;
            self.objects[index].memories |= 1 << memory;
        }
        Ok(self.objects[index].handle(index))
    }

    /// Whether a process may open one more.
    fn has_room(&self, memory: u8) -> Result<(), i64> {
        let of_memory = self.objects.iter().filter(|object| object.is_shared && object.is_open_in(memory)).count();
        if of_memory < NAMES_OF_ONE { Ok(()) } else { Err(error::ENOSPC) }
    }

    fn make_named(&mut self, memory: u8, wanted: &Wanted) -> Result<u32, i64> {
        let kind = Kind::new(wanted.kind, wanted.value, wanted.object_flags);
        let kind = kind.filter(|kind| !matches!(kind, Kind::Semaphore { .. })).ok_or(error::EINVAL)?;
        self.make_shared(memory, kind, wanted.name, wanted.rights())
    }

    /// Makes an object with a name.
    pub(super) fn make_shared(&mut self, memory: u8, kind: Kind, name: Name, rights: Rights) -> Result<u32, i64> {
        let place = self.names.iter().position(Option::is_none).ok_or(error::ENOSPC)?;
        self.has_room(memory)?;
        let index = self.make(memory, kind)?;
        self.objects[index].is_shared = true;
        self.names[place] = Some(Named { name, kind: kind.number(), object: index as u16, rights });
        Ok(self.objects[index].handle(index))
    }

    /// The rights to an object, as long as it has a name.
    pub(super) fn rights(&self, index: usize) -> Option<Rights> {
        let is_it = |named: &&Named| usize::from(named.object) == index;
        self.names.iter().flatten().find(is_it).map(|named| named.rights)
    }

    /// Removes a name: the object stays for those that have it open.
    pub fn unlink(&mut self, wanted: &Wanted) -> i64 {
        let Some(found) = self.named(wanted) else { return error::ENOENT };
        match self.names[found] {
            Some(named) if !named.rights.belong_to(&wanted.asker) => error::EACCES,
            _ => {
                self.names[found] = None;
                0
            }
        }
    }

    /// Closes an object with a name for a party's process. No thread of it may use the object.
    pub fn close(&mut self, party: Party, handle: u64) -> Done {
        let index = self.find(party, handle).filter(|index| self.objects[*index].is_shared).ok_or(error::EINVAL)?;
        let memory = self.memory(party).ok_or(error::EINVAL)?;
        let mut users = pillion_rt_core::inherit::bits(self.objects[index].waiters).chain(self.owner(index));
        if users.any(|user| self.parties[user].memory() == Some(memory)) {
            return Err(error::EBUSY);
        }
        self.leave(index, memory.into());
        Ok(0)
    }

    /// A process no longer has an object open. It ends with the last one, and so does its name.
    pub(super) fn leave(&mut self, index: usize, memory: usize) {
        self.objects[index].memories &= !(1 << memory);
        if matches!(self.objects[index].kind, Some(Kind::Kept(_))) {
            self.owe(index);
            return;
        }
        if self.objects[index].memories == 0 {
            self.end_object(index);
            return;
        }
        let is_of_memory = |known: &super::party::Known| known.memory().map(usize::from) == Some(memory);
        for waiter in pillion_rt_core::inherit::bits(self.objects[index].waiters) {
            if is_of_memory(&self.parties[waiter]) {
                self.wake(waiter, error::EIDRM);
            }
        }
        if self.owner(index).is_some_and(|owner| is_of_memory(&self.parties[owner])) {
            self.lose_owner(index);
        }
    }

    /// The name of an object that ends.
    pub(super) fn forget_name(&mut self, index: usize) {
        for named in &mut self.names {
            if named.as_ref().is_some_and(|named| usize::from(named.object) == index) {
                *named = None;
            }
        }
    }
}

const _: () = assert!(OBJECTS <= u16::MAX as usize && MEMORIES <= 32);
