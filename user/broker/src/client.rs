//! The senders of requests.

use crate::Result;
use pillion_abi::channel::{TASKS, THREADS};
use pillion_runtime::broker::{Caller, DATA_SIZE, badge, errno::EPERM};

/// The sender of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sender {
    Manager,
    Task(Client),
}

/// A thread of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Client {
    /// Index of the task.
    pub task: usize,
    /// Whether the task may share.
    pub shares: bool,
    /// The thread, as the task states it, with a level that it can have.
    pub caller: Caller,
}

impl Sender {
    pub fn of(badge: u64, caller: Caller) -> Result<Sender> {
        if badge == badge::MANAGER {
            return Ok(Sender::Manager);
        }
        let task = badge::index(badge);
        if task >= TASKS as u64 {
            return Err(EPERM);
        }
        // A task can state any level, but a thread queued behind it must not wait longer than its
        // ceiling allows.
        let caller = Caller { level: caller.level.min(badge::ceiling(badge)), ..caller };
        Ok(Sender::Task(Client { task: task as usize, shares: badge & badge::SHARES != 0, caller }))
    }
}

impl Client {
    /// The name space that it uses.
    pub fn space(&self) -> u8 {
        if self.shares { SHARED_SPACE } else { own_space(self.task) }
    }

    /// Where its message of so many bytes, which the transfer memory can hold, begins there.
    pub fn place_of(&self, length: u32) -> usize {
        u32::from(self.caller.at).min(DATA_SIZE.saturating_sub(length)) as usize
    }

    /// Number of its thread among all threads, if the task may have that thread.
    pub fn thread(&self) -> Option<usize> {
        let thread = usize::from(self.caller.thread);
        (thread < THREADS).then_some(self.task * THREADS + thread)
    }
}

/// The name space of the tasks that may share.
const SHARED_SPACE: u8 = 0;

/// The name space of a task that may not share.
fn own_space(task: usize) -> u8 {
    task as u8 + 1
}
