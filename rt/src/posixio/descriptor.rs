//! The table of descriptors.

use super::{File, Operations};
use crate::cell::Shared;
use crate::error::{EBADF, ENOMEM};
use crate::lock;
use core::cell::UnsafeCell;
use core::ffi::{c_int, c_uint, c_ulong};
use core::ptr::{null, null_mut};

/// Maximum number of open files of a task.
const MOST: usize = 128;

/// First number: those below are the log, as a C program expects.
const FIRST: usize = 3;

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Free,
    /// Its device is being opened or closed.
    Busy,
    Open,
}

static STATES: Shared<[State; MOST]> = Shared::new([State::Free; MOST]);

struct Files([UnsafeCell<File>; MOST]);

// SAFETY: the thread that made an entry `Busy` writes it; then it belongs to the device and its
// users, who synchronize as in any C program.
unsafe impl Sync for Files {}

static FILES: Files = Files(
    [const { UnsafeCell::new(File { operations: null(), flags: 0, minor: 0, position: 0, private: null_mut() }) };
        MOST],
);

/// An entry of the table.
#[derive(Clone, Copy)]
pub(super) struct Descriptor(usize);

impl Descriptor {
    /// Takes a free one, for a device that is about to be opened.
    pub fn take(operations: *const Operations, minor: c_uint, flags: c_ulong) -> Result<Descriptor, c_int> {
        let index = lock::with(|token| {
            let states = &mut *STATES.borrow(token);
            let index = states.iter().position(|state| *state == State::Free)?;
            states[index] = State::Busy;
            Some(index)
        });
        let descriptor = Descriptor(index.ok_or(ENOMEM)?);
        // SAFETY: nobody else uses it while it is busy.
        unsafe { *descriptor.file() = File { operations, flags, minor, position: 0, private: null_mut() } };
        Ok(descriptor)
    }

    pub fn open(number: c_int) -> Result<Descriptor, c_int> {
        let index =
            usize::try_from(number).ok().and_then(|n| n.checked_sub(FIRST)).filter(|i| *i < MOST).ok_or(EBADF)?;
        let is_open = lock::with(|token| STATES.borrow(token)[index] == State::Open);
        if is_open { Ok(Descriptor(index)) } else { Err(EBADF) }
    }

    /// Takes the open descriptor with that number out of use, to be closed.
    pub fn closing(number: c_int) -> Result<Descriptor, c_int> {
        let descriptor = Descriptor::open(number)?;
        lock::with(|token| {
            let state = &mut STATES.borrow(token)[descriptor.0];
            let was_open = core::mem::replace(state, State::Busy) == State::Open;
            if was_open { Ok(descriptor) } else { Err(EBADF) }
        })
    }

    pub fn all() -> impl Iterator<Item = Descriptor> {
        (0..MOST).map(Descriptor).filter(|d| lock::with(|token| STATES.borrow(token)[d.0] == State::Open))
    }

    /// Marks the descriptor as open; returns its number.
    pub fn opened(self) -> c_int {
        lock::with(|token| STATES.borrow(token)[self.0] = State::Open);
        (self.0 + FIRST) as c_int
    }

    /// Frees the descriptor.
    pub fn give_back(self) {
        lock::with(|token| STATES.borrow(token)[self.0] = State::Free);
    }

    /// The device's state of the open file.
    pub fn file(self) -> *mut File {
        FILES.0[self.0].get()
    }

    /// The device's operations.
    pub fn operations(&self) -> &Operations {
        // SAFETY: set when the entry was taken, to operations that last as long as their device is
        // registered; a program keeps a device registered while it is open.
        unsafe { &*(*self.file()).operations }
    }
}
