//! From one thread to another, by yielding or by priority; from a thread to an interrupt handler.

use super::{HIGH, LOW, MEDIUM};
use crate::bench::Bench;
use crate::dev_measure::{Device, Source};
use crate::team::{self, Stamp, member};
use anyhow::Result;
use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering::Relaxed};

/// Time from arming the timer to its interrupt.
const TIMER_NS: u64 = 100_000;

/// Two threads of the same priority yield to each other.
pub fn task_switch(bench: &Bench, samples: u64) -> Result<Vec<u64>> {
    let (before, is_last) = (Stamp::default(), AtomicBool::new(false));
    let body = || {
        let mut measured = Vec::with_capacity(samples as usize);
        before.set(bench.clock.ticks());
        for _ in 0..samples / 2 {
            before.set(bench.clock.ticks());
            std::thread::yield_now();
            // For the second thread's last calls, no other thread yields.
            if !is_last.load(Relaxed) {
                measured.push(bench.clock.whole(bench.clock.ticks() - before.get()));
            }
        }
        is_last.store(true, Relaxed);
        Ok(measured)
    };
    team::run(bench, vec![member(MEDIUM, body), member(MEDIUM, body)])
}

/// A thread raises a ready thread's priority above its own.
pub fn preemption(bench: &Bench, samples: u64) -> Result<Vec<u64>> {
    let (before, thread, is_over) = (Stamp::default(), AtomicI32::new(0), AtomicBool::new(false));
    let raised = || {
        let own = team::own_number();
        let mut measured = Vec::with_capacity(samples as usize);
        thread.store(own, Relaxed);
        team::set_priority(own, bench.priority - LOW)?;
        while !is_over.load(Relaxed) {
            measured.push(bench.clock.whole(bench.clock.ticks() - before.get()));
            // Below the thread that raises it, so that it is ready but does not run.
            team::set_priority(own, bench.priority - LOW)?;
        }
        Ok(measured)
    };
    let raising = || {
        for _ in 0..samples {
            before.set(bench.clock.ticks());
            team::set_priority(thread.load(Relaxed), bench.priority - HIGH)?;
        }
        is_over.store(true, Relaxed);
        Ok(Vec::new())
    };
    team::run(bench, vec![member(HIGH, raised), member(MEDIUM, raising)])
}

/// From the timer's deadline to the first instruction of its handler in the kernel, while a thread
/// computes.
pub fn interrupt_latency(bench: &Bench, samples: u64) -> Result<Vec<u64>> {
    let (device, is_over) = (Device::open(Source::Timer)?, AtomicBool::new(false));
    let arming = || {
        let waiter = device.another()?;
        let mut measured = Vec::with_capacity(samples as usize / 10);
        for _ in 0..samples / 10 {
            device.raise(TIMER_NS)?;
            let stamps = waiter.wait()?;
            measured.push(bench.clock.whole(stamps.handled.saturating_sub(stamps.due)));
        }
        is_over.store(true, Relaxed);
        Ok(measured)
    };
    let computing = || {
        while !is_over.load(Relaxed) {
            spin_loop();
        }
        Ok(Vec::new())
    };
    team::run(bench, vec![member(HIGH, arming), member(LOW, computing)])
}
