//! What is said to the broker, the server of objects that several tasks use: named semaphores,
//! message queues, shared FIFOs.
//!
//! A client makes a [`Request`], sends what [`Request::encode`] gives to the endpoint in
//! [`crate::info::skin::slot::BROKER`] and reads the answer with [`Answer::decode`]. The badge of
//! its capability says which task it is, whether it may share, and how urgent its threads can be
//! ([`badge`]); the label says which of its threads asks, and at which level ([`Caller`]): of a
//! level above the task's ceiling no more than that is believed.
//!
//! *Names.* Tasks that may share have one name space together; each other task has one of its own.
//! Shared FIFOs are for tasks that may share only (`EACCES`). What a task made goes with the task,
//! its name too, unless others have it open: then it goes with the last of them.
//!
//! *Quotas.* For each task places in the tables and memory are kept ([`KEPT_SEMAPHORES`],
//! [`KEPT_QUEUES`], [`KEPT_MESSAGE_BYTES`]), and for each shared FIFO a quarter of an equal part of
//! their memory. The rest is for whoever asks first. What a task made counts as its own; what it
//! made and gave up, as that of the first one that has it open.
//!
//! *Data* goes through the caller's transfer memory ([`crate::info::address::TRANSFER`]), from its
//! start on, at most [`DATA_SIZE`] bytes. There is one for all threads of a task: it is the
//! caller's, under its task-wide lock, from before the call until it has read what the answer
//! brought.
//!
//! *Waiting.* No call blocks. Where the caller has to wait, the answer is [`Answer::Wait`]: its
//! thread is in the object's queue now, most urgent first, first come first served among equals.
//! When its turn has come the object is handed over, and [`crate::info::wake::THREAD`] is signalled
//! to it; it then asks with [`Request::Finish`], and waits again if that says [`Answer::Wait`]
//! (somebody else woke it). On a timeout or a signal it asks with [`Request::Cancel`], which does
//! the same but leaves the queue. Until one of them has brought an outcome the thread can begin
//! nothing else that could wait (`EBUSY`). A thread that is deleted is taken out by another one
//! with [`Request::Abandon`], and what it had been handed goes to the next.
//!
//! Threads of the caller's own task are not signalled but named in the answer ([`WAKES`]), and the
//! caller wakes them: when it has left its task-wide lock, into which they would run.
//!
//! A thread that is stopped while it is served gets the kernel's `Gone` when it goes on: what it
//! asked for was carried out, and the answer is lost. So it wakes all threads of its task that wait
//! for the broker.
//!
//! *Work.* A call looks at no more than the tables that it names: [`SEMAPHORES`] or [`QUEUES`]
//! entries to find a name, the waiters of one object, at most all threads of all tasks, to enter
//! its queue, [`DATA_SIZE`] bytes to copy. To wake a thread of another task is the dearest of all:
//! a call hands on at most [`HAND_ONS`] times, whatever others did before. Where there is more to
//! hand on the answer is [`Answer::More`], and the caller asks the same again, on its own time once
//! more and behind whoever is more urgent.

mod answer;
mod encoding;
mod request;

pub use answer::Answer;
pub use request::{Caller, Name, Request};

use pillion_abi::call::MESSAGE_WORDS;

/// Named semaphores in the whole system.
pub const SEMAPHORES: usize = 64;

/// Message queues in the whole system.
pub const QUEUES: usize = 32;

/// Longest time of a call to the broker, in nanoseconds of one instruction each.
pub const LONGEST_NS: u64 = 25_000;

/// Parts in which a task's end is carried out.
pub const ENDED_PARTS: u32 = 16;

/// Most things that a request takes from threads and hands on to others, each of which it has to
/// wake.
pub const HAND_ONS: usize = 8;

/// Semaphores that are kept for each task.
pub const KEPT_SEMAPHORES: usize = 2;

/// Message queues that are kept for each task.
pub const KEPT_QUEUES: usize = 1;

/// Bytes of messages that are kept for each task: a queue that is made without attributes.
pub const KEPT_MESSAGE_BYTES: u64 = DEFAULT_MESSAGES as u64 * DEFAULT_MESSAGE_SIZE as u64;

/// Most messages in a queue.
pub const QUEUE_MESSAGES: u32 = 128;

/// Messages of a queue that is made without attributes.
pub const DEFAULT_MESSAGES: u32 = 16;

/// Bytes of a message of a queue that is made without attributes.
pub const DEFAULT_MESSAGE_SIZE: u32 = 256;

/// Priorities of messages: 0 to 31, the highest first.
pub const MESSAGE_PRIORITIES: u32 = 32;

/// Greatest value of a semaphore.
pub const VALUE_MAX: u32 = i32::MAX as u32;

/// Bytes of a name with its final zeros, of which there is at least one.
pub const NAME_SIZE: usize = 48;

/// Bytes that a call can carry in the transfer memory.
pub const DATA_SIZE: u32 = (crate::info::broker::TRANSFER_SIZE - 4096) as u32;

/// The word of an answer that names threads of the caller's task, as bits: those that the caller is
/// to wake.
pub const WAKES: usize = MESSAGE_WORDS - 1;

/// Offset in the transfer memory of a word in which the broker sets bit `q` when the task's notice
/// for queue number `q` (the low byte of its handle) falls due ([`Request::QueueNotify`]). The task
/// takes all bits at once with an atomic exchange.
pub const NOTICES: u64 = DATA_SIZE as u64;

/// No thread: see [`Request::QueueNotify`].
pub const NO_THREAD: u8 = 255;

/// Badges of the capabilities for the broker's endpoint.
pub mod badge {
    /// The resource manager: [`super::Request::Ready`] and [`super::Request::TaskEnded`] are for it
    /// alone.
    pub const MANAGER: u64 = 0x1000;
    /// Added to a task's badge when it may share.
    pub const SHARES: u64 = 0x100;

    /// Place of the ceiling in a task's badge.
    const CEILING: u32 = 16;

    /// Badge of the task with that index, whose threads have at most that level.
    #[must_use]
    pub const fn of(index: u32, shares: bool, ceiling: u8) -> u64 {
        (index as u64 + 1) | if shares { SHARES } else { 0 } | (ceiling as u64) << CEILING
    }

    /// The inverse: index of the task with that badge; of another badge, more than any.
    #[must_use]
    pub const fn index(badge: u64) -> u64 {
        (badge & !(SHARES | 0xff << CEILING)).wrapping_sub(1)
    }

    /// Highest level that a thread of the task with that badge can have, whatever the task says.
    #[must_use]
    pub const fn ceiling(badge: u64) -> u8 {
        (badge >> CEILING) as u8
    }
}

/// Flags of an open: what `O_CREAT` and `O_EXCL` say. Others are the client's own affair.
pub mod open {
    /// Make it if it is not there.
    pub const CREATE: u32 = 1;
    /// With [`CREATE`]: it must not be there.
    pub const EXCLUSIVE: u32 = 2;
}

/// Numbers of errors, as in Linux and in `<errno.h>`.
pub mod errno {
    /// Not for this caller.
    pub const EPERM: i32 = 1;
    /// No such name.
    pub const ENOENT: i32 = 2;
    /// The handle names nothing that the task has open.
    pub const EBADF: i32 = 9;
    /// It would have to wait, and was told not to.
    pub const EAGAIN: i32 = 11;
    /// No memory for it.
    pub const ENOMEM: i32 = 12;
    /// The task may not share.
    pub const EACCES: i32 = 13;
    /// It is there, in use, or somebody else's.
    pub const EBUSY: i32 = 16;
    /// The name is there.
    pub const EEXIST: i32 = 17;
    /// No such FIFO, or it belongs to no broker.
    pub const ENODEV: i32 = 19;
    /// An argument is out of its range.
    pub const EINVAL: i32 = 22;
    /// All places of a table are taken.
    pub const ENFILE: i32 = 23;
    /// No room in the FIFO.
    pub const ENOSPC: i32 = 28;
    /// No such request.
    pub const ENOSYS: i32 = 38;
    /// The semaphore is at its greatest value.
    pub const EOVERFLOW: i32 = 75;
    /// The message is longer than the queue's, or the receiver's room is smaller.
    pub const EMSGSIZE: i32 = 90;
    /// It waited in vain, and does not wait any more.
    pub const ECANCELED: i32 = 125;
}
