//! Eventfds and timerfds of Linux's that both sides read and write.
//!
//! What a read takes is in one word, which each side exchanges: so whatever is taken is taken once.
//! A timer counts from its first expiry; nobody adds anything up when it expires.
//!
//! Linux can write all of these words at any time. It can harm only those who use its files by
//! that: no loop depends on what is in them.

#[cfg(all(test, not(loom)))]
mod tests;

use crate::sync::{
    AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed, SeqCst},
};
use pillion_abi::dual::file::{BY_TASK, COUNT_MAX, FREE, TAKEN, kind};

/// How often an exchange is tried.
const ATTEMPTS: u32 = 8;

/// A [`pillion_abi::dual::File`].
#[derive(Debug)]
#[repr(C, align(64))]
pub struct File {
    kind: AtomicU32,
    polled: AtomicU32,
    key: AtomicU64,
    value: AtomicU64,
    posted: AtomicU64,
    clock: AtomicU64,
    changing: AtomicU32,
    _reserved: [AtomicU32; 5],
    settings: [Setting; 2],
}

/// A [`pillion_abi::dual::TimerSetting`].
#[derive(Debug)]
#[repr(C)]
struct Setting {
    clock: AtomicU64,
    first: AtomicU64,
    interval: AtomicU64,
    flags: AtomicU64,
}

/// What a timer is set to: until its next expiry, and from one to the next, in nanoseconds. Neither
/// means that there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rest {
    /// Until the next expiry.
    pub left: u64,
    /// From one expiry to the next.
    pub interval: u64,
}

/// How a timer is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct New {
    /// When it expires first: a time, or a length of time; 0: it does not run.
    pub first: u64,
    /// Whether `first` is a time of the descriptor's clock.
    pub is_absolute: bool,
    /// Nanoseconds from one expiry to the next; 0: it expires once.
    pub interval: u64,
}

/// Flag of `timerfd_settime` and `timer_settime`: the time is a point, not a length.
pub const ABSOLUTE: u32 = 1;

/// A clock of Linux. A length of time of it counts by the monotonic one, which nobody sets.
pub const REALTIME: u64 = 0;
const MONOTONIC: u64 = 1;

/// A time of a clock, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// One of Linux's clocks.
    pub clock: u64,
    /// The time.
    pub time: u64,
}

/// What is there to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Take {
    /// So much was taken; of a timer, since its first expiry that was not taken before.
    Taken(u64, Option<Due>),
    /// Nothing, before a timer's next expiry if there is one.
    Nothing(Option<Due>),
}

impl File {
    /// Whether it is that `struct file`'s.
    #[must_use]
    pub fn is_of(&self, key: u64) -> bool {
        self.key.load(Acquire) == key
    }

    /// Whether it is an eventfd.
    #[must_use]
    pub fn is_event(&self) -> bool {
        matches!(self.kind.load(Acquire), kind::EVENT | kind::SEMAPHORE)
    }

    /// Takes what a read takes. `now` tells the time of a clock. `None`: Linux has to do it.
    pub fn take(&self, now: impl Fn(u64) -> Option<u64>) -> Option<Take> {
        match self.kind.load(Acquire) {
            kind::EVENT => Some(match self.value.swap(0, SeqCst) {
                0 => Take::Nothing(None),
                count => Take::Taken(count, None),
            }),
            kind::SEMAPHORE => self.exchange(|count| match count {
                0 => Some((None, Take::Nothing(None))),
                _ => Some((Some(count - 1), Take::Taken(1, None))),
            }),
            kind::TIMER => self.exchange(|value| self.expired(value, &now)),
            _ => None,
        }
    }

    /// What a timer with that value has to be read, and the value after that.
    fn expired(&self, value: u64, now: impl Fn(u64) -> Option<u64>) -> Option<(Option<u64>, Take)> {
        let [clock, first, interval] = self.setting(value);
        let taken = value % TAKEN;
        if first == 0 || interval == 0 && taken != 0 {
            return Some((None, Take::Nothing(None)));
        }
        let due = Due { clock, time: first.checked_add(taken.checked_mul(interval)?)? };
        let Some(late) = now(clock)?.checked_sub(due.time) else { return Some((None, Take::Nothing(Some(due)))) };
        let count = late.checked_div(interval).unwrap_or(0) + 1;
        let is_countable = taken.checked_add(count)? < TAKEN;
        is_countable.then_some((Some(value + count), Take::Taken(count, Some(due))))
    }

    /// Clock, first expiry and interval of a timer with that value.
    fn setting(&self, value: u64) -> [u64; 3] {
        let Setting { clock, first, interval, .. } = &self.settings[(value / TAKEN % 2) as usize];
        [clock, first, interval].map(|word| word.load(Acquire))
    }

    /// What a timer is set to. `None`: it is none, or is being set. `now` as in [`File::take`].
    pub fn rest(&self, now: impl Fn(u64) -> Option<u64>) -> Option<Rest> {
        (self.kind.load(Acquire) == kind::TIMER).then_some(())?;
        (0..ATTEMPTS).find_map(|_| {
            let value = self.value.load(SeqCst);
            let [clock, first, interval] = self.setting(value);
            let present = now(clock)?;
            let left = left(value % TAKEN, [first, interval], present);
            (self.value.load(SeqCst) == value).then_some(Rest { left, interval })
        })
    }

    /// Sets a timer. `None`: it is none, Linux sets it, or its clock cannot be read; `now` as in
    /// [`File::take`]. Whoever waits looks again afterwards.
    pub fn set(&self, new: New, now: impl Fn(u64) -> Option<u64>) -> Option<()> {
        self.changing.compare_exchange(FREE, BY_TASK, SeqCst, Relaxed).ok()?;
        let result = self.change(new, now);
        let _ = self.changing.compare_exchange(BY_TASK, FREE, SeqCst, Relaxed);
        result
    }

    fn change(&self, New { first, is_absolute, interval }: New, now: impl Fn(u64) -> Option<u64>) -> Option<()> {
        (self.kind.load(Acquire) == kind::TIMER).then_some(())?;
        let own = self.clock.load(Relaxed);
        let clock = if own == REALTIME && !is_absolute { MONOTONIC } else { own };
        let first = if is_absolute || first == 0 { first } else { now(clock)?.checked_add(first)? };
        let number = (self.value.load(SeqCst) / TAKEN).wrapping_add(1);
        let to = &self.settings[(number % 2) as usize];
        to.clock.store(clock, Relaxed);
        to.first.store(first, Relaxed);
        to.interval.store(interval, Relaxed);
        to.flags.store(if is_absolute { ABSOLUTE.into() } else { 0 }, Relaxed);
        (0..ATTEMPTS).find_map(|_| {
            // Only what was taken can be another.
            let before = self.value.load(SeqCst);
            self.value.compare_exchange(before, number.wrapping_mul(TAKEN), SeqCst, Relaxed).ok().map(drop)
        })
    }

    /// Exchanges the value for the one that a function finds, if it finds any; what was read for
    /// that holds only if the value is the same afterwards.
    fn exchange(&self, find: impl Fn(u64) -> Option<(Option<u64>, Take)>) -> Option<Take> {
        for _ in 0..ATTEMPTS {
            let value = self.value.load(SeqCst);
            let (new, take) = find(value)?;
            if self.value.compare_exchange(value, new.unwrap_or(value), SeqCst, Relaxed).is_ok() {
                return Some(take);
            }
        }
        None
    }

    /// Gives back what nobody got.
    pub fn restore(&self, count: u64) {
        if self.is_event() {
            let _ = self.add(count);
            return;
        }
        let value = self.value.load(SeqCst);
        if value % TAKEN >= count {
            // If the timer is set meanwhile, nothing is owed any more.
            let _ = self.value.compare_exchange(value, value - count, SeqCst, Relaxed);
        }
    }

    /// Adds to an eventfd's count. `None`: it is no eventfd, or there is no room.
    #[must_use]
    pub fn add(&self, count: u64) -> Option<()> {
        if !self.is_event() {
            return None;
        }
        (0..ATTEMPTS).find_map(|_| {
            let value = self.value.load(SeqCst);
            let new = value.checked_add(count).filter(|new| *new <= COUNT_MAX)?;
            self.value.compare_exchange(value, new, SeqCst, Relaxed).ok().map(drop)
        })?;
        // Linux may have made it its own meanwhile, and have moved the count before or after.
        (self.is_event() || !self.withdraw(count)).then_some(())
    }

    /// Takes back what was added, unless it is in Linux's own count.
    fn withdraw(&self, count: u64) -> bool {
        (0..ATTEMPTS).any(|_| {
            let value = self.value.load(SeqCst);
            value >= count && self.value.compare_exchange(value, value - count, SeqCst, Relaxed).is_ok()
        })
    }

    /// Whether somebody in Linux may wait without being counted. To be asked after a change.
    #[must_use]
    pub fn is_polled(&self) -> bool {
        self.polled.load(SeqCst) != 0
    }

    /// Has Linux wake its threads that wait, as soon as it is told to look.
    pub fn post(&self) {
        self.posted.store(1, SeqCst);
    }
}

/// Nanoseconds until the next expiry of a timer of which so many were taken; 0: there is none.
fn left(taken: u64, [first, interval]: [u64; 2], present: u64) -> u64 {
    if first == 0 || interval == 0 && taken != 0 {
        return 0;
    }
    let due = first.saturating_add(taken.saturating_mul(interval));
    match present.checked_sub(due) {
        None => due - present,
        Some(late) => late.checked_rem(interval).map_or(0, |since| interval - since),
    }
}

const _: () = {
    use core::mem::{offset_of, size_of};
    use pillion_abi::dual;
    assert!(cfg!(loom) || size_of::<File>() == size_of::<dual::File>());
    assert!(cfg!(loom) || offset_of!(File, settings) == offset_of!(dual::File, settings));
};
