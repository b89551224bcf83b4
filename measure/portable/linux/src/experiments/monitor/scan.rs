//! The scan of a call: each time, the most urgent thread's timer fires a little later in the call.

use super::scanned_calls::{Call, Made};
use crate::bench::Bench;
use crate::time_source::monotonic;
use crate::{realtime, sleep};
use anyhow::{Context, Result, anyhow};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// Time for the most urgent thread to set its timer and go to sleep.
const LEAD: u64 = 100_000;

/// Number of undisturbed calls made first.
const WARM_UP: usize = 4;

/// Number of places before the call, and after its end.
const BESIDE: u64 = 4;

/// A timer that has not fired within this time is lost.
const LOST: Duration = Duration::from_secs(5);

/// The scan of one call.
pub struct Scan {
    /// Time from the call's start to the interrupt, and from then to the most urgent thread; ns.
    pub points: Vec<(f64, f64)>,
    /// How long the call takes undisturbed, in ns.
    pub length: u64,
    /// Distance between places, in ns. The longest stretch may be longer than the longest that was
    /// found, by no more than this.
    pub step: u64,
}

impl Scan {
    /// The longest delay.
    pub fn longest_delay(&self) -> f64 {
        self.points.iter().map(|point| point.1).fold(0.0, f64::max)
    }

    /// The longest time for which the call delays the most urgent thread: the longest delay minus
    /// the shortest one before the call, where the other thread computes in user mode and the delay
    /// is only that of the switch.
    pub fn longest(&self) -> f64 {
        let before = self.points.iter().filter(|point| point.0 < 0.0);
        self.longest_delay() - before.map(|point| point.1).reduce(f64::min).unwrap_or(0.0)
    }
}

/// The most urgent thread, which sleeps until the deadlines that it is sent.
pub struct Monitor {
    deadlines: Sender<u64>,
    wakings: Receiver<Result<u64>>,
}

impl Monitor {
    /// Starts it, and makes this thread the second most urgent one of the same processor. Fails if
    /// this is not permitted.
    pub fn begin(bench: &Bench) -> Result<Monitor> {
        let ((deadlines, told), (woken, wakings)) = (channel(), channel());
        let (cpu, priority) = (bench.cpu, bench.priority);
        std::thread::spawn(move || watch(cpu, priority, &told, &woken));
        realtime::pin(bench.cpu)?;
        realtime::be_fifo((bench.priority - 1).max(1))?;
        Ok(Monitor { deadlines, wakings })
    }

    /// Scans a call in steps of at least `step` ns, at about `places` places at most. Fails if the
    /// call cannot be made.
    pub fn scan(&self, call: &Call, step: u64, places: u64) -> Result<Scan> {
        let mut made = (call.prepare)().with_context(|| format!("{} cannot be prepared", call.name))?;
        let length = length(&mut made).with_context(|| call.name.to_owned())?;
        let step = step.max(length / places.max(1));
        let all = length / step + 2 * BESIDE;
        let mut once = |number| self.once(&mut made, number * step, BESIDE * step, length);
        // The most urgent thread's very first wake-up takes ten times as long as all others.
        let points = once(0).and_then(|_| (0..=all).map(once).collect()).with_context(|| call.name.to_owned())?;
        Ok(Scan { points, length, step })
    }

    /// One call, its timer `distance` ns after a time that is `margin` before its start.
    fn once(&self, made: &mut Made, distance: u64, margin: u64, length: u64) -> Result<(f64, f64)> {
        (made.before)()?;
        let due = monotonic() + LEAD + distance;
        self.deadlines.send(due).map_err(|_| anyhow!("the most urgent thread has ended"))?;
        let begin = due - distance + margin;
        while monotonic() < begin {
            std::hint::spin_loop();
        }
        let start = monotonic();
        let result = (made.call)();
        let woken = self.wakings.recv_timeout(LOST).context("the timer was lost")??;
        result?;
        (made.after)()?;
        // Lets others run: Linux takes the processor from real-time threads that always occupy it.
        sleep::until(monotonic() + LEAD + length)?;
        Ok((place(due, begin, start), woken.saturating_sub(due) as f64))
    }
}

/// When the timer fired, relative to the call's start. If it fired before that, the planned start
/// counts, not the actual one: the most urgent thread ran in between.
fn place(due: u64, begin: u64, start: u64) -> f64 {
    let after = |beginning: u64| due as f64 - beginning as f64;
    if due < start { after(begin).min(-1.0) } else { after(start) }
}

/// Duration of a call: the shortest of several, after warm-up calls.
fn length(made: &mut Made) -> Result<u64> {
    let mut lengths = Vec::new();
    for _ in 0..2 * WARM_UP {
        (made.before)()?;
        let start = monotonic();
        (made.call)()?;
        lengths.push(monotonic() - start);
        (made.after)()?;
    }
    Ok(lengths[WARM_UP..].iter().copied().min().unwrap_or(0))
}

/// The most urgent thread's body; it ends when the sender of deadlines is gone.
fn watch(cpu: usize, priority: i32, deadlines: &Receiver<u64>, wakings: &Sender<Result<u64>>) {
    let is_urgent = realtime::pin(cpu).and_then(|()| realtime::be_fifo(priority));
    if let Err(problem) = is_urgent {
        let _ = wakings.send(Err(problem));
        return;
    }
    for due in deadlines {
        let slept = sleep::until(due);
        let woken = monotonic();
        if wakings.send(slept.map(|()| woken).map_err(Into::into)).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_that_fires_before_the_call_has_a_place_before_it() {
        assert_eq!(place(1_000, 900, 910), 90.0);
        assert_eq!(place(1_000, 1_100, 4_800), -100.0);
        assert_eq!(place(1_000, 980, 4_700), -1.0);
    }
}
