//! Waiting for the signals of timers (`timer_create`).
//!
//! Linux stops such timers while a thread that waits for their signals is in primary mode, and
//! starts them again, for the first expiry that was not taken, when it is back. So each expiry is
//! signalled once. Any other signal for the thread leads to Linux.

use crate::answer::{Answer, End, Thread, time};
use crate::place;
use crate::runner;
use pillion_abi::NEVER;
use pillion_abi::dual::{SignalTimer, resume};
use pillion_dual::file::{New, REALTIME, Rest};
use pillion_dual::objects::error;
use pillion_runtime::now;

/// `si_code` of a timer's signal.
const SI_TIMER: i32 = -2;

/// Bytes of a `siginfo_t`, and of the part that is not always zero.
const INFO: u64 = 128;
const INFO_USED: usize = 32;

/// Most that a timer counts (`DELAYTIMER_MAX`).
const OVERRUN_MAX: u64 = i32::MAX as u64;

/// The next expiry of a timer, by its clock. `None`: there is none.
fn due(timer: &SignalTimer) -> Option<u64> {
    if timer.first == 0 || timer.interval == 0 && timer.taken != 0 {
        return None;
    }
    timer.first.checked_add(timer.taken.checked_mul(timer.interval)?)
}

/// How many expirations nobody has taken.
fn expired(timer: &SignalTimer, due: u64, present: u64) -> u64 {
    let Some(late) = present.checked_sub(due) else { return 0 };
    let count = late.checked_div(timer.interval).unwrap_or(0).saturating_add(1);
    if timer.taken.checked_add(count).is_some() { count } else { 0 }
}

/// Whether a signal is in a set.
fn has(set: u64, signal: u32) -> bool {
    set.checked_shr(signal.wrapping_sub(1)).unwrap_or(0) & 1 == 1
}

/// What there is of the timers of a thread.
enum Next {
    /// This one has expired so often.
    Expired(usize, SignalTimer, u64),
    /// None has before that tick.
    At(u64),
}

impl Thread<'_> {
    /// `rt_sigtimedwait`.
    pub fn wait_for_signal(&mut self, set: u64, info: u64, timeout: u64, size: u64) -> Option<Answer> {
        let set = self.process.long(set).filter(|_| size == 8)?;
        if set == 0 || set & !self.place.signals() != 0 {
            return None;
        }
        if info != 0 {
            for at in (0..INFO).step_by(8) {
                self.process.takes_long(info.checked_add(at)?)?;
            }
        }
        let end = match timeout {
            0 => None,
            _ => Some(End::after(&place::clock().1?, self.length(timeout)?)),
        };
        let mut has_waited = false;
        loop {
            let until = match self.next_timer(set)? {
                Next::Expired(index, timer, count) => return self.signalled(info, index, &timer, count, has_waited),
                Next::At(until) => until,
            };
            if runner::is_wanted(self.place, self.offer) {
                return Some(Answer::CutShort { resume: resume::ABSOLUTE, wake_ns: 0 });
            }
            let limit = end.as_ref().map_or(Some(NEVER), End::tick)?;
            if now() >= limit {
                return Some(Answer::Value(error::EAGAIN));
            }
            self.counts.waits += u64::from(!has_waited);
            has_waited = true;
            // Linux may set a clock meanwhile, and then signals the runner, or change the rate.
            self.pause(until.min(limit));
        }
    }

    /// The timer whose signal comes first: of those that have expired, that with the lowest number.
    fn next_timer(&self, set: u64) -> Option<Next> {
        let clocks = place::clock().1?;
        let (mut until, mut first): (u64, Option<(usize, SignalTimer, u64)>) = (NEVER, None);
        for index in 0..self.place.timer_count() {
            let timer = self.place.timer(index);
            let Some(due) = due(&timer).filter(|_| has(set, timer.signal)) else { continue };
            let count = expired(&timer, due, time(&clocks, timer.clock, now())?);
            until = until.min(End::At { clock: timer.clock, time: due }.tick()?);
            if count != 0 && first.is_none_or(|(_, before, _)| timer.signal < before.signal) {
                first = Some((index, timer, count));
            }
        }
        Some(first.map_or(Next::At(until), |(index, timer, count)| Next::Expired(index, timer, count)))
    }

    /// Takes the signal of a timer.
    fn signalled(&mut self, info: u64, index: usize, timer: &SignalTimer, count: u64, waited: bool) -> Option<Answer> {
        if let Some(deadline) =
            due(timer).filter(|_| waited).and_then(|time| End::At { clock: timer.clock, time }.tick())
        {
            self.note_latency(deadline);
        }
        if info != 0 {
            let overrun = (count - 1).min(OVERRUN_MAX);
            let words: [u64; INFO_USED / 8] = [
                timer.signal.into(),
                u64::from(SI_TIMER.cast_unsigned()),
                u64::from(timer.id) | overrun << 32,
                timer.value,
            ];
            for (at, word) in (0..INFO).step_by(8).zip(words.into_iter().chain(core::iter::repeat(0))) {
                self.process.set_long(info + at, word)?;
            }
        }
        self.place.take_timer(index, timer.taken, count);
        self.note_overruns(count - 1);
        let signal = timer.signal.into();
        let is_wanted = runner::is_wanted(self.place, self.offer);
        Some(if is_wanted { Answer::LastValue(signal) } else { Answer::Value(signal) })
    }

    /// One of the thread's timers, by its number.
    fn timer(&self, id: u32) -> Option<(usize, SignalTimer)> {
        (0..self.place.timer_count()).map(|index| (index, self.place.timer(index))).find(|(_, timer)| timer.id == id)
    }

    /// What one of them is set to. `None`: it has expired, and its signal is to be taken.
    fn rest(&self, timer: &SignalTimer) -> Option<Rest> {
        let interval = timer.interval;
        let Some(due) = due(timer) else { return Some(Rest { left: 0, interval }) };
        let present = time(&place::clock().1?, timer.clock, now())?;
        let left = due.checked_sub(present).filter(|left| *left != 0)?;
        Some(Rest { left, interval })
    }

    /// `timer_settime`; `old` is 0, or where it is to be said what the timer was set to. A signal
    /// that is to be taken stays that, which is left to Linux; so is a length of time by a clock
    /// that can be set.
    pub fn set_signal_timer(&mut self, id: u32, flags: u32, new: u64, old: u64) -> Option<Answer> {
        let (index, timer) = self.timer(id)?;
        let New { first, is_absolute, interval } = self.new_setting(flags, new, old)?;
        if !is_absolute && timer.clock == REALTIME {
            return None;
        }
        let before = self.rest(&timer)?;
        let present = time(&place::clock().1?, timer.clock, now())?;
        let first = if is_absolute || first == 0 { first } else { present.checked_add(first)? };
        // As in Linux, a timer that does not run has no interval.
        self.place.set_timer(index, first, if first == 0 { 0 } else { interval });
        Some(self.tell_before(old, before))
    }

    /// `timer_gettime`.
    pub fn signal_timer_rest(&mut self, id: u32, to: u64) -> Option<Answer> {
        let (_, timer) = self.timer(id)?;
        let rest = self.rest(&timer)?;
        self.tell_rest(to, rest)?;
        Some(Answer::Value(0))
    }

    /// `timer_getoverrun`.
    pub fn overrun(&self, id: u32) -> Option<Answer> {
        let (_, timer) = self.timer(id)?;
        Some(Answer::Value(timer.overrun.min(OVERRUN_MAX) as i64))
    }
}
