//! Requests as messages.

use super::{
    NAME_SIZE,
    errno::{EINVAL, ENOSYS},
    request::{Caller, NAME_WORDS, Name, Request},
};
use pillion_abi::call::MESSAGE_WORDS;

/// The words of a message.
type Words = [u64; MESSAGE_WORDS];

/// Numbers of the requests: bits 0 to 7 of the label. Bits 8 to 15 are the thread, bits 16 to 23
/// its level, bits 24 to 39 where its messages begin.
mod number {
    pub const READY: u64 = 1;
    pub const TASK_ENDED: u64 = 2;
    pub const SEM_OPEN: u64 = 16;
    pub const SEM_CLOSE: u64 = 17;
    pub const SEM_UNLINK: u64 = 18;
    pub const SEM_WAIT: u64 = 19;
    pub const SEM_POST: u64 = 20;
    pub const SEM_VALUE: u64 = 21;
    pub const QUEUE_OPEN: u64 = 32;
    pub const QUEUE_CLOSE: u64 = 33;
    pub const QUEUE_UNLINK: u64 = 34;
    pub const QUEUE_SEND: u64 = 35;
    pub const QUEUE_RECEIVE: u64 = 36;
    pub const QUEUE_ATTRIBUTES: u64 = 37;
    pub const QUEUE_NOTIFY: u64 = 38;
    pub const FINISH: u64 = 48;
    pub const CANCEL: u64 = 49;
    pub const ABANDON: u64 = 50;
    pub const FIFO_CREATE: u64 = 64;
    pub const FIFO_DESTROY: u64 = 65;
    pub const FIFO_RESIZE: u64 = 66;
    pub const FIFO_PUT: u64 = 67;
    pub const FIFO_GET: u64 = 68;
    pub const FIFO_FLUSH: u64 = 69;
    pub const FIFO_STATE: u64 = 70;
    pub const FIFO_PAIR: u64 = 71;
}

/// Words without a name.
fn plain<const N: usize>(given: [u32; N]) -> Words {
    let mut words = [0; MESSAGE_WORDS];
    for (word, value) in words.iter_mut().zip(given) {
        *word = value.into();
    }
    words
}

/// A name, and two words after it.
fn named(name: Name, low: [u32; 2], high: [u32; 2]) -> Words {
    let mut words = [0; MESSAGE_WORDS];
    words[..NAME_WORDS].copy_from_slice(&name.0);
    words[NAME_WORDS] = pair(low);
    words[NAME_WORDS + 1] = pair(high);
    words
}

fn pair([low, high]: [u32; 2]) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// The name in a client's message. It must be one that [`Name::new`] can make, so that two names
/// that look alike are equal.
fn name_of(words: &Words) -> Result<Name, i32> {
    let mut bytes = [0; NAME_SIZE];
    for (to, word) in bytes.chunks_exact_mut(8).zip(words) {
        to.copy_from_slice(&word.to_le_bytes());
    }
    let end = bytes.iter().rposition(|b| *b != 0).map_or(0, |last| last + 1);
    Name::new(&bytes[..end]).ok_or(EINVAL)
}

impl Request {
    /// Label and words of the message.
    #[must_use]
    pub fn encode(self, caller: Caller) -> (u64, Words) {
        let (number, words) = self.parts();
        let Caller { thread, level, at } = caller;
        (number | u64::from(thread) << 8 | u64::from(level) << 16 | u64::from(at) << 24, words)
    }

    fn parts(self) -> (u64, Words) {
        match self {
            Request::Ready => (number::READY, plain([])),
            Request::TaskEnded { index, part } => (number::TASK_ENDED, plain([index, part])),
            Request::SemOpen { name, flags, value } => (number::SEM_OPEN, named(name, [flags, value], [0; 2])),
            Request::SemClose { semaphore } => (number::SEM_CLOSE, plain([semaphore])),
            Request::SemUnlink { name, only } => (number::SEM_UNLINK, named(name, [only, 0], [0; 2])),
            Request::SemWait { semaphore, block } => (number::SEM_WAIT, plain([semaphore, block.into()])),
            Request::SemPost { semaphore } => (number::SEM_POST, plain([semaphore])),
            Request::SemValue { semaphore } => (number::SEM_VALUE, plain([semaphore])),
            Request::QueueOpen { name, flags, messages, size } => {
                (number::QUEUE_OPEN, named(name, [flags, 0], [messages, size]))
            }
            Request::QueueClose { queue } => (number::QUEUE_CLOSE, plain([queue])),
            Request::QueueUnlink { name, only } => (number::QUEUE_UNLINK, named(name, [only, 0], [0; 2])),
            Request::QueueSend { queue, length, priority, block } => {
                (number::QUEUE_SEND, plain([queue, length, priority, block.into()]))
            }
            Request::QueueReceive { queue, room, block } => (number::QUEUE_RECEIVE, plain([queue, room, block.into()])),
            Request::QueueAttributes { queue } => (number::QUEUE_ATTRIBUTES, plain([queue])),
            Request::QueueNotify { queue, thread, wanted } => {
                (number::QUEUE_NOTIFY, plain([queue, thread.into(), wanted.into()]))
            }
            Request::Finish { length, priority } => (number::FINISH, plain([length, priority])),
            Request::Cancel { length, priority } => (number::CANCEL, plain([length, priority])),
            Request::Abandon { thread } => (number::ABANDON, plain([thread.into()])),
            Request::FifoCreate { fifo, size } => (number::FIFO_CREATE, plain([fifo, size])),
            Request::FifoDestroy { fifo } => (number::FIFO_DESTROY, plain([fifo])),
            Request::FifoResize { fifo, size } => (number::FIFO_RESIZE, plain([fifo, size])),
            Request::FifoPut { fifo, length } => (number::FIFO_PUT, plain([fifo, length])),
            Request::FifoGet { fifo, length } => (number::FIFO_GET, plain([fifo, length])),
            Request::FifoFlush { fifo } => (number::FIFO_FLUSH, plain([fifo])),
            Request::FifoState { fifo } => (number::FIFO_STATE, plain([fifo])),
            Request::FifoPair { get, put } => (number::FIFO_PAIR, plain([get, put])),
        }
    }

    /// The inverse of [`Request::encode`]. `ENOSYS` for an unknown number, `EINVAL` for an invalid
    /// name.
    pub fn decode(label: u64, words: &Words) -> Result<(Caller, Request), i32> {
        let caller = Caller { thread: (label >> 8) as u8, level: (label >> 16) as u8, at: (label >> 24) as u16 };
        Ok((caller, Request::from_parts(label & 0xff, words)?))
    }

    fn from_parts(number: u64, words: &Words) -> Result<Request, i32> {
        let name = || name_of(words);
        let [a, b, c, d] = [0, 1, 2, 3].map(|i| words[i] as u32);
        let [low, high] = [NAME_WORDS, NAME_WORDS + 1].map(|i| [words[i] as u32, (words[i] >> 32) as u32]);
        Ok(match number {
            number::READY => Request::Ready,
            number::TASK_ENDED => Request::TaskEnded { index: a, part: b },
            number::SEM_OPEN => Request::SemOpen { name: name()?, flags: low[0], value: low[1] },
            number::SEM_CLOSE => Request::SemClose { semaphore: a },
            number::SEM_UNLINK => Request::SemUnlink { name: name()?, only: low[0] },
            number::SEM_WAIT => Request::SemWait { semaphore: a, block: b != 0 },
            number::SEM_POST => Request::SemPost { semaphore: a },
            number::SEM_VALUE => Request::SemValue { semaphore: a },
            number::QUEUE_OPEN => Request::QueueOpen { name: name()?, flags: low[0], messages: high[0], size: high[1] },
            number::QUEUE_CLOSE => Request::QueueClose { queue: a },
            number::QUEUE_UNLINK => Request::QueueUnlink { name: name()?, only: low[0] },
            number::QUEUE_SEND => Request::QueueSend { queue: a, length: b, priority: c, block: d != 0 },
            number::QUEUE_RECEIVE => Request::QueueReceive { queue: a, room: b, block: c != 0 },
            number::QUEUE_ATTRIBUTES => Request::QueueAttributes { queue: a },
            number::QUEUE_NOTIFY => Request::QueueNotify { queue: a, thread: b as u8, wanted: c != 0 },
            number::FINISH => Request::Finish { length: a, priority: b },
            number::CANCEL => Request::Cancel { length: a, priority: b },
            number::ABANDON => Request::Abandon { thread: a as u8 },
            number::FIFO_CREATE => Request::FifoCreate { fifo: a, size: b },
            number::FIFO_DESTROY => Request::FifoDestroy { fifo: a },
            number::FIFO_RESIZE => Request::FifoResize { fifo: a, size: b },
            number::FIFO_PUT => Request::FifoPut { fifo: a, length: b },
            number::FIFO_GET => Request::FifoGet { fifo: a, length: b },
            number::FIFO_FLUSH => Request::FifoFlush { fifo: a },
            number::FIFO_STATE => Request::FifoState { fifo: a },
            number::FIFO_PAIR => Request::FifoPair { get: a, put: b },
            _ => return Err(ENOSYS),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> [Request; 26] {
        let name = Name::new(b"/a name of more than eight bytes").unwrap();
        [
            Request::Ready,
            Request::TaskEnded { index: 3, part: 4 },
            Request::SemOpen { name, flags: 3, value: 9 },
            Request::SemClose { semaphore: 1 },
            Request::SemUnlink { name, only: 5 },
            Request::SemWait { semaphore: 2, block: true },
            Request::SemPost { semaphore: 3 },
            Request::SemValue { semaphore: 4 },
            Request::QueueOpen { name, flags: 1, messages: 5, size: 6 },
            Request::QueueClose { queue: 5 },
            Request::QueueUnlink { name, only: 6 },
            Request::QueueSend { queue: 6, length: 7, priority: 8, block: true },
            Request::QueueReceive { queue: 7, room: 8, block: true },
            Request::QueueAttributes { queue: 8 },
            Request::QueueNotify { queue: 9, thread: 63, wanted: true },
            Request::Finish { length: 10, priority: 11 },
            Request::Cancel { length: 11, priority: 12 },
            Request::Abandon { thread: 12 },
            Request::FifoCreate { fifo: 13, size: 14 },
            Request::FifoDestroy { fifo: 14 },
            Request::FifoResize { fifo: 15, size: 16 },
            Request::FifoPut { fifo: 16, length: 17 },
            Request::FifoGet { fifo: 17, length: 18 },
            Request::FifoFlush { fifo: 18 },
            Request::FifoState { fifo: 19 },
            Request::FifoPair { get: 20, put: 21 },
        ]
    }

    #[test]
    fn requests_round_trip() {
        let caller = Caller { thread: 63, level: 211, at: 0xe040 };
        for request in all() {
            let (label, words) = request.encode(caller);
            assert_eq!(Request::decode(label, &words), Ok((caller, request)));
        }
    }

    #[test]
    fn names_that_look_alike_are_one() {
        let ask = |bytes: &[u8]| {
            let mut words = [0; MESSAGE_WORDS];
            for (word, part) in words.iter_mut().zip(bytes.chunks(8)) {
                *word = part.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
            }
            Request::decode(number::SEM_UNLINK, &words).map(|(_, request)| request)
        };
        let name = Name::new(b"/foo").unwrap();
        assert_eq!(ask(b"/foo"), Ok(Request::SemUnlink { name, only: 0 }));
        for bad in [&b""[..], b"/foo\0junk", b"\0/foo", &[b'x'; NAME_SIZE]] {
            assert_eq!(ask(bad), Err(EINVAL), "{bad:?}");
        }
    }

    #[test]
    fn other_numbers_are_refused() {
        let known = all().map(|request| request.parts().0);
        for number in (0..256).filter(|number| !known.contains(number)) {
            assert_eq!(Request::decode(number, &[0; MESSAGE_WORDS]), Err(ENOSYS));
        }
    }
}
