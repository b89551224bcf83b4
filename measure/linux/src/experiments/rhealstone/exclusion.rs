//! What one thread has and another one wants. What the owner computes meanwhile does not count.

use super::{HIGH, LOW, MEDIUM};
use crate::bench::Bench;
use crate::sync::{Mutex, Protocol, Semaphore};
use crate::team::{self, Stamp, member};
use anyhow::Result;
use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// What the owner computes: from when it runs again to when it gives back what it has.
#[derive(Default)]
struct Owning {
    from: Stamp,
    to: Stamp,
}

impl Owning {
    /// The owner runs, and is about to give back.
    fn compute(&self, bench: &Bench) {
        self.from.set(bench.clock.ticks());
        self.to.set(bench.clock.ticks());
    }

    /// Nanoseconds of a wait that the owner did not compute.
    fn wait(&self, bench: &Bench, start: u64, end: u64) -> u64 {
        bench.clock.whole((end - self.to.get()) + (self.from.get() - start))
    }
}

/// From the wish for a semaphore that a less urgent thread has until it is there.
pub fn semaphore_shuffle(bench: &Bench, samples: u64) -> Result<Vec<u64>> {
    let (taken, asked, owning) = (Semaphore::new(), Semaphore::new(), Owning::default());
    let high = || {
        let mut measured = Vec::with_capacity(samples as usize);
        for _ in 0..samples {
            asked.wait();
            let start = bench.clock.ticks();
            taken.wait();
            let end = bench.clock.ticks();
            measured.push(owning.wait(bench, start, end));
        }
        Ok(measured)
    };
    let low = || {
        for _ in 0..samples {
            // The other one runs at once, and waits for what this one has.
            asked.post();
            owning.compute(bench);
            taken.post();
        }
        Ok(Vec::new())
    };
    team::run(bench, vec![member(HIGH, high), member(LOW, low)])
}

/// From the wish for a mutex whose owner would never run, because a third thread computes, until it is there by inheritance.
pub fn deadlock_breaking(bench: &Bench, samples: u64) -> Result<Vec<u64>> {
    let (mutex, owning) = (Mutex::new(Protocol::Inherit)?, Owning::default());
    let (round, medium_round, is_broken) = (Semaphore::new(), Semaphore::new(), AtomicBool::new(false));
    let high = || {
        let mut measured = Vec::with_capacity(samples as usize);
        for _ in 0..samples {
            round.wait();
            medium_round.post();
            let start = bench.clock.ticks();
            mutex.lock();
            let end = bench.clock.ticks();
            measured.push(owning.wait(bench, start, end));
            is_broken.store(true, Relaxed);
            mutex.unlock();
        }
        Ok(measured)
    };
    let medium = || {
        for _ in 0..samples {
            medium_round.wait();
            while !is_broken.load(Relaxed) {
                spin_loop();
            }
        }
        Ok(Vec::new())
    };
    let low = || {
        for _ in 0..samples {
            is_broken.store(false, Relaxed);
            mutex.lock();
            round.post();
            owning.compute(bench);
            mutex.unlock();
        }
        Ok(Vec::new())
    };
    team::run(bench, vec![member(HIGH, high), member(MEDIUM, medium), member(LOW, low)])
}
