//! The most urgent thread: it records when it got the processor.

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use pillion_abi::{NEVER, object::Kind};
use pillion_runtime::{Cap, now, timer_bind, timer_set, wait};
use pillion_test_kit::{Checked, Kit, Setup, done, stop};

/// Its priority: above all others.
const PRIORITY: u8 = 240;

/// When it last ran, and how often it has run.
static RAN_AT: AtomicU64 = AtomicU64::new(0);
static RUNS: AtomicU64 = AtomicU64::new(0);

extern "C" fn run(notification: u64) -> ! {
    while wait(notification as Cap, NEVER).is_ok() {
        RAN_AT.store(now(), Relaxed);
        RUNS.store(RUNS.load(Relaxed) + 1, Relaxed);
    }
    stop()
}

/// The thread, in an address space of its own, and the timer that wakes it.
pub struct Watch {
    timer: Cap,
}

impl Watch {
    /// Starts it; it then waits.
    pub fn start(kit: &mut Kit) -> Checked<Watch> {
        let (timer, wake) = (done!(kit.make(Kind::Timer, 0)), done!(kit.make(Kind::Notification, 0)));
        done!(timer_bind(timer, wake, 1));
        let space = done!(kit.space());
        done!(kit.start(Setup::new(PRIORITY, run).within(space).with(wake.into())));
        Ok(Watch { timer })
    }

    /// How often it has run.
    pub fn runs(&self) -> u64 {
        RUNS.load(Relaxed)
    }

    /// Arms its timer.
    #[inline(always)]
    pub fn arm(&self, deadline: u64) {
        let _ = timer_set(self.timer, deadline);
    }

    /// Spins until it has run more than `runs` times; returns when it ran.
    pub fn await_run(&self, runs: u64) -> u64 {
        while self.runs() == runs {
            core::hint::spin_loop();
        }
        RAN_AT.load(Relaxed)
    }
}
