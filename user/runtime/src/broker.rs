//! The protocol of the broker, the server of objects that several tasks use: named semaphores,
//! message queues, shared FIFOs.
//!
//! A client makes a [`Request`], sends the result of [`Request::encode`] to the endpoint in
//! [`crate::info::skin::slot::BROKER`] and reads the reply with [`Answer::decode`]. The badge of
//! its capability identifies the task, whether it may share, and the highest level of its threads
//! ([`badge`]); the label identifies the calling thread and its level ([`Caller`]), which the
//! broker limits to the task's ceiling.
//!
//! *Names.* Tasks that may share have one name space in common; each other task has its own. Shared
//! FIFOs are only for tasks that may share (`EACCES`). What a task made goes when the task ends,
//! including its name, unless others have it open: then it goes when the last of them closes it. A
//! task that makes objects for others has theirs go with the last close ([`open::PASSING`]).
//!
//! *Quotas.* Each task has table entries and memory reserved ([`KEPT_SEMAPHORES`], [`KEPT_QUEUES`],
//! [`KEPT_MESSAGE_BYTES`]), and each shared FIFO a quarter of an equal share of the FIFOs' memory.
//! The rest is first come, first served. What a task made counts towards its own share; what it
//! made and gave up counts towards that of the first task that has it open.
//!
//! *Data* goes through the caller's transfer memory ([`crate::info::address::TRANSFER`]), from its
//! start on, at most [`DATA_SIZE`] bytes. All threads of a task share it: a caller holds it, with
//! the task-wide lock, from before the call until it has read the data of the reply. Messages of
//! queues can be elsewhere in it ([`Caller::at`]), so that each thread has a part without a lock.
//!
//! *Waiting.* No call blocks. If the caller has to wait, the answer is [`Answer::Wait`]: its thread
//! is now in the object's queue, most urgent first, first come first served among equals. When its
//! turn has come, the object is handed to it and [`crate::info::wake::THREAD`] is signalled; it
//! then calls with [`Request::Finish`], and waits again if the answer is [`Answer::Wait`]
//! (something else woke it). After a timeout or a signal it calls with [`Request::Cancel`], which
//! does the same but leaves the queue. Until one of these has returned an outcome the thread cannot
//! begin another request that could wait (`EBUSY`). When a thread is deleted, another one takes it
//! out with [`Request::Abandon`], and what it had been handed goes to the next.
//!
//! Threads of the caller's own task are not signalled but returned in the answer ([`WAKES`]). The
//! caller wakes them after it has released its task-wide lock, which they would otherwise block on.
//!
//! A thread that is stopped while it is being served gets the kernel's `Gone` when it continues:
//! its request was carried out, but the answer is lost. So it wakes all threads of its task that
//! wait for the broker.
//!
//! *Work.* A call uses no more than its tables: [`SEMAPHORES`] or [`QUEUES`] entries to find a
//! name, the waiters of one object, at most all threads of all tasks, to enter its queue,
//! [`DATA_SIZE`] bytes to copy. Waking a thread of another task is the most expensive part: a call
//! hands on at most [`HAND_ONS`] times, whatever others did before. If there is more to hand on,
//! the answer is [`Answer::More`], and the caller repeats the request, again on its own time and
//! behind more urgent callers.

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

/// Parts in which the broker handles a task's end.
pub const ENDED_PARTS: u32 = 16;

/// Most objects that a request takes from threads and hands to others; each wakes a thread.
pub const HAND_ONS: usize = 8;

/// Semaphores reserved for each task.
pub const KEPT_SEMAPHORES: usize = 2;

/// Message queues reserved for each task.
pub const KEPT_QUEUES: usize = 1;

/// Bytes of messages reserved for each task: those of a queue made without attributes.
pub const KEPT_MESSAGE_BYTES: u64 = DEFAULT_MESSAGES as u64 * DEFAULT_MESSAGE_SIZE as u64;

/// Most messages in a queue.
pub const QUEUE_MESSAGES: u32 = 128;

/// Messages of a queue made without attributes.
pub const DEFAULT_MESSAGES: u32 = 16;

/// Bytes of a message of a queue made without attributes.
pub const DEFAULT_MESSAGE_SIZE: u32 = 256;

/// Priorities of messages: 0 to 31, the highest first.
pub const MESSAGE_PRIORITIES: u32 = 32;

/// Greatest value of a semaphore.
pub const VALUE_MAX: u32 = i32::MAX as u32;

/// Bytes of a name including its final zeros, at least one.
pub const NAME_SIZE: usize = 48;

/// Most bytes that a call can carry in the transfer memory.
pub const DATA_SIZE: u32 = (crate::info::broker::TRANSFER_SIZE - 4096) as u32;

/// The word of an answer that holds the threads of its own task that the caller must wake, by bit.
pub const WAKES: usize = MESSAGE_WORDS - 1;

/// Offset in the transfer memory of a word in which the broker sets bit `q` when the task's notice
/// for queue number `q` (the low byte of its handle) is due ([`Request::QueueNotify`]). The task
/// takes all bits at once with an atomic exchange.
pub const NOTICES: u64 = DATA_SIZE as u64;

/// No thread: see [`Request::QueueNotify`].
pub const NO_THREAD: u8 = 255;

/// Badges of the capabilities for the broker's endpoint.
pub mod badge {
    /// The resource manager, which alone may send [`super::Request::Ready`] and
    /// [`super::Request::TaskEnded`].
    pub const MANAGER: u64 = 0x1000;
    /// Added to a task's badge if the task may share.
    pub const SHARES: u64 = 0x100;

    /// Position of the ceiling in a task's badge.
    const CEILING: u32 = 16;

    /// Badge of the task with that index, whose threads have at most that level.
    #[must_use]
    pub const fn of(index: u32, shares: bool, ceiling: u8) -> u64 {
        (index as u64 + 1) | if shares { SHARES } else { 0 } | (ceiling as u64) << CEILING
    }

    /// The inverse: index of the task with that badge; for other badges, larger than any index.
    #[must_use]
    pub const fn index(badge: u64) -> u64 {
        (badge & !(SHARES | 0xff << CEILING)).wrapping_sub(1)
    }

    /// Highest level that a thread of the task with that badge can have, whatever the task states.
    #[must_use]
    pub const fn ceiling(badge: u64) -> u8 {
        (badge >> CEILING) as u8
    }
}

/// Flags of an open, for `O_CREAT` and `O_EXCL`. The client handles the others itself.
pub mod open {
    /// Make it if it does not exist.
    pub const CREATE: u32 = 1;
    /// With [`CREATE`]: it must not exist.
    pub const EXCLUSIVE: u32 = 2;
    /// With [`CREATE`]: its name goes when no task has it open, and does not wait for the end of
    /// the task that made it.
    pub const PASSING: u32 = 4;
    /// Bit of the handle in the answer: the object was made with [`PASSING`].
    pub const PASSES: u64 = 1 << 32;
}

/// Error numbers, as in Linux and in `<errno.h>`.
pub mod errno {
    /// The caller may not do this.
    pub const EPERM: i32 = 1;
    /// The name does not exist.
    pub const ENOENT: i32 = 2;
    /// The handle is not one of an object that the task has open.
    pub const EBADF: i32 = 9;
    /// The call would have to wait, and may not.
    pub const EAGAIN: i32 = 11;
    /// There is not enough memory.
    pub const ENOMEM: i32 = 12;
    /// The task may not share.
    pub const EACCES: i32 = 13;
    /// It exists, is in use, or belongs to another task.
    pub const EBUSY: i32 = 16;
    /// The name exists.
    pub const EEXIST: i32 = 17;
    /// There is no such FIFO, or it is not a shared one.
    pub const ENODEV: i32 = 19;
    /// An argument is out of its range.
    pub const EINVAL: i32 = 22;
    /// The table is full.
    pub const ENFILE: i32 = 23;
    /// The FIFO has no room.
    pub const ENOSPC: i32 = 28;
    /// There is no such request.
    pub const ENOSYS: i32 = 38;
    /// The semaphore is at its greatest value.
    pub const EOVERFLOW: i32 = 75;
    /// The message is longer than the queue allows, or the receiver's room is smaller than that.
    pub const EMSGSIZE: i32 = 90;
    /// The thread waited in vain, and does not wait any more.
    pub const ECANCELED: i32 = 125;
}
