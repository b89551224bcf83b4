//! Reads time: from the time-stamp counter if it is invariant, otherwise from Linux's clock.

use anyhow::{Context, Result};
use rustix::time::{ClockId, Timespec, clock_gettime};
use std::arch::x86_64::{__cpuid, _mm_lfence, _rdtsc};
use std::time::Duration;

/// The clock to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Choice {
    /// The time-stamp counter if the processor reports it as invariant, otherwise Linux's clock.
    Auto,
    /// The time-stamp counter in any case.
    Tsc,
    /// Linux's `CLOCK_MONOTONIC`.
    Monotonic,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Clock {
    /// The time-stamp counter, and its ticks per nanosecond.
    Tsc(f64),
    /// `CLOCK_MONOTONIC`.
    Monotonic,
}

/// How long the counter is compared with Linux's clock.
const CALIBRATION: Duration = Duration::from_millis(100);

impl Clock {
    /// The chosen clock; `counted` time has one tick per nanosecond by construction. Fails if the
    /// counter cannot be calibrated against Linux's clock.
    pub fn choose(choice: Choice, counted: bool) -> Result<Clock> {
        match choice {
            Choice::Monotonic => Ok(Clock::Monotonic),
            _ if counted => Ok(Clock::Tsc(1.0)),
            Choice::Auto if !is_tsc_invariant() => Ok(Clock::Monotonic),
            Choice::Auto | Choice::Tsc => Ok(Clock::Tsc(calibrate()?)),
        }
    }

    /// Now, in ticks.
    #[inline(always)]
    pub fn ticks(&self) -> u64 {
        match self {
            Clock::Tsc(_) => tsc(),
            Clock::Monotonic => monotonic(),
        }
    }

    /// A number of ticks in nanoseconds.
    pub fn nanoseconds(&self, ticks: u64) -> f64 {
        match self {
            Clock::Tsc(per_nanosecond) => ticks as f64 / per_nanosecond,
            Clock::Monotonic => ticks as f64,
        }
    }

    /// A number of ticks in whole nanoseconds.
    pub fn whole(&self, ticks: u64) -> u64 {
        self.nanoseconds(ticks).round() as u64
    }

    /// A description, for the facts about the machine.
    pub fn name(&self) -> String {
        match self {
            Clock::Tsc(per_nanosecond) => format!("time-stamp counter, {:.3} MHz", per_nanosecond * 1e3),
            Clock::Monotonic => "CLOCK_MONOTONIC".into(),
        }
    }
}

/// The time-stamp counter, read after all preceding instructions.
#[inline(always)]
pub fn tsc() -> u64 {
    // SAFETY: the fence and the counter are part of every x86-64 processor, and Linux lets user
    // mode read the counter.
    unsafe {
        _mm_lfence();
        _rdtsc()
    }
}

/// `CLOCK_MONOTONIC` in nanoseconds.
#[inline]
pub fn monotonic() -> u64 {
    nanoseconds(clock_gettime(ClockId::Monotonic))
}

/// A time in nanoseconds.
pub fn nanoseconds(time: Timespec) -> u64 {
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Nanoseconds as a time.
pub fn timespec(nanoseconds: u64) -> Timespec {
    Timespec { tv_sec: (nanoseconds / 1_000_000_000) as i64, tv_nsec: (nanoseconds % 1_000_000_000) as i64 }
}

/// Whether the counter runs at one rate in all power states (CPUID 8000_0007, EDX bit 8).
pub fn is_tsc_invariant() -> bool {
    const POWER: u32 = 0x8000_0007;
    __cpuid(0x8000_0000).eax >= POWER && __cpuid(POWER).edx & 1 << 8 != 0
}

/// Ticks of the counter per nanosecond.
fn calibrate() -> Result<f64> {
    let (from, from_ticks) = pair();
    std::thread::sleep(CALIBRATION);
    let (to, to_ticks) = pair();
    let rate = (to_ticks.wrapping_sub(from_ticks)) as f64 / (to - from) as f64;
    (rate > 0.0).then_some(rate).context("the time-stamp counter does not count; try --clock monotonic")
}

/// Linux's clock and the counter at the same moment: the fastest of several attempts.
fn pair() -> (u64, u64) {
    let attempt = || {
        let (before, linux, after) = (tsc(), nanoseconds(clock_gettime(ClockId::MonotonicRaw)), tsc());
        (after.wrapping_sub(before), linux, before.wrapping_add(after.wrapping_sub(before) / 2))
    };
    let (_, linux, ticks) = (0..20).map(|_| attempt()).min().expect("there are twenty tries");
    (linux, ticks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_converted_both_ways() {
        assert_eq!(nanoseconds(timespec(1_000_000_001)), 1_000_000_001);
        assert_eq!(timespec(2_999_999_999), Timespec { tv_sec: 2, tv_nsec: 999_999_999 });
    }

    #[test]
    fn ticks_become_nanoseconds() {
        assert_eq!(Clock::Tsc(2.5).nanoseconds(5), 2.0);
        assert_eq!(Clock::Tsc(4.0).whole(7), 2);
        assert_eq!(Clock::Monotonic.whole(7), 7);
    }

    #[test]
    fn the_clocks_agree() {
        let clock = Clock::choose(Choice::Tsc, false).unwrap();
        let (linux, ticks) = pair();
        std::thread::sleep(Duration::from_millis(50));
        let (linux_after, ticks_after) = pair();
        let ratio = clock.nanoseconds(ticks_after - ticks) / (linux_after - linux) as f64;
        assert!((0.99..1.01).contains(&ratio), "{ratio}");
    }
}
