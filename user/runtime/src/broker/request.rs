//! Requests to the broker, and their answers.

use super::NAME_SIZE;

/// Words of a name.
pub(super) const NAME_WORDS: usize = NAME_SIZE / 8;

/// The calling thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Caller {
    /// Number of the thread in its task.
    pub thread: u8,
    /// Its level, which sets its place among those that wait.
    pub level: u8,
    /// Where its messages begin in the transfer memory: threads of a task that does not have the
    /// whole of it to one thread at a time have a part each. Beyond its end, a message ends there.
    pub at: u16,
}

/// A name, padded with zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name(pub(super) [u64; NAME_WORDS]);

impl Name {
    /// The name in these bytes. `None` if it is empty, too long or contains a zero.
    #[must_use]
    pub fn new(bytes: &[u8]) -> Option<Name> {
        if bytes.is_empty() || bytes.len() >= NAME_SIZE || bytes.contains(&0) {
            return None;
        }
        let mut words = [0; NAME_WORDS];
        for (word, part) in words.iter_mut().zip(bytes.chunks(8)) {
            *word = part.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
        }
        Some(Name(words))
    }
}

/// A client's requests. Each documents the values of [`super::Answer::Done`] as its answer. Every
/// request with a handle can fail with `EBADF`, every request that can wait with `EBUSY` (the
/// thread has not finished an earlier wait) and `EINVAL` (no such thread).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// From the resource manager: answered as soon as the broker serves.
    Ready,
    /// From the resource manager: the task with this index has ended, or is stopped for good.
    /// Releases all that it held and waited for; the FIFOs that it made go, and so does everything
    /// else that it made and no other task has open. It comes in [`super::ENDED_PARTS`] parts, one
    /// after the other, so that others are served in between. *Errors*: `EINVAL` (no such task or
    /// part). *Work*: eight threads with a hand-on each, or eight entries of each table.
    TaskEnded {
        /// Index of the task.
        index: u32,
        /// Number of the part, from 0.
        part: u32,
    },

    /// Opens or makes a semaphore. *Answer*: its handle. *Errors*: `ENOENT`, `EEXIST`, `EINVAL`
    /// (value), `ENFILE`. *Work*: [`super::SEMAPHORES`] names.
    SemOpen {
        /// Its name.
        name: Name,
        /// See [`super::open`].
        flags: u32,
        /// Its initial value if it is made.
        value: u32,
    },
    /// Closes one open. When a task closes its last one, those of its threads that wait, or have
    /// not fetched what they were handed, get `EBADF`, and what they were handed goes on to others.
    /// *Answer*: [`super::Answer::More`] after [`super::HAND_ONS`] hand-ons if there is more; until
    /// then the task still has the semaphore open. *Work*: the task's threads, and that many
    /// hand-ons.
    SemClose {
        /// The handle.
        semaphore: u32,
    },
    /// Removes the name; the semaphore goes when no task has it open. *Errors*: `ENOENT`. *Work*:
    /// [`super::SEMAPHORES`] names.
    SemUnlink {
        /// Its name.
        name: Name,
        /// The handle, or 0. If the name means another semaphore by now, that is `ENOENT`.
        only: u32,
    },
    /// Takes one unit, at once (else `EAGAIN`) or after a wait. *Work*: the waiters of the
    /// semaphore.
    SemWait {
        /// The handle.
        semaphore: u32,
        /// Whether it may wait.
        block: bool,
    },
    /// Gives one unit, to the most urgent waiter if there is one. *Errors*: `EOVERFLOW`. *Work*:
    /// constant.
    SemPost {
        /// The handle.
        semaphore: u32,
    },
    /// Reads the value. *Answer*: the value. *Work*: constant.
    SemValue {
        /// The handle.
        semaphore: u32,
    },

    /// Opens or makes a message queue. *Answer*: its handle, most messages, bytes of a message.
    /// *Errors*: `ENOENT`, `EEXIST`, `EINVAL` (0, or beyond [`super::QUEUE_MESSAGES`] or
    /// [`super::DATA_SIZE`]), `ENFILE`, `ENOMEM`. *Work*: [`super::QUEUES`] names, and for a new
    /// queue, sorting the memory of all queues.
    QueueOpen {
        /// Its name.
        name: Name,
        /// See [`super::open`].
        flags: u32,
        /// Most messages that it holds if it is made.
        messages: u32,
        /// Bytes of a message if it is made.
        size: u32,
    },
    /// Closes one open, as [`Request::SemClose`] does. When a task closes its last one, its notice
    /// goes.
    QueueClose {
        /// The handle.
        queue: u32,
    },
    /// Removes the name, as [`Request::SemUnlink`] does.
    QueueUnlink {
        /// Its name.
        name: Name,
        /// The handle, or 0.
        only: u32,
    },
    /// Sends the message in the transfer memory. Waits if the queue is full (or fails with
    /// `EAGAIN`). *Errors*: `EMSGSIZE`, `EINVAL` (priority). *Work*: the waiters of the queue, and
    /// the copy.
    QueueSend {
        /// The handle.
        queue: u32,
        /// Bytes of the message.
        length: u32,
        /// Its priority.
        priority: u32,
        /// Whether it may wait.
        block: bool,
    },
    /// Receives the oldest message of the highest priority into the transfer memory. Waits if the
    /// queue is empty (or fails with `EAGAIN`). *Answer*: its length and priority. *Errors*:
    /// `EMSGSIZE`. *Work*: the waiters of the queue, and the copy.
    QueueReceive {
        /// The handle.
        queue: u32,
        /// Bytes that the caller has room for; at least the size of the queue's messages.
        room: u32,
        /// Whether it may wait.
        block: bool,
    },
    /// Reads the attributes. *Answer*: most messages, bytes of a message, messages now. *Work*:
    /// constant.
    QueueAttributes {
        /// The handle.
        queue: u32,
    },
    /// Requests one notice at [`super::NOTICES`] when a message arrives in the empty queue and no
    /// receiver waits. *Errors*: `EBUSY` (a notice is already requested). *Work*: constant.
    QueueNotify {
        /// The handle.
        queue: u32,
        /// Thread to wake, or [`super::NO_THREAD`] for none.
        thread: u8,
        /// Whether to request a notice; if not, this task's request is withdrawn.
        wanted: bool,
    },

    /// Fetches the outcome of a request that was answered with [`super::Answer::Wait`]. *Answer*:
    /// as of that request, or [`super::Answer::Wait`] again. *Errors*: those of that request; after
    /// one that concerns a sender's message the sender still has its turn; `EBADF`: the task closed
    /// what the thread waited for; `EINVAL`: the thread waits for nothing. *Work*: the copy.
    Finish {
        /// For a sender: bytes of the message, which it has put into the transfer memory again;
        /// else 0.
        length: u32,
        /// For a sender: the message's priority; else 0.
        priority: u32,
    },
    /// As [`Request::Finish`], but the thread stops waiting: `ECANCELED` if its turn has not come.
    Cancel {
        /// As in [`Request::Finish`].
        length: u32,
        /// As in [`Request::Finish`].
        priority: u32,
    },
    /// The thread of this task with that number is gone. What it was handed goes to the next
    /// waiter. *Errors*: `EINVAL` (no such thread). *Work*: constant.
    Abandon {
        /// Number of the thread.
        thread: u8,
    },

    /// Makes a shared FIFO. *Errors*: for all requests on FIFOs `EACCES` (the task may not share)
    /// and `ENODEV` (no shared FIFO has this number); `EBUSY` (it exists), `EINVAL` (size),
    /// `ENOMEM`. *Work*: sorting all shared FIFOs to find memory.
    FifoCreate {
        /// Its number.
        fifo: u32,
        /// Bytes of each of its rings.
        size: u32,
    },
    /// Ends it, whichever task made it. *Errors*: `EINVAL` (it does not exist, or a process has it
    /// open).
    FifoDestroy {
        /// Its number.
        fifo: u32,
    },
    /// Changes its size; its content is lost. *Errors*: as of [`Request::FifoCreate`]; `EINVAL` (it
    /// does not exist); after `ENOMEM` it is unchanged.
    FifoResize {
        /// Its number.
        fifo: u32,
        /// Bytes of each of its rings.
        size: u32,
    },
    /// Appends the bytes in the transfer memory, all or nothing. *Answer*: `length`. *Errors*:
    /// `EINVAL` (it does not exist, or more than [`super::DATA_SIZE`]), `ENOSPC`. *Work*: the copy.
    FifoPut {
        /// Its number.
        fifo: u32,
        /// Number of bytes.
        length: u32,
    },
    /// Takes what is there into the transfer memory. *Answer*: number of bytes. *Errors*: `EINVAL`.
    /// *Work*: the copy.
    FifoGet {
        /// Its number.
        fifo: u32,
        /// Most bytes.
        length: u32,
    },
    /// Drops its content. *Errors*: `EINVAL`.
    FifoFlush {
        /// Its number.
        fifo: u32,
    },
    /// Reads its state. *Answer*: bytes of each of its rings, bytes on the way to Linux, bytes on
    /// the way to the tasks. *Errors*: `EINVAL`.
    FifoState {
        /// Its number.
        fifo: u32,
    },
    /// Makes reads of Linux processes from `get` take from `put`, which is a shared FIFO too.
    /// *Errors*: `EINVAL`.
    FifoPair {
        /// FIFO that processes read.
        get: u32,
        /// FIFO that tasks put into.
        put: u32,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_an_end() {
        assert_eq!(Name::new(b""), None);
        assert_eq!(Name::new(&[b'a'; NAME_SIZE]), None);
        assert_eq!(Name::new(b"a\0b"), None);
        assert!(Name::new(&[b'a'; NAME_SIZE - 1]).is_some());
        assert_ne!(Name::new(b"/a"), Name::new(b"/b"));
    }
}
