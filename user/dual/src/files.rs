//! Reads and writes of files that both sides use ([`pillion_dual::file`]).
//!
//! What a descriptor means is looked up where Linux's kernel does: so it holds whoever closes it or
//! uses it for another file.

use crate::answer::{Answer, End, Thread, time};
use crate::futexes::{deliver, waiters};
use crate::level;
use crate::lock::All;
use crate::place::{self, Place};
use crate::process::{LinuxRam, is_beyond};
use crate::runner;
use core::ptr::addr_of;
use pillion_abi::NEVER;
use pillion_abi::dual::file::SET;
use pillion_abi::dual::{Descriptors, life, resume};
use pillion_dual::clock::SECOND;
use pillion_dual::exclusion::Runners;
use pillion_dual::file::{ABSOLUTE, Due, File, New, Rest, Take};
use pillion_dual::futex::{Begun, Futexes, Wait};
use pillion_dual::objects::error;
use pillion_runtime::now;

/// Bytes that are read or written.
const LONG: u64 = 8;

/// Bytes of a `struct timespec`.
pub const TIMESPEC: u64 = 16;

/// Flag of a file: nobody waits.
const O_NONBLOCK: u32 = 0o4000;

/// Most files that are looked at.
const FILES_MAX: u32 = 64;

/// A file, and its address in [`waits`].
struct Found {
    file: &'static File,
    address: u64,
    may_wait: bool,
}

/// The waits for files.
pub fn waits() -> &'static Futexes {
    // SAFETY: as in `waiters`.
    unsafe { &*addr_of!((*place::head()).file_waits).cast() }
}

/// Where a part of something of Linux's kernel is in its memory; nowhere, for what is not there.
pub fn place_of(told: &Descriptors, address: u64, offset: u32) -> u64 {
    address.wrapping_sub(told.direct_map).wrapping_add(offset.into())
}

/// The address of the `struct file` of a descriptor of the thread whose table's address is at
/// `table`.
pub fn file_of(ram: &LinuxRam, told: &Descriptors, table: u64, descriptor: u32) -> Option<u64> {
    let Descriptors { direct_map, fdtable_count, fdtable_files, .. } = *told;
    let place = |address, offset| place_of(told, address, offset);
    let now = ram.long(table).filter(|_| direct_map != 0)?;
    if descriptor >= ram.word(place(now, fdtable_count))? {
        return None;
    }
    let array = ram.long(place(now, fdtable_files))?;
    let key = ram.long(place(array, 0).wrapping_add(u64::from(descriptor) * LONG))?;
    // A thread on another of Linux's processors may have taken a larger table: what is closed there
    // stays in this one.
    (key != 0 && ram.long(table)? == now).then_some(key)
}

/// Finds the file of a descriptor of the thread whose table's address is at `table`.
fn find(ram: &LinuxRam, table: u64, descriptor: u32) -> Option<Found> {
    let told = place::descriptors();
    let key = file_of(ram, &told, table, descriptor)?;
    let Descriptors { files, count, file_flags, .. } = told;
    let place = |address, offset| place_of(&told, address, offset);
    let size = size_of::<File>() as u32;
    (0..count.min(FILES_MAX))
        .find_map(|index| {
            let file = ram.file(place(files, index * size))?;
            file.is_of(key).then_some((file, index))
        })
        .and_then(|(file, index)| {
            let may_wait = ram.word(place(key, file_flags))? & O_NONBLOCK == 0;
            Some(Found { file, address: u64::from(index + 1) * 4, may_wait })
        })
}

/// Has Linux wake its threads that may wait for a file which has changed.
fn tell_linux(place: &Place, found: &Found) {
    if (waits().in_linux(found.address) || found.file.is_polled()) && place::life() == life::LIVES {
        found.file.post();
        deliver(place, SET as u32);
    }
}

impl Thread<'_> {
    fn find(&self, descriptor: u32) -> Option<Found> {
        let table = self.place.descriptors();
        self.process.in_linux(|ram| find(ram, table, descriptor))
    }

    /// Uses the file of a descriptor: Linux makes no other one of it until `f` has ended.
    fn with_file<R>(
        &mut self,
        descriptor: u32,
        since: u64,
        f: impl FnOnce(&mut Self, &Found) -> Option<R>,
    ) -> Option<R> {
        let found = self.find(descriptor)?;
        let (me, waiter) = (self.place.number, &waiters()[self.place.number]);
        let wait = Wait { address: found.address, bitset: u32::MAX, urgency: level::urgency(me), since };
        let again = || Some(self.find(descriptor)?.address == found.address);
        if waiter.begin(me, waits(), &wait, again) != Begun::Waits {
            return None;
        }
        let result = f(self, &found);
        waiter.end(me, waits());
        result
    }

    /// `read`, made at that tick.
    pub fn read(&mut self, descriptor: u32, to: u64, length: u64, made: u64) -> Option<Answer> {
        // Linux refuses a length that no memory has.
        if length < LONG || is_beyond(to, length) {
            return None;
        }
        self.with_file(descriptor, made, |thread, found| {
            thread.process.takes_long(to)?;
            thread.take(found, to)
        })
    }

    /// Waits until there is something to read.
    fn take(&mut self, found: &Found, to: u64) -> Option<Answer> {
        let waiter = &waiters()[self.place.number];
        let mut has_waited = false;
        loop {
            let (_, clocks) = place::clock();
            let take = found.file.take(|clock| time(&clocks?, clock, now()))?;
            let is_wanted = runner::is_wanted(self.place, self.offer);
            let due = match take {
                Take::Taken(count, due) => {
                    if found.file.is_event() {
                        tell_linux(self.place, found);
                    }
                    if let Some(deadline) = due.filter(|_| has_waited).and_then(tick) {
                        self.note_latency(deadline);
                    }
                    if self.process.set_long(to, count).is_none() {
                        found.file.restore(count);
                        return None;
                    }
                    if !found.file.is_event() {
                        self.note_overruns(count - 1);
                    }
                    let length = LONG as i64;
                    return Some(if is_wanted { Answer::LastValue(length) } else { Answer::Value(length) });
                }
                Take::Nothing(_) if !found.may_wait => return Some(Answer::Value(error::EAGAIN)),
                Take::Nothing(_) if is_wanted => {
                    return Some(Answer::CutShort { resume: resume::ABSOLUTE, wake_ns: 0 });
                }
                Take::Nothing(due) => due,
            };
            if waiter.is_woken() {
                waiter.go_on();
                continue;
            }
            self.counts.waits += u64::from(!has_waited);
            has_waited = true;
            // Linux may set a clock meanwhile, and then signals the runner, or change the rate.
            self.pause(due.map_or(Some(NEVER), tick)?);
        }
    }

    /// `write`.
    pub fn write(&mut self, descriptor: u32, from: u64, length: u64) -> Option<Answer> {
        if length != LONG {
            return None;
        }
        self.with_file(descriptor, 0, |thread, found| {
            let count = thread.process.long(from)?;
            found.file.add(count)?;
            let woken = waits().wake(waiters(), found.address, u32::MAX, u32::MAX);
            // It is known to wait itself, but does not.
            All.signal_all(woken & !(1 << thread.place.number));
            tell_linux(thread.place, found);
            Some(Answer::Value(LONG as i64))
        })
    }
}

impl Thread<'_> {
    /// `timerfd_settime`; `old` is 0, or where it is to be said what the timer was set to.
    pub fn set_timer(&mut self, descriptor: u32, flags: u32, new: u64, old: u64) -> Option<Answer> {
        let new = self.new_setting(flags, new, old)?;
        self.with_file(descriptor, 0, |thread, found| {
            let (_, clocks) = place::clock();
            let clocks = clocks?;
            let present = |clock| time(&clocks, clock, now());
            let before = found.file.rest(present)?;
            found.file.set(new, present)?;
            let woken = waits().wake(waiters(), found.address, u32::MAX, u32::MAX);
            All.signal_all(woken & !(1 << thread.place.number));
            tell_linux(thread.place, found);
            Some(thread.tell_before(old, before))
        })
    }

    /// `timerfd_gettime`.
    pub fn timer_rest(&mut self, descriptor: u32, to: u64) -> Option<Answer> {
        self.with_file(descriptor, 0, |thread, found| {
            let (_, clocks) = place::clock();
            let clocks = clocks?;
            let rest = found.file.rest(|clock| time(&clocks, clock, now()))?;
            thread.tell_rest(to, rest)?;
            Some(Answer::Value(0))
        })
    }

    /// How a timer is to be set, by the `struct itimerspec` at `new`. `None` if it cannot be read,
    /// if the flags are unknown, or if what the timer was cannot be written to `old`.
    pub fn new_setting(&self, flags: u32, new: u64, old: u64) -> Option<New> {
        let interval = self.length(new)?;
        let first = self.length(new.checked_add(TIMESPEC)?)?;
        let may_tell = old == 0 || old.is_multiple_of(8) && self.process.may_write(old, 2 * TIMESPEC as usize);
        let is_known = flags & !ABSOLUTE == 0;
        (is_known && may_tell).then_some(New { first, is_absolute: flags & ABSOLUTE != 0, interval })
    }

    /// Says what a timer was set to, if it is asked. As in Linux, it is set also if that cannot be
    /// said any more.
    pub fn tell_before(&self, old: u64, before: Rest) -> Answer {
        let is_told = old == 0 || self.tell_rest(old, before).is_some();
        Answer::Value(if is_told { 0 } else { error::EFAULT })
    }

    /// Writes a `struct itimerspec`.
    pub fn tell_rest(&self, to: u64, Rest { left, interval }: Rest) -> Option<()> {
        let [interval, left] = [interval, left].map(|time| [time / SECOND, time % SECOND]);
        self.process.set_pair(to, interval)?;
        self.process.set_pair(to.checked_add(TIMESPEC)?, left)
    }
}

/// The tick of a time, by the clocks of now.
fn tick(due: Due) -> Option<u64> {
    End::At { clock: due.clock, time: due.time }.tick()
}
