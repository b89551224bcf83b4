//! Message queues with names, which the broker keeps ([`crate::kept`]). Messages go through a part
//! of the task's transfer memory, one for each runner, so that no runner waits for another.

use crate::answer::{Answer, End, Thread};
use crate::runner;
use pillion_abi::dual::service::{QUEUE_CLOCK, QUEUE_COUNT, QUEUE_PRIORITY, QUEUE_RESULT, TRY};
use pillion_dual::objects::{Kept, Party, error};
use pillion_runtime::broker::{DATA_SIZE, MESSAGE_PRIORITIES, QUEUE_MESSAGES, Request};
use pillion_runtime::info::address;

/// Parts begin at multiples of this.
const ALIGNMENT: usize = 64;

/// Bytes of a runner's part: the longest message.
fn part_bytes() -> usize {
    DATA_SIZE as usize / runner::count().max(1) / ALIGNMENT * ALIGNMENT
}

/// Where a runner's part begins in the transfer memory.
pub fn part(runner: usize) -> usize {
    runner * part_bytes()
}

// A result is positive in 32 bits.
const _: () = {
    assert!((DATA_SIZE as u64) < QUEUE_RESULT && QUEUE_MESSAGES as u64 * QUEUE_RESULT <= QUEUE_COUNT);
    assert!((QUEUE_MESSAGES as u64 + 1) * QUEUE_COUNT < 1 << 31);
    assert!(MESSAGE_PRIORITIES as u64 * QUEUE_RESULT < 1 << 31);
};

/// A call about a message, as the thread made it.
pub struct Call {
    queue: u64,
    clock: u64,
    /// Where the message is, or is to be.
    at: u64,
    bytes: usize,
    priority: u32,
    ns: u64,
}

impl Call {
    /// From the arguments of a call to send; one to receive has no priority.
    pub fn new([first, at, third, ns]: [u64; 4]) -> Call {
        // The clocks that are none are negative.
        let clock = i64::from((first / QUEUE_CLOCK) as i32).cast_unsigned();
        let (bytes, priority) = (third % QUEUE_PRIORITY, (third / QUEUE_PRIORITY) as u32);
        Call { queue: first % QUEUE_CLOCK, clock, at, bytes: bytes as usize, priority, ns }
    }
}

impl Thread<'_> {
    fn queue(&self, party: Party, handle: u64) -> Result<u32, i64> {
        match self.with(|objects| objects.kept(party, handle)) {
            Some(Kept { is_queue: true, handle }) => Ok(handle),
            _ => Err(error::EINVAL),
        }
    }

    /// This runner's part.
    fn part(&self) -> *mut u8 {
        (address::TRANSFER as usize + part(self.place.number)) as *mut u8
    }

    /// The process cannot use the memory of a message. Linux may have to bring it: the thread makes
    /// the call there, and the module brings what can be brought before it offers the thread.
    fn unreachable(&self) -> Answer {
        if self.counts.calls == 0 { Answer::Value(error::EFAULT) } else { Answer::Linux }
    }

    /// The queue, and the end of a call's wait.
    fn look_at(&self, party: Party, call: &Call) -> Result<(u32, Option<End>), Answer> {
        let found = self.queue(party, call.queue).and_then(|queue| Ok((queue, End::of(call.clock, call.ns)?)));
        found.map_err(Answer::Value)
    }

    pub fn send(&mut self, party: Party, call: &Call) -> Answer {
        self.try_send(party, call).unwrap_or_else(|answer| answer)
    }

    fn try_send(&mut self, party: Party, call: &Call) -> Result<Answer, Answer> {
        let (queue, end) = self.look_at(party, call)?;
        if call.bytes > part_bytes() {
            return Err(Answer::Value(error::EMSGSIZE));
        }
        // SAFETY: the manager mapped the transfer memory for good, the part is this runner's alone,
        // and has room for the message.
        let copied = unsafe { self.process.copy_from(call.at, self.part(), call.bytes) };
        copied.ok_or_else(|| self.unreachable())?;
        let (length, priority) = (call.bytes as u32, call.priority);
        let request = Request::QueueSend { queue, length, priority, block: call.clock != TRY };
        self.wait_for_broker(request, (length, priority), end.as_ref())?;
        Ok(self.last(0))
    }

    pub fn receive(&mut self, party: Party, call: &Call) -> Answer {
        self.try_receive(party, call).unwrap_or_else(|answer| answer)
    }

    /// A message that the process has no memory for any more when it comes is lost.
    fn try_receive(&mut self, party: Party, call: &Call) -> Result<Answer, Answer> {
        let (queue, end) = self.look_at(party, call)?;
        let room = call.bytes.min(part_bytes());
        if !self.process.may_write(call.at, room) {
            return Err(self.unreachable());
        }
        let request = Request::QueueReceive { queue, room: room as u32, block: call.clock != TRY };
        let [length, priority, _] = self.wait_for_broker(request, (0, 0), end.as_ref())?;
        let bytes = (length as usize).min(room);
        // SAFETY: as in `try_send`.
        let copied = unsafe { self.process.copy_to(call.at, self.part(), bytes) };
        let value = copied.map_or(error::EFAULT, |()| (priority * QUEUE_RESULT + bytes as u64).cast_signed());
        Ok(self.last(value))
    }

    pub fn queue_state(&self, party: Party, handle: u64) -> Result<i64, i64> {
        let queue = self.queue(party, handle)?;
        let [most, size, count] = self.ask_now(Request::QueueAttributes { queue })?;
        Ok((size + most.saturating_sub(1) * QUEUE_RESULT + count * QUEUE_COUNT).cast_signed())
    }
}
