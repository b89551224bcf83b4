//! Requests to the broker, and what they answer.

use super::NAME_SIZE;

/// Words of a name.
pub(super) const NAME_WORDS: usize = NAME_SIZE / 8;

/// Who asks, within the task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Caller {
    /// Number of the thread.
    pub thread: u8,
    /// Its level: where it stands among those that wait.
    pub level: u8,
}

/// A name, padded with zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name(pub(super) [u64; NAME_WORDS]);

impl Name {
    /// The name made of these bytes. `None` when it is empty, too long or has a zero in it.
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

/// What a client can ask for. The answers named are the values of [`super::Answer::Done`]; every
/// request that names a handle can fail with `EBADF`, every one that can wait with `EBUSY` (the
/// thread has not finished what it waited for before) and `EINVAL` (no such thread).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// From the resource manager: answered as soon as the broker serves.
    Ready,
    /// From the resource manager: the task with this index has ended, or stands still for good. All
    /// that it held and waited for is given back; the FIFOs that it made go, and so does everything
    /// else that it made and nobody else has open. Asked in [`super::ENDED_PARTS`] parts, one after
    /// the other, so that others are served in between. *Errors*: `EINVAL` (no such task or part).
    /// *Work*: eight threads with a hand-on each, or eight places of each table.
    TaskEnded {
        /// Index of the task.
        index: u32,
        /// Number of the part, from 0.
        part: u32,
    },

    /// Opens, or makes, a semaphore. *Answer*: its handle. *Errors*: `ENOENT`, `EEXIST`, `EINVAL`
    /// (value), `ENFILE`. *Work*: [`super::SEMAPHORES`] names.
    SemOpen {
        /// Its name.
        name: Name,
        /// See [`super::open`].
        flags: u32,
        /// Its value if it is made now.
        value: u32,
    },
    /// Takes back one open. With the last one of a task, those of its threads that wait, or have
    /// not fetched what they were handed, get `EBADF`, and that goes on to others. *Answer*:
    /// [`super::Answer::More`] when it was handed on [`super::HAND_ONS`] times and there is more;
    /// until then the task has it open still. *Work*: the task's threads, and so many hand-ons.
    SemClose {
        /// The handle.
        semaphore: u32,
    },
    /// Takes the name away; the semaphore goes when nobody has it open. *Errors*: `ENOENT`. *Work*:
    /// [`super::SEMAPHORES`] names.
    SemUnlink {
        /// Its name.
        name: Name,
    },
    /// Takes one, at once (`EAGAIN`) or waits for it. *Work*: the waiters of the semaphore.
    SemWait {
        /// The handle.
        semaphore: u32,
        /// Whether it may wait.
        block: bool,
    },
    /// Gives one: to the most urgent waiter if there is one. *Errors*: `EOVERFLOW`. *Work*:
    /// constant.
    SemPost {
        /// The handle.
        semaphore: u32,
    },
    /// *Answer*: the value. *Work*: constant.
    SemValue {
        /// The handle.
        semaphore: u32,
    },

    /// Opens, or makes, a message queue. *Answer*: its handle, most messages, bytes of a message.
    /// *Errors*: `ENOENT`, `EEXIST`, `EINVAL` (0, or beyond [`super::QUEUE_MESSAGES`] or
    /// [`super::DATA_SIZE`]), `ENFILE`, `ENOMEM`. *Work*: [`super::QUEUES`] names, and for a new
    /// one their memory put in order.
    QueueOpen {
        /// Its name.
        name: Name,
        /// See [`super::open`].
        flags: u32,
        /// Messages that it holds if it is made now.
        messages: u32,
        /// Bytes of a message if it is made now.
        size: u32,
    },
    /// Takes back one open, as [`Request::SemClose`] does; with the last one of a task its notice
    /// goes.
    QueueClose {
        /// The handle.
        queue: u32,
    },
    /// Takes the name away, as [`Request::SemUnlink`] does.
    QueueUnlink {
        /// Its name.
        name: Name,
    },
    /// Sends what is in the transfer memory. Waits when the queue is full (`EAGAIN`). *Errors*:
    /// `EMSGSIZE`, `EINVAL` (priority). *Work*: the waiters of the queue, and the copy.
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
    /// Receives the oldest message of the highest priority into the transfer memory. Waits when the
    /// queue is empty (`EAGAIN`). *Answer*: its length and priority. *Errors*: `EMSGSIZE`. *Work*:
    /// the waiters of the queue, and the copy.
    QueueReceive {
        /// The handle.
        queue: u32,
        /// Bytes that the caller has room for, at least those of a message of the queue.
        room: u32,
        /// Whether it may wait.
        block: bool,
    },
    /// *Answer*: most messages, bytes of a message, messages now. *Work*: constant.
    QueueAttributes {
        /// The handle.
        queue: u32,
    },
    /// Asks for one notice at [`super::NOTICES`] when a message arrives in the empty queue and no
    /// receiver waits. *Errors*: `EBUSY` (there is a notice to be given already). *Work*: constant.
    QueueNotify {
        /// The handle.
        queue: u32,
        /// Thread to wake, or [`super::NO_THREAD`] for nobody.
        thread: u8,
        /// Whether to ask; if not, what this task asked for is withdrawn.
        wanted: bool,
    },

    /// Asks for the outcome of what [`super::Answer::Wait`] was the answer to. *Answer*: as of the
    /// request that it was, or [`super::Answer::Wait`] again. *Errors*: of that request, after
    /// those of a sender's message it still has its turn; `EBADF`: the task closed what it waited
    /// for; `EINVAL`: nothing was asked for. *Work*: the copy.
    Finish {
        /// Of a sender: bytes of the message, which it has put into the transfer memory once more;
        /// else 0.
        length: u32,
        /// Of a sender: its priority; else 0.
        priority: u32,
    },
    /// As [`Request::Finish`], but the thread does not wait on: `ECANCELED` when its turn has not
    /// come.
    Cancel {
        /// As in [`Request::Finish`].
        length: u32,
        /// As in [`Request::Finish`].
        priority: u32,
    },
    /// The thread of this task with that number is gone. What it was handed goes to the next one
    /// that waits. *Errors*: `EINVAL` (no such thread). *Work*: constant.
    Abandon {
        /// Number of the thread.
        thread: u8,
    },

    /// Makes a shared FIFO. *Errors*: for all requests of FIFOs `EACCES` (the task may not share),
    /// `ENODEV` (no shared FIFO has this number); `EBUSY` (it is there), `EINVAL` (size), `ENOMEM`.
    /// *Work*: all shared FIFOs, put in order, to find memory.
    FifoCreate {
        /// Its number.
        fifo: u32,
        /// Bytes of each of its rings.
        size: u32,
    },
    /// Ends it, whoever made it. *Errors*: `EINVAL` (it is not there, or a process has it open).
    FifoDestroy {
        /// Its number.
        fifo: u32,
    },
    /// Gives it another size; what is in it is lost. *Errors*: as of [`Request::FifoCreate`];
    /// `EINVAL` (it is not there); after `ENOMEM` it is as it was.
    FifoResize {
        /// Its number.
        fifo: u32,
        /// Bytes of each of its rings.
        size: u32,
    },
    /// Appends what is in the transfer memory, all or nothing. *Answer*: `length`. *Errors*:
    /// `EINVAL` (it is not there, or more than [`super::DATA_SIZE`]), `ENOSPC`. *Work*: the copy.
    FifoPut {
        /// Its number.
        fifo: u32,
        /// Bytes.
        length: u32,
    },
    /// Takes what is there into the transfer memory. *Answer*: how many bytes. *Errors*: `EINVAL`.
    /// *Work*: the copy.
    FifoGet {
        /// Its number.
        fifo: u32,
        /// Most bytes.
        length: u32,
    },
    /// Drops what is in it. *Errors*: `EINVAL`.
    FifoFlush {
        /// Its number.
        fifo: u32,
    },
    /// *Answer*: bytes of each of its rings, bytes on the way to Linux, bytes on the way to the
    /// tasks. *Errors*: `EINVAL`.
    FifoState {
        /// Its number.
        fifo: u32,
    },
    /// Has reads of Linux processes from `get` take from `put`, which is a shared FIFO too.
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
