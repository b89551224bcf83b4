//! `mq_timedsend` and `mq_timedreceive` on queues that both sides use ([`pillion_dual::queue`]).
//!
//! Who changes a queue wakes one thread that waits for that. One that was woken and takes nothing,
//! or something else, passes that on.

use crate::answer::{Answer, End, Thread};
use crate::files::{file_of, place_of, waits};
use crate::futexes::{deliver, waiters};
use crate::level;
use crate::lock::All;
use crate::place::{self, Place};
use crate::process::{LinuxRam, Process, is_beyond};
use crate::runner;
use core::mem::MaybeUninit;
use pillion_abi::NEVER;
use pillion_abi::dual::file::{READ, SET, WRITE};
use pillion_abi::dual::queue::{PRIORITIES, QUEUES};
use pillion_abi::dual::{Descriptors, life, resume};
use pillion_channel::copy::copy;
use pillion_dual::exclusion::Runners;
use pillion_dual::futex::{Begun, Wait};
use pillion_dual::objects::error;
use pillion_dual::queue::{Queue, Shape, Side};
use pillion_runtime::now;

/// Flag of a file: nobody waits.
const O_NONBLOCK: u32 = 0o4000;

/// Bytes that are copied at once: an eighth of a runner's stack.
const PART: usize = 1024;

/// A clock of Linux.
const REALTIME: u64 = 0;

/// A queue that a descriptor means.
struct Found {
    queue: &'static Queue,
    shape: Shape,
    direct_map: u64,
    mode: u32,
    may_wait: bool,
}

/// A message's text in a process.
#[derive(Clone, Copy)]
pub struct Text {
    /// Its address.
    pub at: u64,
    /// Its bytes, or bytes that there is room for.
    pub length: u64,
}

/// Whether a queue begins at an offset from the first one.
fn is_one_of(offset: u64) -> bool {
    const SIZE: u64 = size_of::<Queue>() as u64;
    offset < QUEUES as u64 * SIZE && offset.is_multiple_of(SIZE)
}

fn find(ram: &LinuxRam, table: u64, descriptor: u32) -> Option<Found> {
    let told = place::descriptors();
    let key = file_of(ram, &told, table, descriptor)?;
    let Descriptors { file_flags, file_mode, file_operations, file_data, queue_operations, queues, .. } = told;
    let place = |address, offset| place_of(&told, address, offset);
    if queue_operations == 0 || ram.long(place(key, file_operations))? != queue_operations {
        return None;
    }
    let at = ram.long(place(key, file_data))?;
    // The file may have been closed, and be another one by now: then this can be any address.
    if !is_one_of(at.wrapping_sub(queues)) {
        return None;
    }
    let queue = ram.queue(place(at, 0))?;
    let may_wait = ram.word(place(key, file_flags))? & O_NONBLOCK == 0;
    let mode = ram.word(place(key, file_mode))?;
    Some(Found { queue, shape: queue.shape()?, direct_map: told.direct_map, mode, may_wait })
}

impl Found {
    fn is(&self, other: &Found) -> bool {
        core::ptr::eq(self.queue, other.queue) && self.shape == other.shape && self.mode == other.mode
    }

    /// Where the text at a place is, if it is in Linux's memory.
    fn text(&self, process: &Process<'_>, place: usize) -> Option<*mut u8> {
        let at = self.shape.text(place).wrapping_sub(self.direct_map);
        process.in_linux(|ram| ram.stretch(at, self.shape.size))
    }

    /// Wakes one thread that waits on a side, in primary mode if there is one.
    fn tell(&self, runner: &Place, side: Side) {
        let address = self.shape.address(side);
        let woken = waits().wake(waiters(), address, u32::MAX, 1);
        All.signal_all(woken);
        let is_linux_to_look = woken == 0 && waits().in_linux(address) || self.queue.is_polled();
        if is_linux_to_look && place::life() == life::LIVES {
            self.queue.post();
            deliver(runner, SET as u32);
        }
    }
}

/// What became of a try.
enum Tried {
    /// The call returns this.
    Done(i64),
    /// It has to wait.
    Not,
}

impl Thread<'_> {
    fn queue_of(&self, descriptor: u32) -> Option<Found> {
        let table = self.place.descriptors();
        self.process.in_linux(|ram| find(ram, table, descriptor))
    }

    /// Uses the queue of a descriptor on one side: Linux makes no other one of it meanwhile.
    fn with_queue(
        &mut self,
        descriptor: u32,
        side: Side,
        since: u64,
        f: impl FnOnce(&mut Self, &Found) -> Option<Answer>,
    ) -> Option<Answer> {
        let mode = if side == Side::Sends { WRITE } else { READ };
        let found = self.queue_of(descriptor).filter(|found| found.mode & mode != 0)?;
        let (me, waiter) = (self.place.number, &waiters()[self.place.number]);
        let wait = Wait { address: found.shape.address(side), bitset: u32::MAX, urgency: level::urgency(me), since };
        let again = || Some(self.queue_of(descriptor)?.is(&found));
        if waiter.begin(me, waits(), &wait, again) != Begun::Waits {
            return None;
        }
        let answer = f(self, &found);
        let was_woken = waiter.end(me, waits());
        // Who leaves to Linux can be stopped there, whatever woke it before.
        if (was_woken || answer.is_none()) && found.queue.lets(&found.shape, side) {
            found.tell(self.place, side);
        }
        answer
    }

    /// Tries until it is done, or the wait ends: by the clock `REALTIME`, at the `struct timespec`
    /// at `until` if that is not 0.
    fn wait_for_queue(
        &mut self,
        found: &Found,
        until: u64,
        mut attempt: impl FnMut(&Self) -> Option<Tried>,
    ) -> Option<Answer> {
        let waiter = &waiters()[self.place.number];
        let end = if until == 0 { None } else { Some(End::At { clock: REALTIME, time: self.length(until)? }) };
        let mut has_waited = false;
        loop {
            if let Tried::Done(value) = attempt(self)? {
                return Some(self.last(value));
            }
            if !found.may_wait {
                return Some(Answer::Value(error::EAGAIN));
            }
            if runner::is_wanted(self.place, self.offer) {
                return Some(Answer::CutShort { resume: resume::ABSOLUTE, wake_ns: 0 });
            }
            if waiter.is_woken() {
                waiter.go_on();
                continue;
            }
            // Linux may set the clock meanwhile, and then signals the runner, or change its rate.
            let deadline = end.as_ref().map_or(Some(NEVER), End::tick)?;
            if now() >= deadline {
                if has_waited {
                    self.note_latency(deadline);
                }
                return Some(Answer::Value(error::ETIMEDOUT));
            }
            self.counts.waits += u64::from(!has_waited);
            has_waited = true;
            self.pause(deadline);
        }
    }

    /// Does something with the messages while nobody else does.
    fn at_messages<R>(&self, found: &Found, f: impl FnOnce() -> R) -> Option<R> {
        self.with(|_| found.queue.alone(place::life() == life::LIVES, f))
    }

    /// `mq_timedsend`, made at that tick. Apart, as the next one, so that other calls are as short
    /// as without it.
    #[inline(never)]
    pub fn send_to_queue(
        &mut self,
        descriptor: u32,
        text: Text,
        priority: u32,
        until: u64,
        made: u64,
    ) -> Option<Answer> {
        if priority >= PRIORITIES || is_beyond(text.at, text.length) {
            return None;
        }
        self.with_queue(descriptor, Side::Sends, made, |thread, found| {
            let length = text.length as usize;
            if length > found.shape.size {
                return None;
            }
            thread.wait_for_queue(found, until, |thread| {
                let put = || {
                    // Nobody is told by a Linux that is dead.
                    if found.queue.notifies() && place::life() == life::LIVES {
                        return None;
                    }
                    let Some(place) = found.queue.room(&found.shape) else { return Some(Tried::Not) };
                    thread.fetch(text.at, found.text(&thread.process, place)?, length)?;
                    found.queue.put(place, priority, length);
                    Some(Tried::Done(0))
                };
                let tried = thread.at_messages(found, put)??;
                if matches!(tried, Tried::Done(_)) {
                    found.tell(thread.place, Side::Receives);
                }
                Some(tried)
            })
        })
    }

    /// `mq_timedreceive`, made at that tick; `priority` is 0, or where that is to be said.
    #[inline(never)]
    pub fn receive_from_queue(
        &mut self,
        descriptor: u32,
        text: Text,
        priority: u64,
        until: u64,
        made: u64,
    ) -> Option<Answer> {
        if is_beyond(text.at, text.length) {
            return None;
        }
        self.with_queue(descriptor, Side::Receives, made, |thread, found| {
            if text.length < found.shape.size as u64 {
                return None;
            }
            thread.wait_for_queue(found, until, |thread| {
                let take = || {
                    let Some(first) = found.queue.first(&found.shape) else { return Some(Tried::Not) };
                    if priority != 0 {
                        thread.process.set_word(priority, first.priority)?;
                    }
                    thread.give(text.at, found.text(&thread.process, first.place)?, first.length)?;
                    found.queue.remove(first.place);
                    Some(Tried::Done(first.length as i64))
                };
                let tried = thread.at_messages(found, take)??;
                if matches!(tried, Tried::Done(_)) {
                    found.tell(thread.place, Side::Sends);
                }
                Some(tried)
            })
        })
    }

    /// Copies a text of the process to a queue. Linux states both places, which may be one, so
    /// there is a step in between.
    fn fetch(&self, from: u64, to: *mut u8, length: usize) -> Option<()> {
        let mut part = MaybeUninit::<[u8; PART]>::uninit();
        let part = part.as_mut_ptr().cast::<u8>();
        for done in (0..length).step_by(PART) {
            let bytes = PART.min(length - done);
            // SAFETY: the part has room for them.
            unsafe { self.process.copy_from(from + done as u64, part, bytes) }?;
            // SAFETY: the place of the text, of Linux's memory, is at least as long, and mapped for
            // good.
            unsafe { copy(to.add(done), part, bytes) };
        }
        Some(())
    }

    /// Copies a text of a queue to the process; all or, with `None`, some.
    fn give(&self, to: u64, from: *const u8, length: usize) -> Option<()> {
        let mut part = MaybeUninit::<[u8; PART]>::uninit();
        let part = part.as_mut_ptr().cast::<u8>();
        for done in (0..length).step_by(PART) {
            let bytes = PART.min(length - done);
            // SAFETY: as in `fetch`.
            unsafe { copy(part, from.add(done), bytes) };
            // SAFETY: the part has them.
            unsafe { self.process.copy_to(to + done as u64, part, bytes) }?;
        }
        Some(())
    }
}
