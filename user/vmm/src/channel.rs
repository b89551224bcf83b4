//! The channels between real-time tasks and Linux: the doorbell that wakes Linux, and the
//! hypercalls of Linux's module.
//!
//! The monitor sees nothing of the data in the channels. It turns signals of tasks into an
//! interrupt for Linux, and hypercalls of Linux into signals to tasks.

use pillion_abi::call::MESSAGE_WORDS;
use pillion_runtime::call;
use pillion_runtime::info::{gone, label, monitor, monitor_bit, slot};
use pillion_vmm_devices::apic::Message;
use pillion_vmm_devices::hypercall::{Hypercall, INVALID};
use pillion_vmm_devices::ioapic::IoApics;

/// The manager's answer to a command of which one step is done, but not all (`EAGAIN`).
const AGAIN: i64 = -11;

/// The monitor's part in the channels.
#[derive(Clone, Copy, Debug, Default)]
pub struct Channels {
    /// Number of tasks with a channel.
    pub tasks: u64,
    /// Whether there is a window: with tasks, or with the system's log alone.
    pub window: bool,
    /// Whether Linux's module is loaded.
    listening: bool,
}

impl Channels {
    /// Channels for that many tasks; Linux's module is not loaded yet.
    pub fn new(tasks: u64, window: bool) -> Channels {
        Channels { tasks, window, listening: false }
    }

    /// The interrupt for Linux that bits mean which tasks, or others, have signalled.
    pub fn notified(&self, io_apics: &mut IoApics, bits: u64) -> Option<Message> {
        if bits & monitor_bit::DOORBELL != 0 && self.listening { io_apics.ring() } else { None }
    }

    /// Carries out a hypercall of Linux's module and returns its result.
    pub fn hypercall(&mut self, made: Hypercall) -> i64 {
        match made {
            Hypercall::Hello(there) => {
                self.listening = there;
                0
            }
            Hypercall::Kick(task) => call::signal(monitor::slot::KICKS + task).map_or(INVALID, |_| 0),
            Hypercall::Command => command(),
            Hypercall::Answer(result) => result,
        }
    }

    /// Reports that Linux is dead. Returns whether what runs on without it should do so.
    pub fn lingers(&mut self) -> bool {
        self.listening = false;
        let answer = call::call(slot::MANAGER, label::LINUX_GONE, [gone::DEAD, 0, 0, 0, 0, 0, 0, 0]);
        answer.is_ok_and(|answer| answer.words[0] == 1)
    }

    /// Reports that Linux is gone; `then` says what follows ([`pillion_runtime::info::gone`]).
    pub fn gone(&mut self, then: u64) {
        self.listening = false;
        let _ = call::call(slot::MANAGER, label::LINUX_GONE, [then, 0, 0, 0, 0, 0, 0, 0]);
    }
}

/// Has the resource manager carry out Linux's command, in as many steps as it takes. Returns the
/// result.
fn command() -> i64 {
    loop {
        let answer = call::call(slot::MANAGER, label::COMMAND, [0; MESSAGE_WORDS]);
        match answer.map_or(INVALID, |answer| answer.words[0] as i64) {
            AGAIN => {}
            result => return result,
        }
    }
}
