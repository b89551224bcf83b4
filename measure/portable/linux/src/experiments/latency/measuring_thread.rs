//! A measuring thread, and its results, which others may read while it runs.

use crate::time_source::monotonic;
use crate::{realtime, sleep};
use anyhow::Result;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed, Ordering::Release};

/// The parameters of a thread.
#[derive(Clone, Copy, Debug)]
pub struct Task {
    /// The processor that it runs on.
    pub cpu: usize,
    pub priority: i32,
    /// Its period.
    pub interval_ns: u64,
    /// How often it sleeps.
    pub loops: u64,
}

/// The results of a thread. The first `done` latencies are valid.
pub struct Seen {
    latencies: Box<[AtomicU64]>,
    done: AtomicUsize,
    /// Periods that began before the work of the previous one was done.
    overruns: AtomicU64,
}

impl Seen {
    /// Allocates, and touches, the memory for all results of a task before it runs.
    pub fn new(task: &Task) -> Seen {
        let latencies = (0..task.loops).map(|_| AtomicU64::new(0)).collect();
        Seen { latencies, done: AtomicUsize::new(0), overruns: AtomicU64::new(0) }
    }

    /// The latencies so far, from number `from` on.
    pub fn since(&self, from: usize) -> impl Iterator<Item = u64> {
        let done = self.done.load(std::sync::atomic::Ordering::Acquire);
        self.latencies[from.min(done)..done].iter().map(|latency| latency.load(Relaxed))
    }

    /// Whether all latencies are there.
    pub fn is_done(&self) -> bool {
        self.done.load(Relaxed) == self.latencies.len()
    }

    /// Missed periods.
    pub fn overruns(&self) -> u64 {
        self.overruns.load(Relaxed)
    }

    fn put(&self, index: usize, latency: u64, missed: u64) {
        self.latencies[index].store(latency, Relaxed);
        self.overruns.fetch_add(missed, Relaxed);
        // Pairs with the load in `since`: a thread that sees the number also sees the latencies.
        self.done.store(index + 1, Release);
    }
}

/// The body of the thread. Fails if it is not permitted a real-time priority.
pub fn live(task: Task, seen: &Seen) -> Result<()> {
    realtime::pin(task.cpu)?;
    realtime::be_fifo(task.priority)?;
    let mut deadline = monotonic() + task.interval_ns;
    for index in 0..task.loops as usize {
        sleep::until(deadline)?;
        let latency = monotonic().saturating_sub(deadline);
        let missed = latency / task.interval_ns;
        seen.put(index, latency, missed);
        deadline += (missed + 1) * task.interval_ns;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_is_seen_in_pieces() {
        let seen = Seen::new(&Task { cpu: 0, priority: 1, interval_ns: 1, loops: 3 });
        seen.put(0, 7, 0);
        seen.put(1, 9, 2);
        assert_eq!(seen.since(0).collect::<Vec<_>>(), [7, 9]);
        assert_eq!(seen.since(1).collect::<Vec<_>>(), [9]);
        assert!(!seen.is_done() && seen.overruns() == 2 && seen.since(3).next().is_none());
        seen.put(2, 1, 0);
        assert!(seen.is_done());
    }
}
