//! A measuring thread, and what others may see of it while it runs.

use crate::clock::monotonic;
use crate::{realtime, sleep};
use anyhow::Result;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed, Ordering::Release};

/// What a thread does.
#[derive(Clone, Copy, Debug)]
pub struct Task {
    /// The processor that it runs on.
    pub cpu: usize,
    /// Its priority.
    pub priority: i32,
    /// Its period.
    pub interval_ns: u64,
    /// How often it sleeps.
    pub loops: u64,
}

/// What a thread saw. The first `done` latencies are there.
pub struct Seen {
    latencies: Box<[AtomicU64]>,
    done: AtomicUsize,
    /// Periods that had begun before the work of the one before was done.
    overruns: AtomicU64,
}

impl Seen {
    /// Room for all that a task will see, touched before it runs.
    pub fn new(task: &Task) -> Seen {
        let latencies = (0..task.loops).map(|_| AtomicU64::new(0)).collect();
        Seen { latencies, done: AtomicUsize::new(0), overruns: AtomicU64::new(0) }
    }

    /// The latencies from number `from` on, as far as they are there.
    pub fn since(&self, from: usize) -> impl Iterator<Item = u64> {
        let done = self.done.load(std::sync::atomic::Ordering::Acquire);
        self.latencies[from.min(done)..done].iter().map(|latency| latency.load(Relaxed))
    }

    /// Whether every latency is there.
    pub fn is_done(&self) -> bool {
        self.done.load(Relaxed) == self.latencies.len()
    }

    /// Periods that were missed.
    pub fn overruns(&self) -> u64 {
        self.overruns.load(Relaxed)
    }

    fn put(&self, index: usize, latency: u64, missed: u64) {
        self.latencies[index].store(latency, Relaxed);
        self.overruns.fetch_add(missed, Relaxed);
        // Pairs with the load in `since`: who sees the number sees the latencies.
        self.done.store(index + 1, Release);
    }
}

/// The life of the thread.
///
/// # Errors
/// It may not be urgent.
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
