//! The system calls that are answered in primary mode. Every other call goes to Linux, and so does
//! one of these if its arguments are in any way unusual: Linux then says what is wrong.

use crate::place::{self, Offer, Place};
use crate::posix_queues::Text;
use crate::process::Process;
use crate::runner;
use crate::watchdog;
use pillion_abi::dual::{LIFE_CALL, flag, resume, service};
use pillion_abi::vcpu::{State, gpr};
use pillion_dual::clock::{Clock, SECOND};
use pillion_dual::objects::{Party, error};
use pillion_runtime::info::skin;
use pillion_runtime::{call, now, wait};

/// Register of the fourth argument.
const R10: usize = 10;
/// And of the fifth.
const R8: usize = 8;

/// Numbers of system calls of 64-bit Linux.
mod number {
    pub const READ: u64 = 0;
    pub const WRITE: u64 = 1;
    pub const SCHED_YIELD: u64 = 24;
    pub const NANOSLEEP: u64 = 35;
    pub const GETPID: u64 = 39;
    pub const GETTIMEOFDAY: u64 = 96;
    pub const RT_SIGTIMEDWAIT: u64 = 128;
    pub const GETTID: u64 = 186;
    pub const TIME: u64 = 201;
    pub const FUTEX: u64 = 202;
    pub const TIMER_SETTIME: u64 = 223;
    pub const TIMER_GETTIME: u64 = 224;
    pub const TIMER_GETOVERRUN: u64 = 225;
    pub const CLOCK_GETTIME: u64 = 228;
    pub const CLOCK_NANOSLEEP: u64 = 230;
    pub const MQ_TIMEDSEND: u64 = 242;
    pub const MQ_TIMEDRECEIVE: u64 = 243;
    pub const TIMERFD_SETTIME: u64 = 286;
    pub const TIMERFD_GETTIME: u64 = 287;
    pub const GETCPU: u64 = 309;
}

/// Clocks of Linux.
mod clock {
    pub const REALTIME: u64 = 0;
    pub const MONOTONIC: u64 = 1;
    pub const MONOTONIC_RAW: u64 = 4;
    pub const BOOTTIME: u64 = 7;
    pub const TAI: u64 = 11;
}

/// Flag of `clock_nanosleep`: the time is a point, not a length.
const ABSOLUTE: u64 = 1;

/// End of the numbers of primary mode's own calls.
const SERVICES: u64 = service::FIRST + service::END;

/// Longest time that is waited for here, in seconds: some hundred years.
const SECONDS_MAX: u64 = 1 << 32;

/// What becomes of a system call.
pub enum Answer {
    /// It returns this.
    Value(i64),
    /// It returns this, and Linux asked for the thread.
    LastValue(i64),
    /// Linux asked for the thread while it waited, which makes the call again.
    Again,
    /// Linux executes it.
    Linux,
    /// The same, for a wait for a mutex whose owner is in Linux.
    Inversion,
    /// Linux asked for the thread while it waited: [`resume`], and when the wait ends.
    CutShort { resume: u32, wake_ns: u64 },
}

/// What a runner knows of its thread.
pub struct Thread<'a> {
    pub place: &'a Place,
    pub offer: &'a Offer,
    pub process: Process<'a>,
    /// The runner's notification.
    pub notification: u32,
    pub counts: Counts,
    /// Who it is among the users of objects, if it is known there.
    pub party: Option<Party>,
}

/// What is counted from offer to return.
#[derive(Default)]
pub struct Counts {
    pub calls: u64,
    pub waits: u64,
    /// Longest time from the end of a wait, in ticks.
    pub latency_max: u64,
    /// Points of time that had passed before the wait for them began.
    pub overruns: u64,
}

impl Thread<'_> {
    /// Answers the system call that the thread is about to make, and made at that time, in ticks:
    /// what it costs to look at the call is not part of the time that it is told.
    pub fn answer(&mut self, state: &State, made: u64) -> Answer {
        let argument = |register: usize| state.gpr[register].get();
        let [first, second, third] = [gpr::RDI, gpr::RSI, gpr::RDX].map(argument);
        let answer = match argument(gpr::RAX) {
            number::CLOCK_NANOSLEEP => self.sleep(first, second & ABSOLUTE != 0, second & !ABSOLUTE, third),
            number::NANOSLEEP => self.sleep(clock::MONOTONIC, false, 0, first),
            number::CLOCK_GETTIME => self.tell_time(first, second, 1, made),
            number::GETTIMEOFDAY if second == 0 => self.tell_time(clock::REALTIME, first, 1_000, made),
            number::TIME if first == 0 => self.seconds(made),
            number::GETCPU => self.tell_processor(first, second),
            number::FUTEX => self.futex(state, made),
            number::READ => {
                let answer = self.read(first as u32, second, third, made);
                answer.or_else(|| self.read_fifo(first as u32, second, third))
            }
            number::RT_SIGTIMEDWAIT => self.wait_for_signal(first, second, third, argument(R10)),
            number::TIMER_SETTIME => self.set_signal_timer(first as u32, second as u32, third, argument(R10)),
            number::TIMER_GETTIME => self.signal_timer_rest(first as u32, second),
            number::TIMER_GETOVERRUN => self.overrun(first as u32),
            number::WRITE => {
                let answer = self.write(first as u32, second, third);
                answer.or_else(|| self.write_fifo(first as u32, second, third))
            }
            number::TIMERFD_SETTIME => self.set_timer(first as u32, second as u32, third, argument(R10)),
            number::TIMERFD_GETTIME => self.timer_rest(first as u32, second),
            number::MQ_TIMEDSEND => {
                let text = Text { at: second, length: third };
                self.send_to_queue(first as u32, text, argument(R10) as u32, argument(R8), made)
            }
            number::MQ_TIMEDRECEIVE => {
                let text = Text { at: second, length: third };
                self.receive_from_queue(first as u32, text, argument(R10), argument(R8), made)
            }
            LIFE_CALL => Some(Answer::Value(place::life().into())),
            number::GETTID => Some(Answer::Value(self.offer.thread.into())),
            number::GETPID => Some(Answer::Value(self.offer.process.into())),
            number::SCHED_YIELD => {
                call::yield_now();
                Some(Answer::Value(0))
            }
            number @ service::FIRST..SERVICES => Some(self.serve(state, number - service::FIRST)),
            _ => None,
        };
        if !matches!(answer, None | Some(Answer::Inversion)) {
            self.counts.calls += 1;
            self.place.count(self.counts.calls, self.counts.waits);
        }
        answer.unwrap_or(Answer::Linux)
    }

    /// Writes the time at a tick as seconds and fractions, of which one has `unit` nanoseconds.
    fn tell_time(&self, which: u64, to: u64, unit: u64, tsc: u64) -> Option<Answer> {
        let (_, clocks) = place::clock();
        let time = time(&clocks?, which, tsc)?;
        self.process.set_pair(to, [time / SECOND, time % SECOND / unit])?;
        Some(Answer::Value(0))
    }

    /// The time at a tick in seconds.
    fn seconds(&self, tsc: u64) -> Option<Answer> {
        let (_, clocks) = place::clock();
        Some(Answer::Value((time(&clocks?, clock::REALTIME, tsc)? / SECOND) as i64))
    }

    /// Writes the numbers that Linux gives the processor, and its node, where they are asked for.
    fn tell_processor(&self, processor: u64, node: u64) -> Option<Answer> {
        for (at, number) in [(processor, self.place.processor()), (node, 0)].into_iter().filter(|(at, _)| *at != 0) {
            self.process.set_word(at, number)?;
        }
        Some(Answer::Value(0))
    }

    /// A length of time, or a time since a clock's zero, that is at an address.
    pub fn length(&self, at: u64) -> Option<u64> {
        length_of(self.process.pair(at)?)
    }

    /// The time that a sleep names, which Linux has looked up if it offered the thread at the call.
    fn time_of_sleep(&self, at: u64) -> Option<u64> {
        let is_first = self.counts.calls == 0 && self.offer.flags & flag::TIMED != 0;
        if is_first { length_of(self.place.time()) } else { self.length(at) }
    }

    /// `clock_nanosleep`.
    #[inline(always)]
    fn sleep(&mut self, which: u64, absolute: bool, other_flags: u64, request: u64) -> Option<Answer> {
        let time = self.time_of_sleep(request).filter(|_| other_flags == 0)?;
        let (sequence, clocks) = place::clock();
        let clocks = clocks?;
        offset(&clocks, which)?;
        // A length of time does not change when the clock is set.
        let end = if absolute { End::At { clock: which, time } } else { End::after(&clocks, time) };
        self.counts.waits += 1;
        Some(self.wait_for(&end, sequence, clocks, u64::from(absolute)))
    }

    /// Waits for the end of a sleep, by the clocks as Linux stated them last. It may change their
    /// rate or set one meanwhile, so the end is looked at again if it stated something new. If it
    /// has passed, that is so many overruns.
    #[inline(always)]
    pub fn wait_for(&mut self, end: &End, mut sequence: u64, mut clocks: Clock, overruns: u64) -> Answer {
        let (mut wake_ns, mut has_waited) = (0, false);
        loop {
            let Some((at, deadline)) = end.deadline(&clocks) else { return end.cut_short(wake_ns) };
            wake_ns = at;
            if now() < deadline {
                has_waited = true;
                let woken = self.pause(deadline);
                if woken && runner::is_wanted(self.place, self.offer) {
                    return end.cut_short(wake_ns);
                }
                if woken || sequence != place::clock_sequence() {
                    let (number, stated) = place::clock();
                    let Some(stated) = stated else { return end.cut_short(wake_ns) };
                    (sequence, clocks) = (number, stated);
                    continue;
                }
            }
            if !has_waited {
                // What had passed before is nobody's latency.
                self.note_overruns(overruns);
                return Answer::Value(0);
            }
            self.note_latency(deadline);
            return Answer::Value(0);
        }
    }

    /// A wait until that tick has ended.
    pub fn note_latency(&mut self, deadline: u64) {
        let latency = now().saturating_sub(deadline);
        if latency > self.counts.latency_max {
            self.counts.latency_max = latency;
            self.place.set_latency(latency);
        }
    }

    /// So many points of time had passed before the thread waited for them.
    pub fn note_overruns(&mut self, count: u64) {
        if count != 0 {
            self.counts.overruns = self.counts.overruns.saturating_add(count);
            self.place.set_overruns(self.counts.overruns);
        }
    }

    /// Waits for a tick that is to come, or a signal. Returns whether there was one.
    pub fn pause(&self, until: u64) -> bool {
        watchdog::pauses(self.place.number);
        self.place.set_waiting(true);
        let woken = wait(skin::slot::NOTIFICATIONS + self.notification, until).is_ok();
        self.place.set_waiting(false);
        woken
    }
}

/// Nanoseconds of a time in seconds and nanoseconds.
#[inline(always)]
fn length_of([seconds, nanoseconds]: [u64; 2]) -> Option<u64> {
    (seconds <= SECONDS_MAX && nanoseconds < SECOND).then_some(seconds * SECOND + nanoseconds)
}

/// The end of a sleep.
pub enum End {
    /// A time of a clock that may be set meanwhile.
    At { clock: u64, time: u64 },
    /// A time of the monotonic clock, counted from the beginning of the sleep.
    Monotonic(u64),
}

impl End {
    /// The end of a wait until a time of a clock, or of one without an end.
    pub fn of(clock: u64, time: u64) -> Result<Option<End>, i64> {
        match clock {
            service::FOREVER | service::TRY => Ok(None),
            _ if (End::At { clock, time }).tick().is_none() => Err(error::EINVAL),
            _ => Ok(Some(End::At { clock, time })),
        }
    }

    /// So many nanoseconds from now on.
    pub fn after(clocks: &Clock, ns: u64) -> End {
        End::Monotonic(clocks.monotonic(now()).saturating_add(ns))
    }

    /// The time of the monotonic clock and the tick at which the sleep ends.
    #[inline]
    pub fn deadline(&self, clocks: &Clock) -> Option<(u64, u64)> {
        let wake = match *self {
            End::At { clock, time } => time.saturating_add_signed(offset(clocks, clock)?.checked_neg()?),
            End::Monotonic(wake) => wake,
        };
        Some((wake, clocks.ticks_at(wake)))
    }

    /// The tick at which the sleep ends, by the clocks of now; `None` if Linux has no such clock.
    pub fn tick(&self) -> Option<u64> {
        let (_, clocks) = place::clock();
        self.deadline(&clocks?).map(|(_, tick)| tick)
    }

    /// What becomes of a call whose wait until then Linux cuts short.
    pub fn cut_short(&self, wake_ns: u64) -> Answer {
        let resume = if matches!(self, End::At { .. }) { resume::ABSOLUTE } else { resume::RELATIVE };
        Answer::CutShort { resume, wake_ns }
    }
}

/// From the monotonic clock to one that can be waited for, in nanoseconds.
pub fn offset(clocks: &Clock, which: u64) -> Option<i64> {
    match which {
        clock::REALTIME => Some(clocks.facts().to_realtime_ns),
        clock::MONOTONIC => Some(0),
        clock::BOOTTIME => Some(clocks.facts().to_boottime_ns),
        clock::TAI => Some(clocks.facts().to_tai_ns),
        _ => None,
    }
}

/// Time of a clock in nanoseconds.
pub fn time(clocks: &Clock, which: u64, tsc: u64) -> Option<u64> {
    match which {
        clock::MONOTONIC_RAW => Some(clocks.raw(tsc)),
        _ => Some(clocks.monotonic(tsc).wrapping_add_signed(offset(clocks, which)?)),
    }
}
