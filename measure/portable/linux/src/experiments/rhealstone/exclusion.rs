//! Waiting for what another thread holds. The time that the owner computes meanwhile is excluded.

use super::{HIGH, LOW, MEDIUM};
use crate::bench::Bench;
use crate::process;
use crate::realtime::{self, lock_memory};
use crate::sync::{Mutex, Protocol, Semaphore};
use crate::team::{self, Stamp, member};
use anyhow::{Context, Result};
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};
use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// The time that the owner computes: from when it runs again until it releases.
#[derive(Default)]
struct Owning {
    from: Stamp,
    to: Stamp,
}

impl Owning {
    /// The owner runs, and is about to release.
    fn compute(&self, bench: &Bench) {
        self.from.set(bench.clock.ticks());
        self.to.set(bench.clock.ticks());
    }

    /// Nanoseconds of a wait without the owner's computing.
    fn wait(&self, bench: &Bench, start: u64, end: u64) -> u64 {
        bench.clock.whole((end - self.to.get()) + (self.from.get() - start))
    }
}

/// From the request for a semaphore that a less urgent thread holds until it is obtained.
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
            // The other thread runs at once, and waits for what this one holds.
            asked.post();
            owning.compute(bench);
            taken.post();
        }
        Ok(Vec::new())
    };
    team::run(bench, vec![member(HIGH, high), member(LOW, low)])
}

/// State of a shuffle that two processes share.
struct Shuffle {
    taken: Semaphore,
    asked: Semaphore,
    owning: Owning,
}

/// Allocated in memory that children share.
fn shared_shuffle() -> Result<&'static Shuffle> {
    let access = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: a new mapping at an address that Linux chooses.
    let place = unsafe { mmap_anonymous(std::ptr::null_mut(), size_of::<Shuffle>(), access, MapFlags::SHARED) };
    let place: *mut Shuffle = place.context("there is no memory for two processes")?.cast();
    let (taken, asked) = (Semaphore::of_processes(), Semaphore::of_processes());
    // SAFETY: the mapping is large enough, page-aligned, used nowhere else, and never unmapped.
    unsafe {
        place.write(Shuffle { taken, asked, owning: Owning::default() });
        Ok(&*place)
    }
}

/// The same as [`semaphore_shuffle`], between two processes: the less urgent one is a child.
pub fn semaphore_shuffle_spaces(bench: &Bench, samples: u64) -> Result<Vec<u64>> {
    let shuffle = shared_shuffle()?;
    bench.be_urgent()?;
    // The child starts with this process's priority, and so does not run before this process waits.
    let low = process::child(|| {
        lock_memory()?;
        realtime::be_fifo(bench.priority - LOW)?;
        for _ in 0..samples {
            shuffle.asked.post();
            shuffle.owning.compute(bench);
            shuffle.taken.post();
        }
        Ok(())
    })?;
    let mut measured = Vec::with_capacity(samples as usize);
    for _ in 0..samples {
        shuffle.asked.wait();
        let start = bench.clock.ticks();
        shuffle.taken.wait();
        let end = bench.clock.ticks();
        measured.push(shuffle.owning.wait(bench, start, end));
    }
    low.wait()?;
    Ok(measured)
}

/// From the request for a mutex, whose owner would never run because a third thread computes, until
/// it is obtained through priority inheritance.
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
            // SAFETY: this thread has locked it.
            unsafe { mutex.unlock() };
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
            // SAFETY: this thread has locked it.
            unsafe { mutex.unlock() };
        }
        Ok(Vec::new())
    };
    team::run(bench, vec![member(HIGH, high), member(MEDIUM, medium), member(LOW, low)])
}
