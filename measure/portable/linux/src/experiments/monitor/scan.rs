//! The scan of a call: the most urgent thread's timer fires a little later after its beginning each
//! time.

use super::call::{Call, Made};
use crate::bench::Bench;
use crate::clock::monotonic;
use crate::{realtime, sleep};
use anyhow::{Context, Result, anyhow};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// Time for the most urgent thread to set its timer and go to sleep.
const LEAD: u64 = 100_000;

/// Calls that are made undisturbed first.
const WARM_UP: usize = 4;

/// Places before the call, and behind its end.
const BESIDE: u64 = 4;

/// A timer that does not fire within this time never will.
const LOST: Duration = Duration::from_secs(5);

/// A scanned call.
pub struct Scan {
    /// Time from the call's beginning to the interrupt, and from then until the most urgent thread
    /// ran; ns.
    pub points: Vec<(f64, f64)>,
    /// How long the call takes undisturbed, in ns.
    pub length: u64,
    /// From place to place, in ns. No stretch is longer by more than that than the longest that was
    /// found.
    pub step: u64,
}

impl Scan {
    /// The longest delay.
    pub fn longest_delay(&self) -> f64 {
        self.points.iter().map(|point| point.1).fold(0.0, f64::max)
    }

    /// The longest time for which the call holds the most urgent thread back: the longest delay
    /// less the shortest before the call, where the other thread computes in user mode and the
    /// switch is all that it takes.
    pub fn longest(&self) -> f64 {
        let before = self.points.iter().filter(|point| point.0 < 0.0);
        self.longest_delay() - before.map(|point| point.1).reduce(f64::min).unwrap_or(0.0)
    }
}

/// The most urgent thread, which sleeps until the times that it is told.
pub struct Monitor {
    deadlines: Sender<u64>,
    wakings: Receiver<Result<u64>>,
}

impl Monitor {
    /// Starts it, and makes this thread the next urgent one of the same processor.
    ///
    /// # Errors
    /// This is not allowed.
    pub fn begin(bench: &Bench) -> Result<Monitor> {
        let ((deadlines, told), (woken, wakings)) = (channel(), channel());
        let (cpu, priority) = (bench.cpu, bench.priority);
        std::thread::spawn(move || watch(cpu, priority, &told, &woken));
        realtime::pin(bench.cpu)?;
        realtime::be_fifo((bench.priority - 1).max(1))?;
        Ok(Monitor { deadlines, wakings })
    }

    /// Scans a call in steps of at least `step` ns, at no more than about so many places.
    ///
    /// # Errors
    /// The call cannot be made.
    pub fn scan(&self, call: &Call, step: u64, places: u64) -> Result<Scan> {
        let mut made = (call.prepare)().with_context(|| format!("{} cannot be prepared", call.name))?;
        let length = length(made.as_mut()).with_context(|| call.name.to_owned())?;
        let step = step.max(length / places.max(1));
        let all = length / step + 2 * BESIDE;
        let mut once = |number| self.once(made.as_mut(), number * step, BESIDE * step, length);
        // The most urgent thread's very first way to the processor is ten times as long as all
        // others.
        let points = once(0).and_then(|_| (0..=all).map(once).collect()).with_context(|| call.name.to_owned())?;
        Ok(Scan { points, length, step })
    }

    /// One call, with the timer `distance` ns after a time that is `margin` before its beginning.
    fn once(&self, made: &mut dyn Made, distance: u64, margin: u64, length: u64) -> Result<(f64, f64)> {
        made.before()?;
        let due = monotonic() + LEAD + distance;
        self.deadlines.send(due).map_err(|_| anyhow!("the most urgent thread has ended"))?;
        let begin = due - distance + margin;
        while monotonic() < begin {
            std::hint::spin_loop();
        }
        let start = monotonic();
        let result = made.call();
        let woken = self.wakings.recv_timeout(LOST).context("the timer was lost")??;
        result?;
        made.after()?;
        // Others run too: Linux takes the processor away from real-time threads that keep it all
        // the time.
        sleep::until(monotonic() + LEAD + length)?;
        Ok((place(due, begin, start), woken.saturating_sub(due) as f64))
    }
}

/// When the timer fired, from the call's beginning on. Where that was before, the beginning is when
/// the call was to be made, not when it was: the most urgent thread ran in between.
fn place(due: u64, begin: u64, start: u64) -> f64 {
    let after = |beginning: u64| due as f64 - beginning as f64;
    if due < start { after(begin).min(-1.0) } else { after(start) }
}

/// How long a call takes: the shortest of some, after others that find nothing prepared.
fn length(made: &mut dyn Made) -> Result<u64> {
    let mut lengths = Vec::new();
    for _ in 0..2 * WARM_UP {
        made.before()?;
        let start = monotonic();
        made.call()?;
        lengths.push(monotonic() - start);
        made.after()?;
    }
    Ok(lengths[WARM_UP..].iter().copied().min().unwrap_or(0))
}

/// The life of the most urgent thread, until there is nobody who tells it times.
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
