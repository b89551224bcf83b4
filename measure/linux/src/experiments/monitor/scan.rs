//! The scan of a call: the most urgent thread's timer fires a little later after its beginning each time.

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

/// A timer that does not fire within this time never will.
const LOST: Duration = Duration::from_secs(5);

/// A scanned call.
pub struct Scan {
    /// Time from the call's beginning to the interrupt, and from then until the most urgent thread ran; ns.
    pub points: Vec<(f64, f64)>,
    /// How long the call takes undisturbed, in ns.
    pub length: u64,
}

impl Scan {
    /// The longest delay.
    pub fn longest(&self) -> f64 {
        self.points.iter().map(|point| point.1).fold(0.0, f64::max)
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
        let (mut points, mut distance) = (Vec::new(), 0);
        while distance <= length + 4 * step {
            let point = self.once(made.as_mut(), distance, length).with_context(|| call.name.to_owned())?;
            // What came before the call is none of its places.
            points.extend(Some(point).filter(|(place, _)| *place >= 0.0));
            distance += step;
        }
        Ok(Scan { points, length })
    }

    /// One call, with the timer `distance` ns after its beginning.
    fn once(&self, made: &mut dyn Made, distance: u64, length: u64) -> Result<(f64, f64)> {
        made.before()?;
        let due = monotonic() + LEAD + distance;
        self.deadlines.send(due).map_err(|_| anyhow!("the most urgent thread has ended"))?;
        let begin = due - distance;
        while monotonic() < begin {
            std::hint::spin_loop();
        }
        let start = monotonic();
        let result = made.call();
        let woken = self.wakings.recv_timeout(LOST).context("the timer was lost")??;
        result?;
        made.after()?;
        // Others run too: Linux takes the processor away from real-time threads that keep it all the time.
        sleep::until(monotonic() + LEAD + length)?;
        Ok((due as f64 - start as f64, woken.saturating_sub(due) as f64))
    }
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
