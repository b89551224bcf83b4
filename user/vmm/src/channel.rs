//! The channels between real-time tasks and Linux: the doorbell that wakes Linux, and what its
//! module calls for.
//!
//! The monitor sees nothing of what goes through them. It turns signals of tasks into an interrupt
//! of Linux, and calls of Linux into signals to tasks.

use pillion_abi::call::MESSAGE_WORDS;
use pillion_runtime::{
    call,
    info::{label, monitor, monitor_bit, slot},
};
use pillion_vmm_devices::{
    hypercall::{Hypercall, INVALID},
    ioapic::IoApics,
};

use crate::vcpu;

/// The manager's answer to a command of which a step is done (`EAGAIN`).
const AGAIN: i64 = -11;

/// The monitor's part in the channels.
#[derive(Clone, Copy, Debug, Default)]
pub struct Channels {
    /// Number of tasks that have one.
    pub tasks: u64,
    /// There is a window: with tasks, or with the system's log only.
    pub window: bool,
    /// Linux's module is there.
    listening: bool,
}

impl Channels {
    /// With so many tasks, and nobody who listens yet.
    pub fn new(tasks: u64, window: bool) -> Channels {
        Channels { tasks, window, listening: false }
    }

    /// Tasks, or others, have signalled these bits.
    pub fn notified(&self, io_apics: &mut IoApics, bits: u64) {
        if bits & monitor_bit::DOORBELL != 0
            && self.listening
            && let Some(vector) = io_apics.ring()
        {
            vcpu::inject(vector);
        }
    }

    /// Carries out a call of Linux's module; what it returns.
    pub fn hypercall(&mut self, io_apics: &mut IoApics, made: Hypercall) -> i64 {
        match made {
            Hypercall::Hello(there) => {
                self.listening = there;
                // What tasks had to say before is not to be missed.
                self.notified(io_apics, monitor_bit::DOORBELL);
                0
            }
            Hypercall::Kick(task) => call::signal(monitor::slot::KICKS + task).map_or(INVALID, |_| 0),
            Hypercall::Command => command(),
            Hypercall::Answer(result) => result,
        }
    }

    /// Linux is gone; `then` says what becomes of it ([`pillion_runtime::info::gone`]).
    pub fn gone(&mut self, then: u64) {
        self.listening = false;
        let _ = call::call(slot::MANAGER, label::LINUX_GONE, [then, 0, 0, 0, 0, 0, 0, 0]);
    }
}

/// Has the resource manager carry out Linux's command, in as many steps as it takes.
fn command() -> i64 {
    loop {
        let answer = call::call(slot::MANAGER, label::COMMAND, [0; MESSAGE_WORDS]);
        match answer.map_or(INVALID, |answer| answer.words[0] as i64) {
            AGAIN => {}
            result => return result,
        }
    }
}
