//! Whether Linux runs, and how the manager starts it when it does not.

use crate::failure::Result;
use crate::task::{Maker, Task};
use alloc::vec::Vec;
use pillion_abi::object::right;
use pillion_runtime::info::{gone, monitor_bit};
use pillion_runtime::{Cap, signal, thread_register, thread_suspend};

const EIO: i64 = -5;
const EBUSY: i64 = -16;

/// What became of Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It runs, or is about to run.
    Runs,
    /// It stays off until something starts it.
    Off,
    /// Its monitor faulted: nothing can start it any more.
    Lost,
}

/// What the manager knows about Linux.
pub struct Presence {
    /// Signals the monitor to start Linux.
    starter: Cap,
    /// The monitor's threads, one for each of Linux's processors.
    threads: Vec<Cap>,
    state: State,
    gave_up: bool,
}

impl Presence {
    /// A Linux that is about to run.
    pub fn new(maker: &mut Maker<'_>, monitor: &Task, threads: Vec<Cap>) -> Result<Presence> {
        let starter = maker.slots.derive(monitor.notification, right::WRITE, monitor_bit::START)?;
        Ok(Presence { starter, threads, state: State::Runs, gave_up: false })
    }

    /// The monitor reports that Linux is gone, and what follows.
    pub fn gone(&mut self, then: u64) {
        self.gave_up |= then == gone::GIVEN_UP;
        self.state = if then == gone::RESTARTS { State::Runs } else { State::Off };
    }

    /// A thread of Linux's monitor faulted at this instruction, with this stack pointer: all stop
    /// for good. Returns which one it was, if it is found.
    pub fn monitor_faulted(&mut self, rip: u64, rsp: u64) -> Option<Cap> {
        self.state = State::Lost;
        self.threads.iter().for_each(|thread| _ = thread_suspend(*thread));
        self.threads.iter().copied().find(|thread| thread_register(*thread, 0) == Ok([rip, rsp]))
    }

    /// Whether Linux was ever given up.
    pub fn gave_up(&self) -> bool {
        self.gave_up
    }

    /// Has the monitor start Linux. Returns 0, or a negative errno.
    pub fn start(&mut self) -> i64 {
        match self.state {
            State::Runs => EBUSY,
            State::Lost => EIO,
            State::Off => {
                self.state = State::Runs;
                signal(self.starter).map_or(EIO, |_| 0)
            }
        }
    }
}
