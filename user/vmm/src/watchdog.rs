//! Whether Linux still lives: one that takes no interrupts for seconds although some are pending
//! does not.

use pillion_abi::vcpu::{State, counter};
use pillion_runtime::{call, info::slot, now};

/// Seconds between two looks.
const INTERVAL: u64 = 1;

/// Looks without progress after which Linux counts as hung.
const PATIENCE: u32 = 5;

/// Lets the monitor's timer bring the vCPU's thread out of the guest.
pub fn connect() {
    let _ = call::timer_bind(slot::TIMER, slot::NOTIFICATION, 1);
}

/// The watchdog.
#[derive(Clone, Debug)]
pub struct Watchdog {
    interval: u64,
    next: u64,
    armed: u64,
    injected: u64,
    stuck: u32,
}

impl Watchdog {
    /// With the clock's frequency.
    pub fn new(tsc_hz: u64) -> Watchdog {
        Watchdog { interval: INTERVAL * tsc_hz, next: 0, armed: 0, injected: 0, stuck: 0 }
    }

    /// Linux was started anew.
    pub fn start(&mut self) {
        self.next = now().saturating_add(self.interval);
        self.stuck = 0;
    }

    /// What the monitor's timer is to be set to, if that changed; `wake` is when somebody else
    /// needs it. What has passed is nobody's: a guest can make it stay where it is, and no look
    /// would come any more.
    pub fn timer(&mut self, wake: u64) -> Option<u64> {
        let at = if wake > now() { wake.min(self.next) } else { self.next };
        (at != self.armed).then(|| {
            self.armed = at;
            at
        })
    }

    /// Looks, when it is time to.
    pub fn hung(&mut self, state: &State) -> bool {
        if now() < self.next {
            return false;
        }
        self.next = now().saturating_add(self.interval);
        let injected = state.counters[counter::INJECTED].get();
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
