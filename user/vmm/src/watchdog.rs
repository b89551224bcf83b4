//! Checks whether Linux still lives: it does not if a processor that runs takes no interrupts for
//! seconds while some are pending.

use core::sync::atomic::Ordering::Relaxed;
use pillion_abi::vcpu::{State, counter};
use pillion_runtime::{call, info::monitor, now};

use crate::linux_vcpu;

/// Seconds between two checks.
const INTERVAL: u64 = 1;

/// Checks without progress after which Linux counts as hung.
const PATIENCE: u32 = 5;

/// Binds the timer of the thread that runs a processor, so that it brings it out of the guest.
pub fn connect(processor: usize) {
    let _ = call::timer_bind(monitor::timer(processor), linux_vcpu::notification(processor), 1);
}

#[derive(Clone, Debug)]
pub struct Watchdog {
    interval: u64,
    next: u64,
    armed: u64,
    injected: u64,
    stuck: u32,
}

impl Watchdog {
    /// A watchdog for a time-stamp counter of that frequency.
    pub fn new(tsc_hz: u64) -> Watchdog {
        Watchdog { interval: INTERVAL * tsc_hz, next: 0, armed: 0, injected: 0, stuck: 0 }
    }

    /// Restarts the count, because the processor was started.
    pub fn start(&mut self) {
        self.next = now().saturating_add(self.interval);
        self.stuck = 0;
    }

    /// The new deadline of the monitor's timer, if it changed. `wake` is when another model needs
    /// the timer; a `wake` that has passed is ignored, because a guest can keep it in the past, and
    /// then no check would ever come.
    pub fn timer(&mut self, wake: u64) -> Option<u64> {
        let at = if wake > now() { wake.min(self.next) } else { self.next };
        (at != self.armed).then(|| {
            self.armed = at;
            at
        })
    }

    /// Checks if it is time to. Returns whether Linux hangs.
    pub fn hung(&mut self, state: &State) -> bool {
        if now() < self.next {
            return false;
        }
        self.next = now().saturating_add(self.interval);
        let injected = state.counters[counter::INJECTED].load(Relaxed);
        let waiting = state.irr.get().iter().any(|word| *word != 0);
        if waiting && injected == self.injected {
            self.stuck += 1;
        } else {
            self.stuck = 0;
        }
        self.injected = injected;
        self.stuck >= PATIENCE
    }
}
